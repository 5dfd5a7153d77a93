"""Starts the real service for tests, with a test clock.

The program is the one in the environment variable TIMERBUS_BINARY, or ``timerbus`` on PATH.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from queue import Empty, Queue

from ._client import Timerbus
from .types import TestClock

_ADDRESS = re.compile(r"^ *HTTP API *(http://\S+)")


def binary() -> str:
    """Return the path of the program."""
    found = os.environ.get("TIMERBUS_BINARY") or shutil.which("timerbus")
    if not found:
        raise FileNotFoundError("there is no timerbus on PATH: want it there, or its path in TIMERBUS_BINARY")
    return found


@dataclass(frozen=True)
class Service:
    """A service for tests."""

    url: str
    """The address of the HTTP API."""

    def advance(self, by: timedelta | str, *, timeout: timedelta | str | None = None) -> TestClock:
        """Move the test clock forward by a duration, such as "30d". It returns when no timer is due.

        It sends no credential; the method advance of the clock of a client does.
        """
        with Timerbus(self.url) as bus:
            return bus.clock.advance(by, timeout=timeout)


@contextmanager
def service(*arguments: str, timeout: float = 30.0) -> Iterator[Service]:
    """Run ``timerbus dev --test-clock`` on a free port with an empty data folder. arguments are further arguments.

    The clock runs at normal speed between calls of advance. ``--test-clock=false`` starts a service on the machine's clock.

    ::

        @pytest.fixture
        def service():
            with timerbus.testing.service() as service:
                yield service
    """
    with tempfile.TemporaryDirectory(prefix="timerbus-test-") as folder:
        command = [binary(), "dev", "--data", folder, "--listen", "127.0.0.1:0", "--nats-listen", "", "--log-format", "json"]
        command += ["--test-clock", *arguments]
        # Settings of the caller are no settings of this service.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TIMERBUS_")}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines: Queue[str | None] = Queue()
        threading.Thread(target=_read, args=(process, lines), daemon=True).start()
        try:
            yield Service(_address(lines, timeout))
        finally:
            process.terminate()
            process.wait(timeout)


def _read(process: subprocess.Popen[str], lines: Queue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put(None)


def _address(lines: Queue[str | None], timeout: float) -> str:
    seen: list[str] = []
    while True:
        try:
            line = lines.get(timeout=timeout)
        except Empty:
            line = None
        if line is None:
            raise RuntimeError("the service did not start:\n" + "".join(seen[-20:]))
        seen.append(line)
        if found := _ADDRESS.match(line):
            return found[1]
