"""Native times and durations, and errors of the client itself."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from queue import Queue

import anyio
import httpx
import pytest

from timerbus import AsyncTimerbus, ConnectionFailed, RequestTimeout, ServiceError, Status, Timerbus
from timerbus._wire import encode, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("0s", timedelta()),
        ("250ms", timedelta(milliseconds=250)),
        ("1h30m0s", timedelta(hours=1, minutes=30)),
        ("1d12h", timedelta(hours=36)),
        ("1.5s", timedelta(seconds=1.5)),
        ("-1h", -timedelta(hours=1)),
        ("87600h", timedelta(days=3650)),
    ],
)
def test_durations(text: str, duration: timedelta) -> None:
    assert parse_duration(text) == duration
    assert parse_duration(format_duration(duration)) == duration


@pytest.mark.parametrize("text", ["", "1", "h", "1 h", "1h-", "P1D"])
def test_other_texts_are_no_durations(text: str) -> None:
    with pytest.raises(ValueError, match="want numbers with units"):
        parse_duration(text)


def test_fields_are_checked_before_a_call() -> None:
    with pytest.raises(ValueError, match=r"execute_at: .* has no time zone"):
        encode("CreateTimerRequest", {"id": "a", "execute_at": datetime(2030, 1, 31)})
    with pytest.raises(TypeError, match=r"retry_policy\.max_interval: 5 is not accepted"):
        encode("CreateTimerRequest", {"id": "a", "retry_policy": {"max_interval": 5}})
    with pytest.raises(TypeError, match="execut_in is not a field of CreateTimerRequest"):
        encode("CreateTimerRequest", {"id": "a", "execut_in": "1h"})
    with pytest.raises(ValueError, match="base_url 'localhost:8080' is not accepted"):
        Timerbus("localhost:8080")


def test_requests_use_the_names_of_the_api() -> None:
    at = datetime(2030, 1, 31, 10, tzinfo=timezone(timedelta(hours=1)))
    fields = {"id": "a", "execute_at": at, "retry_policy": {"max_attempts": 3}, "payload": {"snake_case": 1}, "flow_key": None}
    assert encode("CreateTimerRequest", fields) == {
        "id": "a",
        "executeAt": "2030-01-31T09:00:00.000Z",
        "retryPolicy": {"maxAttempts": 3},
        "payload": {"snake_case": 1},
        "flowKey": None,
    }


def test_enumerations_are_open() -> None:
    assert Status("done") is Status.DONE
    assert Status("done") == "done"
    assert Status("dreaming") == "dreaming"
    assert not Status("dreaming").known
    assert Status.DONE.known
    assert repr(Status("dreaming")) == "<Status.dreaming: 'dreaming'>"


def test_an_answer_that_cannot_be_decompressed_is_a_failed_connection() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(b"no gzip"))

    bus = Timerbus(tries=1, http_client=httpx.Client(transport=httpx.MockTransport(answer)))
    with pytest.raises(ConnectionFailed) as failed:
        bus.timers.get("a")
    assert failed.value.may_be_applied


class Dripping:
    """A server that answers the first request with 404, and the second one on the same connection byte by byte, for 30 s."""

    def __init__(self, begin: bytes) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.closed: Queue[float] = Queue()
        """When the client has closed the connection."""
        threading.Thread(target=self._serve, args=(begin,), daemon=True).start()

    def _serve(self, begin: bytes) -> None:
        connection, _ = self.listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")
            connection.recv(65536)
            with suppress(OSError):
                connection.sendall(begin)
                for _ in range(3000):
                    connection.sendall(b"x")
                    time.sleep(0.01)
            self.closed.put(time.monotonic())


@pytest.mark.parametrize("begin", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n"])
def test_the_synchronous_client_limits_the_whole_try(begin: bytes) -> None:
    server = Dripping(begin)
    with server.listener, Timerbus(server.url, tries=1, timeout=0.5) as bus:
        with pytest.raises(ServiceError):
            bus.timers.get("a")
        start = time.monotonic()
        with pytest.raises(RequestTimeout) as failed:
            bus.timers.get("a")
        took = time.monotonic() - start
    assert failed.value.may_be_applied
    assert 0.5 <= took < 25
    assert server.closed.get(timeout=30) >= start


def test_the_asynchronous_client_bounds_the_whole_try() -> None:
    async def never(request: httpx.Request) -> httpx.Response:
        await anyio.sleep_forever()
        raise AssertionError

    async def call() -> None:
        with anyio.fail_after(30):
            await AsyncTimerbus(tries=1, timeout=0.05, http_client=httpx.AsyncClient(transport=httpx.MockTransport(never))).timers.get("a")

    with pytest.raises(RequestTimeout) as failed:
        anyio.run(call)
    assert failed.value.may_be_applied
