"""Waiting with a limit."""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT = 60.0
"""Seconds after which a test fails."""


def until(condition: Callable[[], bool], what: str) -> None:
    """Return when the condition is true."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {LIMIT} s"
        time.sleep(0.005)
