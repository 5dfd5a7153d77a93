"""Starts the real service for tests, with a test clock.

The program is the one in the environment variable TIMERBUS_BINARY, that of the package timerbus-server, or ``timerbus`` on PATH.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from ._client import Timerbus
from .types import TestClock

_ADDRESS = re.compile(r"^ *HTTP API *(http://\S+)")
# The line after that of the HTTP API.
_NATS = re.compile(r"^ *NATS *(nats://\S+)")
_SHOWN: Final = 20
"""How many lines of the output an error shows."""


def binary() -> str:
    """Return the path of the program."""
    found = os.environ.get("TIMERBUS_BINARY") or _packaged() or shutil.which("timerbus")
    if not found:
        raise FileNotFoundError("there is no timerbus: want the package timerbus-server, timerbus on PATH, or its path in TIMERBUS_BINARY")
    return found


def _packaged() -> str | None:
    try:
        import timerbus_server
    except ImportError:
        return None
    return str(timerbus_server.path())


@dataclass(frozen=True)
class Service:
    """A service for tests."""

    url: str
    """The address of the HTTP API."""
    nats_url: str | None
    """The address of the NATS server with the topics of events, if the service has the arguments ``--nats-listen 127.0.0.1:0``."""

    def advance(self, by: timedelta | str, *, timeout: timedelta | str | None = None) -> TestClock:
        """Move the test clock forward by a duration, such as "30d". It returns when no timer is due.

        It sends no credential; the method advance of the clock of a client does.
        """
        with Timerbus(self.url) as bus:
            return bus.clock.advance(by, timeout=timeout)


@contextmanager
def service(*arguments: str, timeout: float = 30.0) -> Iterator[Service]:
    """Run ``timerbus dev --test-clock`` on a free port with an empty data folder. arguments are further arguments.

    The clock runs at normal speed between calls of advance. ``--test-clock=false`` starts a service on the machine's clock, and
    ``--nats-listen``, ``127.0.0.1:0`` one that accepts NATS clients. timeout, in seconds, limits the start and the stop: a service that has
    not ended by then is killed.

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
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace"
        )
        try:
            yield _started(process, timeout)
        finally:
            _end(process, timeout)


def _started(process: subprocess.Popen[str], timeout: float) -> Service:
    started: Future[Service] = Future()
    threading.Thread(target=_read, args=(process, started), daemon=True).start()
    try:
        return started.result(timeout)
    except FutureTimeout:
        process.kill()
        raise RuntimeError(f"the service had no address after {timeout} s") from started.exception()


def _read(process: subprocess.Popen[str], started: Future[Service]) -> None:
    """Read the output to its end, so that the service never waits for a reader."""
    assert process.stdout is not None
    last: deque[str] = deque(maxlen=_SHOWN)
    url: str | None = None
    with process.stdout as lines:
        for line in lines:
            last.append(line)
            if url is not None and not started.done():
                nats = _NATS.match(line)
                started.set_result(Service(url, None if nats is None else nats[1]))
            elif found := _ADDRESS.match(line):
                url = found[1]
    if not started.done():
        started.set_exception(RuntimeError("the service did not start:\n" + "".join(last)))


def _end(process: subprocess.Popen[str], timeout: float) -> None:
    process.terminate()
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
