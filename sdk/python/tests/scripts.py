"""The conformance scripts: reading, and comparing answers."""

from __future__ import annotations

import dataclasses
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from timerbus._wire import parse_duration, parse_instant
from timerbus.errors import ConnectionFailed, RequestTimeout, ServiceError, TimerbusError
from timerbus.types import FIELDS

FOLDER = Path(__file__).parents[2] / "conformance"


def load() -> list[tuple[str, list[dict[str, Any]]]]:
    return [(file.stem, json.loads(file.read_text())["steps"]) for file in sorted(FOLDER.glob("*.json"))]


# The request of each operation.
REQUESTS = {
    "CreateTimer": "CreateTimerRequest",
    "GetTimer": "TimerSelection",
    "UpdateTimer": "UpdateTimerRequest",
    "DeleteTimer": "DeleteTimerRequest",
    "ListTimers": "ListTimersRequest",
    "AllTimers": "ListTimersRequest",
    "CountTimers": "CountTimersRequest",
    "ForecastTimers": "ForecastTimersRequest",
    "GetTimerHistory": "TimerHistoryRequest",
    "RunTimerNow": "RunTimerRequest",
    "PauseTimer": "PauseTimerRequest",
    "ResumeTimer": "ResumeTimerRequest",
    "RetryTimer": "RetryTimerRequest",
    "DeleteMatchingTimers": "DeleteMatchingRequest",
    "RescheduleMatchingTimers": "RescheduleMatchingRequest",
    "ResumeMatchingTimers": "ResumeMatchingRequest",
    "DeleteAllMatchingTimers": "DeleteMatchingRequest",
    "RescheduleAllMatchingTimers": "RescheduleMatchingRequest",
    "RetryAllMatchingTimers": "RetryMatchingRequest",
    "PauseAllMatchingTimers": "PauseMatchingRequest",
    "ResumeAllMatchingTimers": "ResumeMatchingRequest",
    "PurgeAllMatchingTimers": "PurgeMatchingRequest",
    "PauseAllMatchingSchedules": "PauseMatchingSchedulesRequest",
    "ResumeAllMatchingSchedules": "ResumeMatchingSchedulesRequest",
    "DeleteAllMatchingSchedules": "DeleteMatchingSchedulesRequest",
    "CreateSchedule": "CreateScheduleRequest",
    "GetSchedule": "ScheduleSelection",
    "UpdateSchedule": "UpdateScheduleRequest",
    "DeleteSchedule": "DeleteScheduleRequest",
    "ListSchedules": "ListSchedulesRequest",
    "AllSchedules": "ListSchedulesRequest",
    "PauseSchedule": "PauseScheduleRequest",
    "ResumeSchedule": "ScheduleSelection",
    "TriggerSchedule": "ScheduleSelection",
    "BackfillSchedule": "BackfillScheduleRequest",
    "BackfillAll": "BackfillScheduleRequest",
    "PreviewSchedule": "PreviewScheduleRequest",
    "GetScheduleHistory": "ScheduleHistoryRequest",
    "CreateNamespace": "CreateNamespaceRequest",
    "GetNamespace": "NamespaceSelection",
    "UpdateNamespace": "UpdateNamespaceRequest",
    "DeleteNamespace": "DeleteNamespaceRequest",
    "ListShards": "ListShardsRequest",
    "ListFlows": "ListFlowsRequest",
    "ListTargets": "ListTargetsRequest",
    "CreateKey": "CreateKeyRequest",
    "RotateKey": "RotateKeyRequest",
    "RevokeKey": "RevokeKeyRequest",
    "AdvanceClock": "AdvanceClockRequest",
    "SetClock": "SetClockRequest",
}

# The methods of the client. The first argument of most is the id, the name or the namespace.
METHODS = {
    "CreateTimer": "timers.create",
    "GetTimer": "timers.get",
    "UpdateTimer": "timers.update",
    "DeleteTimer": "timers.delete",
    "ListTimers": "timers.page",
    "AllTimers": "timers.all",
    "CountTimers": "timers.count",
    "ForecastTimers": "timers.forecast",
    "GetTimerHistory": "timers.history",
    "RunTimerNow": "timers.run_now",
    "PauseTimer": "timers.pause",
    "ResumeTimer": "timers.resume",
    "RetryTimer": "timers.retry",
    "BatchCreateTimers": "timers.create_many",
    "BatchDeleteTimers": "timers.delete_many",
    "DeleteMatchingTimers": "timers.delete_matching_page",
    "RescheduleMatchingTimers": "timers.reschedule_matching_page",
    "ResumeMatchingTimers": "timers.resume_matching_page",
    "DeleteAllMatchingTimers": "timers.delete_matching",
    "RescheduleAllMatchingTimers": "timers.reschedule_matching",
    "RetryAllMatchingTimers": "timers.retry_matching",
    "PauseAllMatchingTimers": "timers.pause_matching",
    "ResumeAllMatchingTimers": "timers.resume_matching",
    "PurgeAllMatchingTimers": "timers.purge_matching",
    "PauseAllMatchingSchedules": "schedules.pause_matching",
    "ResumeAllMatchingSchedules": "schedules.resume_matching",
    "DeleteAllMatchingSchedules": "schedules.delete_matching",
    "CreateSchedule": "schedules.create",
    "GetSchedule": "schedules.get",
    "UpdateSchedule": "schedules.update",
    "DeleteSchedule": "schedules.delete",
    "ListSchedules": "schedules.page",
    "AllSchedules": "schedules.all",
    "PauseSchedule": "schedules.pause",
    "ResumeSchedule": "schedules.resume",
    "TriggerSchedule": "schedules.trigger",
    "BackfillSchedule": "schedules.backfill_page",
    "BackfillAll": "schedules.backfill",
    "PreviewSchedule": "schedules.preview",
    "GetScheduleHistory": "schedules.history",
    "BatchCreateSchedules": "schedules.create_many",
    "BatchDeleteSchedules": "schedules.delete_many",
    "CreateNamespace": "namespaces.create",
    "GetNamespace": "namespaces.get",
    "UpdateNamespace": "namespaces.update",
    "DeleteNamespace": "namespaces.delete_step",
    "ListNamespaces": "namespaces.all",
    "ListShards": "namespaces.shards",
    "ListFlows": "namespaces.flows",
    "ListTargets": "namespaces.targets",
    "CreateKey": "keys.create",
    "RotateKey": "keys.rotate",
    "RevokeKey": "keys.revoke",
    "ListKeys": "keys.all",
    "GetCaller": "keys.caller",
    "AdvanceClock": "clock.advance",
    "SetClock": "clock.set",
    "GetClock": "clock.get",
}


