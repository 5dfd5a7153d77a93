"""Timerbus: durable timers. Timerbus and AsyncTimerbus are the clients; timerbus.webhook receives callbacks."""

from ._async_client import AsyncTimerbus
from ._base import BackfillTotal, BatchItem, MatchingTotal, ScheduleBatchItem, WrittenSchedule, WrittenTimer
from ._client import Timerbus
from ._version import VERSION as __version__
from .errors import ConnectionFailed, RequestTimeout, ServiceError, TimerbusError
from .types import Deliver, ErrorCode, Schedule, ScheduleStatus, Status, Timer
from .webhook import Delivery, Reply, done, reschedule, retry, stop_schedule

__all__ = [
    "AsyncTimerbus",
    "BackfillTotal",
    "BatchItem",
    "ConnectionFailed",
    "Deliver",
    "Delivery",
    "ErrorCode",
    "MatchingTotal",
    "Reply",
    "RequestTimeout",
    "Schedule",
    "ScheduleBatchItem",
    "ScheduleStatus",
    "ServiceError",
    "Status",
    "Timer",
    "Timerbus",
    "TimerbusError",
    "WrittenSchedule",
    "WrittenTimer",
    "__version__",
    "done",
    "reschedule",
    "retry",
    "stop_schedule",
]
