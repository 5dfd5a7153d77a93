"""Conversion between the types of Python and the JSON of the HTTP API."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import Any, TypeVar

from typing_extensions import Self

Answer = TypeVar("Answer")


class OpenEnum(str, Enum):
    """An enumeration that keeps values which this release does not know: they are members without a name of their own.

    Members are strings, so ``timer.status == "done"`` works.
    """

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    @property
    def known(self) -> bool:
        """False for a value that this release does not know."""
        return self._name_ in type(self).__members__

    def __str__(self) -> str:
        return str(self.value)


_UNITS = {
    "ns": timedelta(microseconds=1) / 1000,
    "us": timedelta(microseconds=1),
    "µs": timedelta(microseconds=1),
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)")


def parse_duration(text: str) -> timedelta:
    """Parse a duration of the API, such as "1h30m"."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    parts = _PART.findall(digits)
    if digits == "0":
        return timedelta()
    if not parts or "".join(number + unit for number, unit in parts) != digits:
        raise ValueError(f"{text!r} is not a duration: want numbers with units, such as '1h30m'")
    total = timedelta()
    for number, unit in parts:
        total += (
            _UNITS[unit] * (float(number) if "." in number else int(number))
            if unit != "ns"
            else timedelta(microseconds=float(number) / 1000)
        )
    return sign * total


def format_duration(duration: timedelta) -> str:
    """Write a duration as the API accepts it, in milliseconds; shorter parts are cut off."""
    milliseconds = abs(duration) // timedelta(milliseconds=1)
    return f"{'-' if duration < timedelta() else ''}{milliseconds}ms"


def parse_instant(text: str) -> datetime:
    """Parse an instant of the API."""
    # Before Python 3.11, fromisoformat does not accept "Z".
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def format_instant(instant: datetime, path: str) -> str:
    """Write an instant as the API accepts it."""
    if instant.tzinfo is None or instant.utcoffset() is None:
        raise ValueError(f"{path}: {instant!r} has no time zone; want an aware datetime, such as datetime.now(timezone.utc)")
    in_utc = instant.astimezone(timezone.utc).replace(tzinfo=None)
    return in_utc.isoformat(timespec="milliseconds") + "Z"


class Kind(ABC):
    """How values of a field are converted."""

    @abstractmethod
    def encode(self, value: Any, path: str) -> Any:
        """Return the JSON value; path names the field in errors."""

    @abstractmethod
    def decode(self, value: Any) -> Any:
        """Return the value of a JSON value."""


class _Any(Kind):
    def encode(self, value: Any, path: str) -> Any:
        return dict(value) if isinstance(value, Mapping) else value

    def decode(self, value: Any) -> Any:
        return value


class _Instant(Kind):
    def encode(self, value: Any, path: str) -> Any:
        if not isinstance(value, datetime):
            raise TypeError(f"{path}: {value!r} is not accepted; want a datetime with a time zone")
        return format_instant(value, path)

    def decode(self, value: Any) -> Any:
        return parse_instant(value)


class _Duration(Kind):
    def encode(self, value: Any, path: str) -> Any:
        if isinstance(value, str):
            return value  # the service checks it
        if not isinstance(value, timedelta):
            raise TypeError(f"{path}: {value!r} is not accepted; want a timedelta, or a string such as '1h30m'")
        return format_duration(value)

    def decode(self, value: Any) -> Any:
        return parse_duration(value)


class _Local(Kind):
    def encode(self, value: Any, path: str) -> Any:
        if isinstance(value, str):
            return value
        if not isinstance(value, datetime) or value.tzinfo is not None:
            raise TypeError(f"{path}: {value!r} is not accepted; want a datetime without a time zone")
        return value.isoformat(timespec="milliseconds" if value.microsecond else "seconds")

    def decode(self, value: Any) -> Any:
        return value


ANY: Kind = _Any()
INSTANT: Kind = _Instant()
DURATION: Kind = _Duration()
LOCAL: Kind = _Local()


class Values(Kind):
    """A value of an open enumeration."""

    def __init__(self, of: type[OpenEnum]) -> None:
        self._of = of

    def encode(self, value: Any, path: str) -> Any:
        return value.value if isinstance(value, Enum) else value

    def decode(self, value: Any) -> Any:
        return self._of(value)


class Items(Kind):
    """A list."""

    def __init__(self, item: Kind) -> None:
        self._item = item

    def encode(self, value: Any, path: str) -> Any:
        return [self._item.encode(one, f"{path}[{i}]") for i, one in enumerate(value)]

    def decode(self, value: Any) -> Any:
        return [self._item.decode(one) for one in value]


class Fields(Kind):
    """A typed dictionary."""

    def __init__(self, name: str) -> None:
        self._name = name

    def encode(self, value: Any, path: str) -> Any:
        return encode(self._name, value, path + ".")

    def decode(self, value: Any) -> Any:
        return _decoded(self._name, value)


class Model(Kind):
    """A dataclass."""

    def __init__(self, name: str) -> None:
        self._name = name

    def encode(self, value: Any, path: str) -> Any:
        raise TypeError(f"{path}: answers are not sent")

    def decode(self, value: Any) -> Any:
        from .types import MODELS

        return decode(MODELS[self._name], value)


def encode(name: str, fields: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return the JSON object of a request. None is sent as null."""
    from .types import FIELDS

    known = FIELDS[name]
    encoded: dict[str, Any] = {}
    for key, value in fields.items():
        if key not in known:
            raise TypeError(f"{path}{key} is not a field of {name}: want one of {', '.join(sorted(known))}")
        wire, kind = known[key]
        encoded[wire] = None if value is None else kind.encode(value, path + key)
    return encoded


def _decoded(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    from .types import FIELDS

    return {key: kind.decode(data[wire]) for key, (wire, kind) in FIELDS[name].items() if data.get(wire) is not None}


def decode(model: type[Answer], data: Mapping[str, Any], **more: Any) -> Answer:
    """Return an answer as a dataclass. Unknown fields are ignored."""
    name = next(cls.__name__ for cls in model.__mro__ if cls.__name__ in _models())
    return model(**_decoded(name, data), **more)


def _models() -> dict[str, type[Any]]:
    from .types import MODELS

    return MODELS
