"""Receivers of callbacks: verification, parsing and answers. timerbus.fastapi, timerbus.flask and timerbus.django adapt them."""

from __future__ import annotations

import inspect
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from anyio import to_thread
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from ._wire import format_instant, parse_instant

_log = logging.getLogger("timerbus")


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A timer that is due: the body of a callback, and the data of a fired event."""

    webhook_id: str
    """Identifies the delivery: every repetition has the same one."""
    namespace: str
    timer_id: str
    schedule_id: str | None
    """The schedule of which the timer is an occurrence."""
    execute_at: datetime
    """The planned time of the timer."""
    scheduled_for: datetime
    """When this attempt was due: execute_at, or later for a retry."""
    attempt: int
    generation: str
    correlation_id: str
    payload: Any

    @classmethod
    def parse(cls, webhook_id: str, data: Mapping[str, Any]) -> Delivery:
        """Parse the JSON of a delivery. Unknown fields are ignored."""
        return cls(
            webhook_id=webhook_id,
            namespace=data["namespace"],
            timer_id=data["timerId"],
            schedule_id=data.get("scheduleId"),
            execute_at=parse_instant(data["executeAt"]),
            scheduled_for=parse_instant(data["scheduledFor"]),
            attempt=data["attempt"],
            generation=data["generation"],
            correlation_id=data["correlationId"],
            payload=data.get("payload"),
        )


@dataclass(frozen=True)
class Reply:
    """The answer to a callback: done, retry, reschedule or stop_schedule returns one."""

    status: int
    body: Mapping[str, Any] | None = None
    retry_after: int | None = None

    @property
    def content(self) -> bytes:
        """The body of the HTTP answer."""
        return b"" if self.body is None else json.dumps(self.body).encode()

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the HTTP answer."""
        headers = {"Content-Type": "application/json"}
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        return headers


def done() -> Reply:
    """The timer is done. A handler that returns None answers the same."""
    return Reply(200, {"ok": True})


def retry(after: timedelta | float | None = None) -> Reply:
    """The attempt has failed, and is repeated by the timer's retry policy; with after, at the earliest after this time."""
    if after is None:
        return Reply(200, {"ok": False})
    delay = after if isinstance(after, timedelta) else timedelta(seconds=after)
    return Reply(503, {"ok": False}, retry_after=-(-delay // timedelta(seconds=1)))


def reschedule(at: datetime) -> Reply:
    """The timer fires again at this time, as a new generation. The next occurrence of a schedule moves to this time."""
    return Reply(200, {"ok": True, "nextExecuteAt": format_instant(at, "at")})


def stop_schedule() -> Reply:
    """The timer is done, and its schedule ends."""
    return Reply(200, {"ok": True, "stopSchedule": True})


class Deduplication(Protocol):
    """Stores the replies to deliveries that were processed: a receiver answers a repetition with the first reply.

    Receivers call it from several threads; that of FastAPI calls it outside the event loop.
    """

    def find(self, webhook_id: str) -> str | None:
        """Return the reply that remember has stored for this delivery, or None."""

    def remember(self, webhook_id: str, reply: str) -> None:
        """Store done, reschedule or stop_schedule, as the JSON text of the answer. A delivery that is retried is not remembered."""


class MemoryDeduplication:
    """Remembers the last replies in this process: enough for one process that may forget them when it ends."""

    def __init__(self, size: int = 10_000) -> None:
        self._size = size
        self._replies: dict[str, str] = {}
        self._lock = threading.Lock()

    def find(self, webhook_id: str) -> str | None:
        """Return the reply to a delivery, or None."""
        with self._lock:
            return self._replies.get(webhook_id)

    def remember(self, webhook_id: str, reply: str) -> None:
        """Remember a reply, and forget the oldest if there are too many."""
        with self._lock:
            self._replies[webhook_id] = reply
            if len(self._replies) > self._size:
                del self._replies[next(iter(self._replies))]


Handler = Callable[[Delivery], "Reply | None"]
AsyncHandler = Callable[[Delivery], "Reply | Awaitable[Reply | None] | None"]


class Receiver:
    """Verifies a callback, calls a handler, and returns the answer.

    secrets are the secrets of the namespace ("whsec_…"): one, or during a rotation two. None accepts callbacks without a signature: only
    for tests and closed networks.
    """

    def __init__(self, secrets: str | list[str] | None, *, deduplication: Deduplication | None = None) -> None:
        self._webhooks = None if secrets is None else [Webhook(s) for s in ([secrets] if isinstance(secrets, str) else secrets)]
        if self._webhooks == []:
            raise ValueError("secrets is empty: want a secret, or None to accept callbacks without a signature")
        self._deduplication = deduplication

    def receive(self, handler: Handler, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer a callback. body must be the bytes as received."""
        delivery = self._begin(headers, body)
        if isinstance(delivery, Reply):
            return delivery
        try:
            reply = handler(delivery)
        except Exception:
            return self._failed(delivery)
        if inspect.isawaitable(reply):
            raise TypeError("the handler is asynchronous: want a function, or a receiver of an asynchronous framework")
        return self._end(delivery, reply)

    async def areceive(self, handler: AsyncHandler, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer a callback with a handler that may be asynchronous. A synchronous handler and the deduplication run in a thread."""
        delivery = await to_thread.run_sync(self._begin, headers, body)
        if isinstance(delivery, Reply):
            return delivery
        try:
            reply = handler(delivery) if inspect.iscoroutinefunction(handler) else await to_thread.run_sync(handler, delivery)
            if inspect.isawaitable(reply):
                reply = await reply
        except Exception:
            return self._failed(delivery)
        return await to_thread.run_sync(self._end, delivery, reply)

    def _begin(self, headers: Mapping[str, str], body: bytes) -> Delivery | Reply:
        lower = {name.lower(): value for name, value in headers.items()}
        if self._webhooks is not None and not any(_verified(w, lower, body) for w in self._webhooks):
            return Reply(401, {"error": "the signature is invalid"})
        webhook_id = lower.get("webhook-id")
        if not webhook_id:
            return Reply(400, {"error": "the header webhook-id is missing"})
        try:
            delivery = Delivery.parse(webhook_id, json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return Reply(400, {"error": f"the body is not a delivery: {error!r}"})
        remembered = None if self._deduplication is None else self._deduplication.find(delivery.webhook_id)
        return delivery if remembered is None else Reply(200, json.loads(remembered))

    def _end(self, delivery: Delivery, reply: Reply | None) -> Reply:
        reply = reply or done()
        if self._deduplication is not None and reply.status == 200 and reply.body is not None and reply.body.get("ok") is True:
            self._deduplication.remember(delivery.webhook_id, reply.content.decode())
        return reply

    def _failed(self, delivery: Delivery) -> Reply:
        _log.exception("handler of a callback failed", extra={"webhook_id": delivery.webhook_id})
        return Reply(500, {"error": "the handler failed"})


def _verified(webhook: Webhook, headers: Mapping[str, str], body: bytes) -> bool:
    try:
        webhook.verify(body, dict(headers), json_parse=False)
    except (WebhookVerificationError, ValueError):  # ValueError: malformed headers
        return False
    return True
