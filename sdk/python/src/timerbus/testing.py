"""Starts the real service for tests.

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
from queue import Empty, Queue

_ADDRESS = re.compile(r"^ *HTTP API *(http://\S+)")


def binary() -> str:
    """Return the path of the program."""
    found = os.environ.get("TIMERBUS_BINARY") or shutil.which("timerbus")
    if not found:
        raise FileNotFoundError("there is no timerbus on PATH: want it there, or its path in TIMERBUS_BINARY")
    return found


@contextmanager
def service(*arguments: str, timeout: float = 30.0) -> Iterator[str]:
    """Run ``timerbus dev`` on a free port with an empty data folder, and return its address.

    ::

        @pytest.fixture(scope="session")
        def bus():
            with timerbus.testing.service() as url, Timerbus(url) as bus:
                yield bus
    """
    with tempfile.TemporaryDirectory(prefix="timerbus-test-") as folder:
        command = [binary(), "dev", "--data", folder, "--listen", "127.0.0.1:0", "--nats-listen", "", "--log-format", "json", *arguments]
        # Settings of the caller are no settings of this service.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TIMERBUS_")}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines: Queue[str | None] = Queue()
        threading.Thread(target=_read, args=(process, lines), daemon=True).start()
        try:
            yield _address(lines, timeout)
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
