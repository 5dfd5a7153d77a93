"""What the synchronous and the asynchronous client share: requests, answers, and the decision to repeat a call."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from ._version import VERSION
from ._wire import decode, encode, parse_duration
from .errors import ConnectionFailed, RequestTimeout, ServiceError, TimerbusError
from .types import (
    BatchResult,
    DeleteScheduleRequest,
    DeleteTimerRequest,
    Error,
    MatchingPage,
    Schedule,
    ScheduleBatchResult,
    Timer,
)

FIRST_PAUSE: Final = 0.1
PAGE_SIZE: Final = 100
"""The limit of a page whose request has none."""
MOVE_TIMEOUT: Final = timedelta(seconds=60)
"""The timeout of a move of the test clock whose request has none."""
MOVE_ANSWER: Final = timedelta(seconds=10)
"""How much longer a try waits for the answer of a move."""


@dataclass(frozen=True, kw_only=True)
class WrittenTimer(Timer):
    """A timer after a write."""

    in_time: bool
    """False if the timer's earlier delivery may have been sent before the write."""


@dataclass(frozen=True, kw_only=True)
class WrittenSchedule(Schedule):
    """A schedule after a write."""

    in_time: bool
    """False if an occurrence by the earlier state may have been created at the moment of the write."""


@dataclass(frozen=True, kw_only=True)
class BatchItem:
    """The result of one item of a batch."""

    namespace: str | None = None
    id: str | None = None
    generation: str | None = None
    due_at: datetime | None = None
    """Absent after a deletion."""
    kept: bool = False
    """True if on_conflict was "keep" and the id existed, so that nothing was written."""
    in_time: bool = False
    """False if the timer's earlier delivery may have been sent before the write."""
    error: ServiceError | None = None
    """Why the item was refused. It is the error that a call with this item alone would have raised."""


@dataclass(frozen=True, kw_only=True)
class ScheduleBatchItem:
    """The result of one item of a batch of schedules."""

    namespace: str | None = None
    id: str | None = None
    version: int | None = None
    next_at: datetime | None = None
    """The instant of the next occurrence. Absent after a deletion."""
    kept: bool = False
    """True if on_conflict was "keep" and the id existed, so that nothing was written."""
    in_time: bool = False
    """False if an occurrence by the earlier state may have been created at the moment of the write."""
    error: ServiceError | None = None
    """Why the item was refused. It is the error that a call with this item alone would have raised."""


@dataclass(frozen=True, kw_only=True)
class MatchingTotal:
    """The total of the pages of a filter."""

    pages: int = 0
    matched: int = 0
    """Timers or schedules that the filter selected."""
    applied: int = 0
    """Those that were changed."""
    late: int = 0
    """Those of them whose earlier delivery may have been sent."""
    skipped: int = 0
    """Those that were not changed: they were deleted or changed meanwhile, or have the state already."""
    cursor: str = ""
    """Where to continue: after an error, pass it to the next call."""
    start_at: datetime | None = None
    """When the next timer of a resume with a rate becomes due: after an error, pass it on with the cursor."""

    def plus(self, page: MatchingPage) -> MatchingTotal:
        """Return the total with one more page."""
        return replace(
            self,
            pages=self.pages + 1,
            matched=self.matched + page.matched,
            applied=self.applied + page.applied,
            late=self.late + page.late,
            skipped=self.skipped + page.skipped,
            cursor=page.next_cursor or "",
        )


@dataclass(frozen=True, kw_only=True)
class BackfillTotal:
    """The total of the requests of a backfill."""

    requests: int = 0
    created: int = 0
    """Occurrences that are new."""
    kept: int = 0
    """Occurrences that existed, also those of the first try of a request that was repeated."""
    next_from: datetime | None = None
    """Where to continue: after an error, pass it to the next call as from_. None if the range is complete."""


Progress = Callable[[MatchingTotal], None]


