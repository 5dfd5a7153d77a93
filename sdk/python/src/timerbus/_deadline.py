"""The limit of a whole try of the synchronous client.

httpx limits single connects, writes and reads, so a server that sends its answer slowly, byte by byte, could hold a call for any time. The
streams of this module limit each operation to the rest of the try.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore
import httpx

_deadline: ContextVar[float | None] = ContextVar("timerbus_deadline", default=None)


@contextmanager
def fail_after(seconds: float) -> Iterator[None]:
    """Limit the operations of limited clients in this block, which raise httpx.TimeoutException."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def limited(client: httpx.Client) -> httpx.Client:
    """Return the client, with connections that fail_after limits."""
    # httpx has no parameter for the network backend of httpcore. If a release renames these attributes, fail_after has no effect.
    for transport in (getattr(client, "_transport", None), *getattr(client, "_mounts", {}).values()):
        pool = getattr(transport, "_pool", None)
        if isinstance(pool, httpcore.ConnectionPool) and hasattr(pool, "_network_backend"):
            pool._network_backend = _Backend(pool._network_backend)
    return client


def _rest(timeout: float | None, error: type[httpcore.TimeoutException]) -> float | None:
    """Return the timeout of an operation."""
    deadline = _deadline.get()
    if deadline is None:
        return timeout
    rest = deadline - time.monotonic()
    if rest <= 0:
        raise error("the time of the try is over")
    return rest if timeout is None else min(rest, timeout)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, backend: httpcore.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        timeout = _rest(timeout, httpcore.ConnectTimeout)
        return _Stream(self._backend.connect_tcp(host, port, timeout, local_address, socket_options))

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._backend.connect_unix_socket(path, _rest(timeout, httpcore.ConnectTimeout), socket_options))

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _rest(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _rest(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, _rest(timeout, httpcore.ConnectTimeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
