"""Events of the topics of Timerbus on NATS and Kafka: decode returns a typed event for the headers and the body of a message.

It takes what the usual clients return, and depends on none of them::

    timerbus.events.decode(message.headers, message.data)  # nats-py
    timerbus.events.decode(message.headers(), message.value())  # confluent-kafka
    timerbus.events.decode(record.headers, record.value)  # aiokafka
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from ._wire import decode as _model
from ._wire import parse_instant
from .types import JSON, AttemptResult, CommandAnswer, DeadLetter, EventType
from .webhook import Delivery

Headers = Mapping[str, str | bytes | None] | Iterable[tuple[str, str | bytes | None]] | None
"""The headers of a message, as clients of NATS and Kafka return them."""


class InvalidEvent(ValueError):
    """A message is not an event of Timerbus: it is no CloudEvent, or its data is not that of its type."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """The attributes that all events have."""

    id: str
    """A repeated event has the same id."""
    source: str
    """The cluster that sent the event."""
    type: EventType
    subject: str | None
    """namespace/timerId, or namespace/scheduleId in the answer to a command for a schedule."""
    time: datetime | None
    correlation_id: str | None


@dataclass(frozen=True, kw_only=True)
class FiredEvent(Event):
    """A timer is due. Its id is the webhook_id of the delivery."""

    data: Delivery


@dataclass(frozen=True, kw_only=True)
class ResultEvent(Event):
    """An attempt has ended."""

    data: AttemptResult


@dataclass(frozen=True, kw_only=True)
class DeadEvent(Event):
    """A timer is dead, or parked: data.status says which."""

    data: DeadLetter


@dataclass(frozen=True, kw_only=True)
class AnswerEvent(Event):
    """A command was applied, or refused: then data.error is present."""

    data: CommandAnswer


@dataclass(frozen=True, kw_only=True)
class UnknownEvent(Event):
    """An event with a type that this release does not know, with its JSON."""

    data: JSON


AnyEvent = FiredEvent | ResultEvent | DeadEvent | AnswerEvent | UnknownEvent


def decode(headers: Headers, body: bytes | None) -> AnyEvent:
    """Return the event of a message in structured mode (NATS) or in binary mode (Kafka).

    Unknown attributes and fields are ignored. Raises InvalidEvent for a message that is not an event of Timerbus.
    """
    try:
        attributes, data = _parts(headers, body or b"")
        return _typed(attributes, data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidEvent(f"the message is not an event of Timerbus: {error if isinstance(error, ValueError) else repr(error)}") from error


def _parts(headers: Headers, body: bytes) -> tuple[Mapping[str, Any], Any]:
    attributes, content_type = _attributes(headers)
    media_type = content_type.partition(";")[0].strip().lower()
    parsed = json.loads(body)
    # The content type decides the mode. Without one, headers with the required attributes select binary mode.
    whole = media_type.startswith("application/cloudevents")
    if whole and media_type not in ("application/cloudevents", "application/cloudevents+json"):
        raise ValueError(f"content-type: {content_type!r} is not accepted: want application/cloudevents+json or application/json")
    if not whole and "specversion" in attributes and "type" in attributes:
        return attributes, parsed
    if not isinstance(parsed, dict):
        raise ValueError("the body is not a JSON object")
    if "data_base64" in parsed:
        raise ValueError("data_base64 is not accepted: want JSON in data")
    return parsed, parsed.get("data")


def _attributes(headers: Headers) -> tuple[dict[str, str], str]:
    """Return the attributes in the headers, and the content type."""
    attributes: dict[str, str] = {}
    content_type = ""
    for name, value in headers.items() if isinstance(headers, Mapping) else headers or ():
        text = value.decode(errors="replace") if isinstance(value, bytes) else value or ""
        lower = name.lower()
        if lower == "content-type":
            content_type = text
        elif lower.startswith("ce_"):
            attributes[lower[3:]] = text
        elif lower.startswith("ce-"):  # percent-encoded on NATS
            attributes[lower[3:]] = unquote(text)
    return attributes, content_type


def _typed(attributes: Mapping[str, Any], data: Any) -> AnyEvent:
    if attributes.get("specversion") != "1.0":
        raise ValueError(f"specversion: {attributes.get('specversion')!r} is not accepted: want '1.0'")
    for name in ("id", "source", "type"):
        if not isinstance(attributes.get(name), str) or not attributes[name]:
            raise ValueError(f"{name}: {attributes.get(name)!r} is not accepted: want a string that is not empty")
    event_type, at = EventType(attributes["type"]), attributes.get("time")
    common: dict[str, Any] = {
        "id": attributes["id"],
        "source": attributes["source"],
        "type": event_type,
        "subject": attributes.get("subject"),
        "time": None if at is None else parse_instant(at),
        "correlation_id": attributes.get("correlationid"),
    }
    match event_type:
        case EventType.TIMER_FIRED:
            return FiredEvent(**common, data=Delivery.parse(attributes["id"], data))
        case EventType.TIMER_RESULT:
            return ResultEvent(**common, data=_model(AttemptResult, data))
        case EventType.TIMER_DEAD | EventType.TIMER_PARKED:
            return DeadEvent(**common, data=_model(DeadLetter, data))
        case EventType.COMMAND_APPLIED | EventType.COMMAND_REFUSED:
            return AnswerEvent(**common, data=_model(CommandAnswer, data))
        case _:
            return UnknownEvent(**common, data=data)