@dataclass(frozen=True)
class Settings:
    """Where and how a client sends its calls."""

    base_url: str
    headers: Mapping[str, str]
    timeout: float
    tries: int
    longest: float

    @classmethod
    def of(
        cls,
        base_url: str,
        token: str | None,
        timeout: timedelta | float,
        tries: int,
        longest_pause: timedelta | float,
        user_agent: str | None,
    ) -> Settings:
        """Check the arguments of a client."""
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.netloc or url.query or url.fragment:
            raise ValueError(f"base_url {base_url!r} is not accepted: want http:// or https://, a host, and at most a path")
        headers = {"User-Agent": user_agent or f"timerbus-python/{VERSION}", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return cls(base_url.rstrip("/"), headers, seconds(timeout), tries, seconds(longest_pause))

    def url(self, path: str) -> str:
        """Return the address of a path of the API."""
        return f"{self.base_url}/api/v1/{path}"

    def pause(self, attempt: int, repeat: bool, error: TimerbusError) -> float | None:
        """Return the seconds before the next try after try number attempt, or None if the error is the result."""
        if attempt >= self.tries:
            return None
        # Half of the pause is random, so that callers that failed together do not retry together.
        pause = min(FIRST_PAUSE * 2 ** min(attempt - 1, 16), self.longest)
        pause = pause / 2 + random.uniform(0, pause / 2)
        if not isinstance(error, ServiceError):
            return pause if repeat or not error.may_be_applied else None
        if error.status not in (429, 503):
            return None
        after = error.retry_after or 0.0
        return max(pause, after) if after <= self.longest else None


def seconds(value: timedelta | float) -> float:
    """Return a duration in seconds."""
    return value.total_seconds() if isinstance(value, timedelta) else value


def content(request: Mapping[str, Any]) -> bytes:
    """Return the body of a request."""
    return json.dumps(request, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def failure(path: str, error: Exception) -> TimerbusError:
    """Return the error of a call for an error of httpx, or TimeoutError."""
    never_connected = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
    kind = RequestTimeout if isinstance(error, (httpx.TimeoutException, TimeoutError)) else ConnectionFailed
    return kind(f"{path}: {type(error).__name__}: {error}", may_be_applied=not never_connected)


def parsed(path: str, response: httpx.Response) -> tuple[int, Any]:
    """Return the status and the JSON of an answer, or raise its error."""
    if response.status_code >= 300:
        raise _error_of(response)
    if response.status_code == 204:
        return response.status_code, {}
    try:
        return response.status_code, response.json()
    except ValueError as error:
        raise ConnectionFailed(f"{path}: the answer is not JSON: {error}", may_be_applied=True) from error


def _error_of(response: httpx.Response) -> ServiceError:
    header = response.headers.get("Retry-After", "")
    after = float(header) if header.isdecimal() else None
    try:
        answer = response.json()
    except ValueError:
        answer = None
    if isinstance(answer, dict) and isinstance(answer.get("error"), str):
        details = answer.get("details")
        return ServiceError(
            response.status_code,
            answer["error"],
            str(answer.get("message", "")),
            details if isinstance(details, dict) else {},
            after,
        )
    text = response.content[:200].decode(errors="ignore").strip()
    return ServiceError(response.status_code, "", text or "the answer has no message", {}, after)


def move_timeout(timeout: timedelta | str | None, of_try: float) -> float:
    """Return the seconds of a try of a move of the test clock: longer than the move may take."""
    try:
        limit = parse_duration(timeout) if isinstance(timeout, str) else timeout or MOVE_TIMEOUT
    except ValueError:
        limit = MOVE_TIMEOUT  # the service refuses it
    return max(of_try, (limit + MOVE_ANSWER).total_seconds())


def items(path: str, answer: Any, expected: int) -> list[BatchItem]:
    """Return the results of a batch."""
    return [_item(decode(BatchResult, one)) for one in _results(path, answer, expected)]


def schedule_items(path: str, answer: Any, expected: int) -> list[ScheduleBatchItem]:
    """Return the results of a batch of schedules."""
    return [_schedule_item(decode(ScheduleBatchResult, one)) for one in _results(path, answer, expected)]


def _results(path: str, answer: Any, expected: int) -> list[Any]:
    results: list[Any] = answer.get("results", [])
    if len(results) != expected:
        raise ConnectionFailed(f"{path}: {len(results)} results for {expected} items", may_be_applied=True)
    return results


def _refusal(status: int, refused: Error | None) -> ServiceError:
    if refused is None:
        return ServiceError(status, "", "the item has no message", {})
    return ServiceError(status, refused.error, refused.message, refused.details)


def _schedule_item(result: ScheduleBatchResult) -> ScheduleBatchItem:
    if result.status >= 300:
        return ScheduleBatchItem(error=_refusal(result.status, result.error))
    return ScheduleBatchItem(
        namespace=result.namespace,
        id=result.id,
        version=result.version,
        next_at=result.next_at,
        kept=bool(result.kept),
        in_time=result.status != 202,
    )


def _item(result: BatchResult) -> BatchItem:
    if result.status >= 300:
        return BatchItem(error=_refusal(result.status, result.error))
    return BatchItem(
        namespace=result.namespace,
        id=result.id,
        generation=result.generation,
        due_at=result.due_at,
        kept=bool(result.kept),
        in_time=result.status != 202,
    )


def deletions(
    model: str, requests: Iterable[str | DeleteTimerRequest] | Iterable[str | DeleteScheduleRequest], namespace: str | None
) -> list[dict[str, Any]]:
    """Return the items of a batch of deletions."""
    encoded = []
    for request in requests:
        item = encode(model, {"id": request} if isinstance(request, str) else request)
        if namespace is not None:
            item.setdefault("namespace", namespace)
        encoded.append(item)
    return encoded


def later_start(start_at: datetime | None, limit: int, rate: int) -> datetime:
    """Return the start of a page of a resume with a rate that is sent again: after the times that its first try may have used."""
    now = datetime.now(timezone.utc)
    start = now if start_at is None or start_at < now else start_at
    return start + timedelta(seconds=limit / rate)
