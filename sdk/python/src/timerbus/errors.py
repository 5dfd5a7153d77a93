"""Errors of calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .types import ErrorCode


class TimerbusError(Exception):
    """The base of all errors of calls."""

    may_be_applied: bool
    """False if the call was certainly not applied. True after a broken connection, a timeout, and a status of 500 or more except 503."""

    progress: Any = None
    """The total of the pages before the error, if a call over all pages failed."""


class ServiceError(TimerbusError):
    """An error answer of the service."""

    def __init__(self, status: int, code: str, message: str, details: Mapping[str, Any], retry_after: float | None = None) -> None:
        super().__init__(f"{message} ({code})" if code else f"{status}: {message}")
        self.status = status
        """The HTTP status."""
        self.code = ErrorCode(code)
        """The error code. It is "" if the answer is not from the service but, for example, from a proxy."""
        self.message = message
        """Names the problem, the value, and the accepted values."""
        self.details = dict(details)
        """The parts of the message by name; they depend on the code."""
        self.retry_after = retry_after
        """The seconds of the Retry-After header."""
        self.may_be_applied = status >= 500 and status != 503

    @property
    def field(self) -> str | None:
        """The field that was refused, if the code is INVALID_INPUT: "callbackUrl", or "timers[7].callbackUrl" of a batch."""
        field = self.details.get("field")
        return field if isinstance(field, str) else None


class ConnectionFailed(TimerbusError):
    """The connection could not be made, or broke before the whole answer arrived."""

    def __init__(self, message: str, may_be_applied: bool) -> None:
        super().__init__(message)
        self.may_be_applied = may_be_applied


class RequestTimeout(ConnectionFailed):
    """The answer did not arrive in time."""