def replaced(value: Any, variables: dict[str, str]) -> Any:
    """Replace the variables in all strings of a value."""
    text = json.dumps(value)
    for name, replacement in variables.items():
        text = text.replace("${" + name + "}", replacement)
    return json.loads(text)


def native(model: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a request in the types of Python, as a program passes them."""
    names = {wire: (key, kind) for key, (wire, kind) in FIELDS[model].items()}
    fields = {}
    for wire, value in data.items():
        key, kind = names[wire]
        fields[key] = value if value is None else _native(kind, value)
    return fields


def _native(kind: Any, value: Any) -> Any:
    name = type(kind).__name__
    if name == "Fields":
        return native(kind._name, value)
    if name == "Items":
        return [_native(kind._item, one) for one in value]
    if name == "_Local":
        return datetime.fromisoformat(value)
    return kind.decode(value)


def arguments(call: str, request: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of the method of a call."""
    if call == "BatchCreateTimers":
        return [[native("CreateTimerRequest", one) for one in request["timers"]]], {}
    if call == "BatchDeleteTimers":
        return [[native("DeleteTimerRequest", one) for one in request["timers"]]], {}
    if call == "BatchCreateSchedules":
        return [[native("CreateScheduleRequest", one) for one in request["schedules"]]], {}
    if call == "BatchDeleteSchedules":
        return [[native("DeleteScheduleRequest", one) for one in request["schedules"]]], {}
    if call not in REQUESTS:
        return [], {}
    fields = native(REQUESTS[call], request)
    if "Matching" in call or call == "ListShards":
        return [fields.pop("namespace")], fields
    if METHODS[call].startswith(("namespaces.", "keys.")) and "name" in fields:
        return [fields.pop("name")], fields
    return [], fields


def described(error: TimerbusError) -> dict[str, Any]:
    """Return an error as scripts describe it."""
    about: dict[str, Any] = {"message": str(error), "mayBeApplied": error.may_be_applied, "progress": error.progress}
    if isinstance(error, ServiceError):
        about |= {"kind": "service", "status": error.status, "code": error.code.value, "details": error.details, "field": error.field}
    elif isinstance(error, RequestTimeout):
        about["kind"] = "timeout"
    elif isinstance(error, ConnectionFailed):
        about["kind"] = "connection"
    return about


def field(value: Any, wire: str) -> Any:
    """Return a field of an answer by its name in JSON."""
    if isinstance(value, bool) and wire == "inTime":
        return value
    if isinstance(value, dict):
        snake = "".join("_" + c.lower() if c.isupper() else c for c in wire)
        return value.get(wire, value.get({"from": "from_"}.get(wire, snake)))
    if isinstance(value, ServiceError):
        return described(value)[wire]
    if not dataclasses.is_dataclass(value):
        return None
    if wire == "timerId" and not hasattr(value, "timer_id"):
        wire = "id"
    for model, names in FIELDS.items():
        if model in [cls.__name__ for cls in type.mro(type(value))]:
            for key, (name, _) in names.items():
                if name == wire:
                    return getattr(value, key)
    return getattr(value, "".join("_" + c.lower() if c.isupper() else c for c in wire), None)


def check(want: Any, got: Any, path: str) -> None:
    """Raise AssertionError if an answer is not as expected."""
    where = f"{path} is {got!r}, want {want!r}"
    if want == "*":
        assert got is not None, where
    elif want is None or want == "":
        assert got in (None, ""), where
    elif isinstance(want, dict):
        for name, one in want.items():
            check(one, field(got, name), f"{path}.{name}")
    elif isinstance(want, list):
        assert isinstance(got, list) and len(got) == len(want), where
        for i, one in enumerate(want):
            check(one, got[i], f"{path}[{i}]")
    elif isinstance(got, datetime):
        assert got.tzinfo is not None and got == parse_instant(want), where
    elif isinstance(got, timedelta):
        assert got == parse_duration(want), where
    elif path.endswith(".message"):
        assert want in got, where
    elif isinstance(want, str) and isinstance(got, str) and path.split(".")[-1] in ("initialInterval", "rate", "per", "every"):
        assert parse_duration(got) == parse_duration(want), where
    else:
        assert want == got and isinstance(want, bool) == isinstance(got, bool), where
