# The source of _client.py: `make generate` writes the synchronous client from this file.
"""The asynchronous client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, TypeVar

import anyio
import httpx
from typing_extensions import Self, Unpack

from ._base import (
    PAGE_SIZE,
    BackfillTotal,
    BatchItem,
    MatchingTotal,
    Progress,
    ScheduleBatchItem,
    Settings,
    WrittenSchedule,
    WrittenTimer,
    content,
    deletions,
    failure,
    items,
    later_start,
    move_timeout,
    parsed,
    schedule_items,
    seconds,
)
from ._wire import decode, encode
from .errors import ServiceError, TimerbusError
from .types import (
    BackfillScheduleFields,
    Caller,
    CountTimersRequest,
    CreateKeyFields,
    CreateNamespaceFields,
    CreateScheduleFields,
    CreateScheduleRequest,
    CreateTimerFields,
    CreateTimerRequest,
    DeleteMatchingFields,
    DeleteMatchingSchedulesFields,
    DeleteNamespaceFields,
    DeleteScheduleFields,
    DeleteScheduleRequest,
    DeleteTimerFields,
    DeleteTimerRequest,
    ErrorCode,
    FlowList,
    ForecastTimersRequest,
    Key,
    ListFlowsRequest,
    ListSchedulesRequest,
    ListTargetsRequest,
    ListTimersRequest,
    MatchingPage,
    Namespace,
    NamespaceDeletion,
    NamespaceSettingsInput,
    NewKey,
    PauseMatchingFields,
    PauseMatchingSchedulesFields,
    PauseScheduleFields,
    PauseTimerFields,
    PreviewScheduleRequest,
    PurgeMatchingFields,
    RescheduleMatchingFields,
    ResumeMatchingFields,
    ResumeMatchingSchedulesFields,
    ResumePage,
    ResumeTimerFields,
    RetryMatchingFields,
    RetryTimerFields,
    RotateKeyFields,
    RunTimerFields,
    Schedule,
    ScheduleBackfill,
    ScheduleHistory,
    ScheduleHistoryFields,
    SchedulePage,
    SchedulePreview,
    Shard,
    TargetList,
    TestClock,
    Timer,
    TimerCount,
    TimerForecast,
    TimerHistory,
    TimerHistoryFields,
    TimerPage,
    UpdateScheduleFields,
    UpdateTimerFields,
)

Model = TypeVar("Model")


class _AsyncCalls:
    """Sends calls, and repeats them if that is safe."""

    def __init__(self, settings: Settings, http: httpx.AsyncClient) -> None:
        self.settings = settings
        self.http = http

    async def send(self, path: str, request: Mapping[str, Any], repeat: bool, timeout: float | None = None) -> tuple[int, Any]:
        """Return the status and the JSON of the answer. timeout is that of a try, by default the client's."""
        data = content(request)
        attempt = 1
        while True:
            try:
                return await self._try(path, data, self.settings.timeout if timeout is None else timeout)
            except TimerbusError as error:
                pause = self.settings.pause(attempt, repeat, error)
                if pause is None:
                    raise
            await anyio.sleep(pause)
            attempt += 1

    async def _try(self, path: str, data: bytes, timeout: float) -> tuple[int, Any]:
        try:
            # httpx limits single reads and writes. The limit of the connection is shorter, so that its error says that nothing was sent.
            with anyio.fail_after(timeout):
                response = await self.http.post(
                    self.settings.url(path),
                    content=data,
                    headers={**self.settings.headers, "Content-Type": "application/json"},
                    timeout=httpx.Timeout(timeout, connect=0.9 * timeout),
                )
        except (httpx.RequestError, TimeoutError) as error:
            raise failure(path, error) from error
        return parsed(path, response)

    async def one(self, answer: type[Model], path: str, model: str, fields: Mapping[str, Any], repeat: bool = True) -> Model:
        """Return an answer as a dataclass."""
        _, data = await self.send(path, encode(model, fields), repeat)
        return decode(answer, data)

    async def written_timer(self, path: str, model: str, fields: Mapping[str, Any], repeat: bool) -> WrittenTimer:
        """Return the timer after a write."""
        status, data = await self.send(path, encode(model, fields), repeat)
        return decode(WrittenTimer, data, in_time=status == 200)

    async def written_schedule(self, path: str, model: str, fields: Mapping[str, Any], repeat: bool) -> WrittenSchedule:
        """Return the schedule after a write."""
        status, data = await self.send(path, encode(model, fields), repeat)
        return decode(WrittenSchedule, data, in_time=status == 200)

    async def walk(
        self,
        path: str,
        model: str,
        fields: Mapping[str, Any],
        progress: Progress | None,
        repeat: bool = True,
    ) -> MatchingTotal:
        """Send a request for all pages of a filter."""
        request = encode(model, fields)
        total = MatchingTotal(cursor=request.get("cursor") or "")
        while True:
            try:
                _, data = await self.send(path, request, repeat)
            except TimerbusError as error:
                error.progress = total
                raise
            total = total.plus(decode(MatchingPage, data))
            if progress is not None:
                progress(total)
            if not total.cursor:
                return total
            request["cursor"] = total.cursor


class AsyncTimers:
    """Timers. Every method raises a subclass of TimerbusError."""

    def __init__(self, calls: _AsyncCalls) -> None:
        self._calls = calls

    async def create(self, id: str, **fields: Unpack[CreateTimerFields]) -> WrittenTimer:
        """Create a timer, or replace the timer with this id (on_conflict "keep" or "fail" do not replace it).

        A call that is sent twice creates one timer. With "fail" it is not repeated after a broken connection.
        """
        repeat = fields.get("on_conflict") != "fail"
        return await self._calls.written_timer("timers/create", "CreateTimerRequest", {"id": id, **fields}, repeat)

    async def get(self, id: str, *, namespace: str | None = None) -> Timer:
        """Return a timer. Finished timers are returned until their history expires."""
        return await self._calls.one(Timer, "timers/get", "TimerSelection", {"id": id, "namespace": namespace})

    async def update(self, id: str, **fields: Unpack[UpdateTimerFields]) -> WrittenTimer:
        """Change the given fields. None sets a field back to its default.

        With if_generation it is not repeated after a broken connection.
        """
        repeat = fields.get("if_generation") is None
        return await self._calls.written_timer("timers/update", "UpdateTimerRequest", {"id": id, **fields}, repeat)

    async def delete(self, id: str, **fields: Unpack[DeleteTimerFields]) -> bool:
        """Delete a timer. True means that its delivery never follows; False, that it may have been sent before.

        It is not repeated after a broken connection.
        """
        request = encode("DeleteTimerRequest", {"id": id, **fields})
        status, _ = await self._calls.send("timers/delete", request, False)
        return status == 204

    async def page(self, **fields: Unpack[ListTimersRequest]) -> TimerPage:
        """Return one page of a list. It may have fewer timers than the limit, and still have a next_cursor."""
        return await self._calls.one(TimerPage, "timers/list", "ListTimersRequest", fields)

    async def all(self, **fields: Unpack[ListTimersRequest]) -> AsyncIterator[Timer]:
        """Iterate over the timers of all pages."""
        while True:
            page = await self.page(**fields)
            for timer in page.timers:
                yield timer
            if not page.next_cursor:
                return
            fields["cursor"] = page.next_cursor

    async def count(self, **fields: Unpack[CountTimersRequest]) -> TimerCount:
        """Count timers. If the answer is truncated, there are at least as many."""
        return await self._calls.one(TimerCount, "timers/count", "CountTimersRequest", fields)

    async def forecast(self, **fields: Unpack[ForecastTimersRequest]) -> TimerForecast:
        """Count the timers that become due, for each bucket of a time range."""
        return await self._calls.one(TimerForecast, "timers/forecast", "ForecastTimersRequest", fields)

    async def history(self, id: str, **fields: Unpack[TimerHistoryFields]) -> TimerHistory:
        """Return a timer's attempts, newest first."""
        return await self._calls.one(TimerHistory, "timers/history", "TimerHistoryRequest", {"id": id, **fields})

    async def run_now(self, id: str, **fields: Unpack[RunTimerFields]) -> WrittenTimer:
        """Make a timer due now, as a new generation. It is not repeated after a broken connection."""
        return await self._calls.written_timer("timers/run-now", "RunTimerRequest", {"id": id, **fields}, False)

    async def pause(self, id: str, **fields: Unpack[PauseTimerFields]) -> WrittenTimer:
        """Pause a timer: it is not delivered until it is resumed."""
        return await self._calls.written_timer("timers/pause", "PauseTimerRequest", {"id": id, **fields}, True)

    async def resume(self, id: str, **fields: Unpack[ResumeTimerFields]) -> WrittenTimer:
        """Resume a paused timer. A timer that is not paused is not changed."""
        return await self._calls.written_timer("timers/resume", "ResumeTimerRequest", {"id": id, **fields}, True)

    async def retry(self, id: str, **fields: Unpack[RetryTimerFields]) -> Timer:
        """Schedule a dead or parked timer again, as a new generation. It is not repeated after a broken connection."""
        return await self._calls.one(Timer, "timers/retry", "RetryTimerRequest", {"id": id, **fields}, False)

    async def create_many(self, timers: Iterable[CreateTimerRequest]) -> list[BatchItem]:
        """Create up to 1,000 timers, and return a result for each, in order.

        Each item is applied or refused separately. The batch is repeated if that is safe for all items; single items that were refused
        with UNAVAILABLE or RATE_LIMITED are not repeated.
        """
        requests = list(timers)
        repeat = all(one.get("on_conflict") != "fail" for one in requests)
        encoded = [encode("CreateTimerRequest", one) for one in requests]
        _, data = await self._calls.send("timers/batch-create", {"timers": encoded}, repeat)
        return items("timers/batch-create", data, len(encoded))

    async def delete_many(self, timers: Iterable[str | DeleteTimerRequest], *, namespace: str | None = None) -> list[BatchItem]:
        """Delete up to 1,000 timers by id, and return a result for each, in order.

        It is not repeated after a broken connection.
        """
        encoded = deletions("DeleteTimerRequest", timers, namespace)
        _, data = await self._calls.send("timers/batch-delete", {"timers": encoded}, False)
        return items("timers/batch-delete", data, len(encoded))

    async def delete_matching(
        self, namespace: str, *, progress: Progress | None = None, **fields: Unpack[DeleteMatchingFields]
    ) -> MatchingTotal:
        """Delete the timers on all pages of a filter. progress is called after each page."""
        request = {"namespace": namespace, **fields}
        return await self._calls.walk("timers/delete-matching", "DeleteMatchingRequest", request, progress)

    async def delete_matching_page(self, namespace: str, **fields: Unpack[DeleteMatchingFields]) -> MatchingPage:
        """Delete the timers on one page of a filter."""
        request = {"namespace": namespace, **fields}
        return await self._calls.one(MatchingPage, "timers/delete-matching", "DeleteMatchingRequest", request)

    async def reschedule_matching(
        self, namespace: str, *, progress: Progress | None = None, **fields: Unpack[RescheduleMatchingFields]
    ) -> MatchingTotal:
        """Change the time of the timers on all pages of a filter.

        With shift_by, a page is not repeated after a broken connection, because it could be shifted twice.
        """
        request, repeat = {"namespace": namespace, **fields}, fields.get("shift_by") is None
        return await self._calls.walk("timers/reschedule-matching", "RescheduleMatchingRequest", request, progress, repeat)

    async def reschedule_matching_page(self, namespace: str, **fields: Unpack[RescheduleMatchingFields]) -> MatchingPage:
        """Change the time of the timers on one page of a filter."""
        request, repeat = {"namespace": namespace, **fields}, fields.get("shift_by") is None
        return await self._calls.one(MatchingPage, "timers/reschedule-matching", "RescheduleMatchingRequest", request, repeat)

    async def retry_matching(
        self, namespace: str, *, progress: Progress | None = None, **fields: Unpack[RetryMatchingFields]
    ) -> MatchingTotal:
        """Schedule the dead or parked timers on all pages of a filter again."""
        request = {"namespace": namespace, **fields}
        return await self._calls.walk("timers/retry-matching", "RetryMatchingRequest", request, progress)

    async def pause_matching(
        self, namespace: str, *, progress: Progress | None = None, **fields: Unpack[PauseMatchingFields]
    ) -> MatchingTotal:
        """Pause the timers on all pages of a filter."""
        request = {"namespace": namespace, **fields}
        return await self._calls.walk("timers/pause-matching", "PauseMatchingRequest", request, progress)

    async def resume_matching_page(self, namespace: str, **fields: Unpack[ResumeMatchingFields]) -> ResumePage:
        """Resume the paused timers on one page of a filter.

        With resume_rate it is not repeated after a broken connection: the timers that follow would get the times of the first ones.
        """
        request, repeat = {"namespace": namespace, **fields}, not fields.get("resume_rate")
        return await self._calls.one(ResumePage, "timers/resume-matching", "ResumeMatchingRequest", request, repeat)

    async def resume_matching(
        self, namespace: str, *, progress: Progress | None = None, **fields: Unpack[ResumeMatchingFields]
    ) -> MatchingTotal:
        """Resume the paused timers on all pages of a filter, and keep resume_rate over all pages.

        After a broken connection a page is sent again with a start_at that is later by the seconds that the page may have used.
        """
        total = MatchingTotal(cursor=fields.get("cursor") or "", start_at=fields.get("start_at"))
        while True:
            try:
                page = await self._resume_page(namespace, fields)
            except TimerbusError as error:
                error.progress = replace(total, start_at=fields.get("start_at"))
                raise
            counts = MatchingPage(matched=page.matched, applied=page.applied, late=0, skipped=page.skipped, next_cursor=page.next_cursor)
            total = replace(total.plus(counts), start_at=fields.get("start_at"))
            if progress is not None:
                progress(total)
            if not total.cursor:
                return total
            fields["cursor"] = total.cursor

    async def _resume_page(self, namespace: str, fields: ResumeMatchingFields) -> ResumePage:
        attempt = 1
        while True:
            try:
                page = await self.resume_matching_page(namespace, **fields)
            except TimerbusError as error:
                rate = fields.get("resume_rate")
                if not rate or not error.may_be_applied:
                    raise
                fields["start_at"] = later_start(fields.get("start_at"), fields.get("limit") or PAGE_SIZE, rate)
                pause = self._calls.settings.pause(attempt, True, error)
                if pause is None:
                    raise
            else:
                if page.next_start_at is not None:
                    fields["start_at"] = page.next_start_at
                return page
            await anyio.sleep(pause)
            attempt += 1

    async def purge_matching(
        self, namespace: str, *, progress: Progress | None = None, **fields: Unpack[PurgeMatchingFields]
    ) -> MatchingTotal:
        """Remove the dead or done timers on all pages of a filter from history."""
        request = {"namespace": namespace, **fields}
        return await self._calls.walk("timers/purge-matching", "PurgeMatchingRequest", request, progress)


class AsyncSchedules:
    """Schedules create timers, their occurrences."""

    def __init__(self, calls: _AsyncCalls) -> None:
        self._calls = calls

    async def create(self, id: str, **fields: Unpack[CreateScheduleFields]) -> WrittenSchedule:
        """Create a schedule, or replace the schedule with this id (on_conflict "keep" or "fail" do not replace it)."""
        repeat = fields.get("on_conflict") != "fail"
        request = {"id": id, **fields}
        return await self._calls.written_schedule("schedules/create", "CreateScheduleRequest", request, repeat)

    async def get(self, id: str, *, namespace: str | None = None) -> Schedule:
        """Return a schedule. A schedule that has ended is returned until its history expires."""
        request = {"id": id, "namespace": namespace}
        return await self._calls.one(Schedule, "schedules/get", "ScheduleSelection", request)

    async def update(self, id: str, **fields: Unpack[UpdateScheduleFields]) -> WrittenSchedule:
        """Change the given fields; timer replaces the whole template.

        With if_version or pending "delete" it is not repeated after a broken connection.
        """
        repeat = fields.get("if_version") is None and fields.get("pending") != "delete"
        request = {"id": id, **fields}
        return await self._calls.written_schedule("schedules/update", "UpdateScheduleRequest", request, repeat)

    async def delete(self, id: str, **fields: Unpack[DeleteScheduleFields]) -> bool:
        """Delete a schedule. True means that no occurrence follows; False, that one may have been created at that moment.

        Occurrences that exist stay, unless pending is "delete". It is not repeated after a broken connection.
        """
        request = encode("DeleteScheduleRequest", {"id": id, **fields})
        status, _ = await self._calls.send("schedules/delete", request, False)
        return status == 204

    async def page(self, **fields: Unpack[ListSchedulesRequest]) -> SchedulePage:
        """Return one page of a list."""
        return await self._calls.one(SchedulePage, "schedules/list", "ListSchedulesRequest", fields)

    async def all(self, **fields: Unpack[ListSchedulesRequest]) -> AsyncIterator[Schedule]:
        """Iterate over the schedules of all pages."""
        while True:
            page = await self.page(**fields)
            for schedule in page.schedules:
                yield schedule
            if not page.next_cursor:
                return
            fields["cursor"] = page.next_cursor

    async def pause(self, id: str, **fields: Unpack[PauseScheduleFields]) -> WrittenSchedule:
        """Pause a schedule: it creates no occurrences until it is resumed."""
        request = {"id": id, **fields}
        return await self._calls.written_schedule("schedules/pause", "PauseScheduleRequest", request, True)

    async def resume(self, id: str, *, namespace: str | None = None) -> WrittenSchedule:
        """Resume a paused schedule, without the occurrences of the pause."""
        request = {"id": id, "namespace": namespace}
        return await self._calls.written_schedule("schedules/resume", "ScheduleSelection", request, True)

    async def trigger(self, id: str, *, namespace: str | None = None) -> Timer:
        """Create an occurrence now, and return it.

        It is not repeated after a broken connection, because a second call creates a second occurrence.
        """
        request = {"id": id, "namespace": namespace}
        return await self._calls.one(Timer, "schedules/trigger", "ScheduleSelection", request, False)

    async def backfill_page(self, id: str, **fields: Unpack[BackfillScheduleFields]) -> ScheduleBackfill:
        """Create at most 1,000 occurrences of a past time range."""
        request = {"id": id, **fields}
        return await self._calls.one(ScheduleBackfill, "schedules/backfill", "BackfillScheduleRequest", request)

    async def backfill(
        self,
        id: str,
        *,
        progress: Callable[[BackfillTotal], None] | None = None,
        **fields: Unpack[BackfillScheduleFields],
    ) -> BackfillTotal:
        """Create the occurrences of a past time range (from_ and to), with as many requests as are needed."""
        total = BackfillTotal(next_from=fields["from_"])
        while True:
            try:
                part = await self.backfill_page(id, **fields)
            except TimerbusError as error:
                error.progress = total
                raise
            total = BackfillTotal(
                requests=total.requests + 1,
                created=total.created + part.created,
                kept=total.kept + part.kept,
                next_from=part.next_from,
            )
            if progress is not None:
                progress(total)
            if part.next_from is None:
                return total
            fields["from_"] = part.next_from

    async def preview(self, **fields: Unpack[PreviewScheduleRequest]) -> SchedulePreview:
        """Compute the next occurrences of a schedule (id), or of a definition that is not saved (specs)."""
        return await self._calls.one(SchedulePreview, "schedules/preview", "PreviewScheduleRequest", fields)

    async def history(self, id: str, **fields: Unpack[ScheduleHistoryFields]) -> ScheduleHistory:
        """Return what a schedule has decided, newest first."""
        request = {"id": id, **fields}
        return await self._calls.one(ScheduleHistory, "schedules/history", "ScheduleHistoryRequest", request)

    async def create_many(self, schedules: Iterable[CreateScheduleRequest]) -> list[ScheduleBatchItem]:
        """Create up to 1,000 schedules, and return a result for each, in order. It is repeated as create_many of timers is."""
        requests = list(schedules)
        repeat = all(one.get("on_conflict") != "fail" for one in requests)
        encoded = [encode("CreateScheduleRequest", one) for one in requests]
        _, data = await self._calls.send("schedules/batch-create", {"schedules": encoded}, repeat)
        return schedule_items("schedules/batch-create", data, len(encoded))

    async def delete_many(
        self, schedules: Iterable[str | DeleteScheduleRequest], *, namespace: str | None = None
    ) -> list[ScheduleBatchItem]:
        """Delete up to 1,000 schedules by id, and return a result for each, in order.

        It is not repeated after a broken connection.
        """
        encoded = deletions("DeleteScheduleRequest", schedules, namespace)
        _, data = await self._calls.send("schedules/batch-delete", {"schedules": encoded}, False)
        return schedule_items("schedules/batch-delete", data, len(encoded))

    async def pause_matching(
        self, namespace: str, *, progress: Progress | None = None, **fields: Unpack[PauseMatchingSchedulesFields]
    ) -> MatchingTotal:
        """Pause the schedules on all pages of a filter."""
        request = {"namespace": namespace, **fields}
        return await self._calls.walk("schedules/pause-matching", "PauseMatchingSchedulesRequest", request, progress)

    async def resume_matching(
        self, namespace: str, *, progress: Progress | None = None, **fields: Unpack[ResumeMatchingSchedulesFields]
    ) -> MatchingTotal:
        """Resume the paused schedules on all pages of a filter; with status "parked", start parked ones again."""
        request = {"namespace": namespace, **fields}
        return await self._calls.walk("schedules/resume-matching", "ResumeMatchingSchedulesRequest", request, progress)

    async def delete_matching(
        self, namespace: str, *, progress: Progress | None = None, **fields: Unpack[DeleteMatchingSchedulesFields]
    ) -> MatchingTotal:
        """Delete the schedules on all pages of a filter."""
        request = {"namespace": namespace, **fields}
        return await self._calls.walk("schedules/delete-matching", "DeleteMatchingSchedulesRequest", request, progress)


class AsyncNamespaces:
    """Namespaces are scopes of timer ids, with settings for their timers."""

    def __init__(self, calls: _AsyncCalls) -> None:
        self._calls = calls

    async def create(self, name: str, **fields: Unpack[CreateNamespaceFields]) -> Namespace:
        """Create a namespace. If it exists with the same number of shards and these settings, it is returned."""
        request = {"name": name, **fields}
        return await self._calls.one(Namespace, "namespaces/create", "CreateNamespaceRequest", request)

    async def get(self, name: str) -> Namespace:
        """Return a namespace."""
        return await self._calls.one(Namespace, "namespaces/get", "NamespaceSelection", {"name": name})

    async def update(self, name: str, settings: NamespaceSettingsInput, *, if_version: int | None = None) -> Namespace:
        """Change the given settings. With if_version it is not repeated after a broken connection."""
        request = {"name": name, "settings": settings, "if_version": if_version}
        return await self._calls.one(Namespace, "namespaces/update", "UpdateNamespaceRequest", request, if_version is None)

    async def delete_step(self, name: str, **fields: Unpack[DeleteNamespaceFields]) -> NamespaceDeletion:
        """Do one step of the deletion of a namespace, or count its timers (dry_run)."""
        request = {"name": name, **fields}
        return await self._calls.one(NamespaceDeletion, "namespaces/delete", "DeleteNamespaceRequest", request)

    async def delete(
        self,
        name: str,
        *,
        if_version: int | None = None,
        progress: Callable[[NamespaceDeletion], None] | None = None,
    ) -> NamespaceDeletion:
        """Delete a namespace with its timers, in steps, which takes at least a minute. Return the sums.

        After an error, another call continues.
        """
        total = NamespaceDeletion(pending_deleted=0, late=0, finished_purged=0, deleted=False)
        steps = 0
        while True:
            try:
                step = await self.delete_step(name, if_version=if_version)
            except ServiceError as error:
                if steps == 0 or error.code != ErrorCode.NAMESPACE_NOT_FOUND:
                    error.progress = total
                    raise
                # The answer of an earlier request was lost, or another caller has deleted it.
                return replace(total, deleted=True)
            except TimerbusError as error:
                error.progress = total
                raise
            steps += 1
            total = replace(
                total,
                pending_deleted=total.pending_deleted + step.pending_deleted,
                late=total.late + step.late,
                finished_purged=total.finished_purged + step.finished_purged,
                deleted=step.deleted,
                retry_after=step.retry_after,
            )
            if progress is not None:
                progress(total)
            if step.deleted:
                return total
            if step.retry_after is not None:
                await anyio.sleep(seconds(step.retry_after))

    async def all(self) -> list[Namespace]:
        """Return all namespaces, ordered by name."""
        found: list[Namespace] = []
        request: dict[str, Any] = {"limit": 1000}
        while True:
            _, data = await self._calls.send("namespaces/list", request, True)
            found += [decode(Namespace, one) for one in data["namespaces"]]
            if not data.get("nextCursor"):
                return found
            request["cursor"] = data["nextCursor"]

    async def shards(self, namespace: str) -> list[Shard]:
        """Return a namespace's shards with their owners and watermarks."""
        _, data = await self._calls.send("shards/list", {"namespace": namespace}, True)
        return [decode(Shard, one) for one in data["shards"]]

    async def flows(self, **fields: Unpack[ListFlowsRequest]) -> FlowList:
        """Return a page of a namespace's flows that are in use. Its next is the after of the next page."""
        return await self._calls.one(FlowList, "flows/list", "ListFlowsRequest", fields)

    async def targets(self, **fields: Unpack[ListTargetsRequest]) -> TargetList:
        """Return the hosts and user topics of a namespace that the dispatcher of the answering process knows."""
        return await self._calls.one(TargetList, "targets/list", "ListTargetsRequest", fields)


class AsyncKeys:
    """API keys: credentials with grants. Except for caller, the caller needs admin on all namespaces."""

    def __init__(self, calls: _AsyncCalls) -> None:
        self._calls = calls

    async def create(self, name: str, **fields: Unpack[CreateKeyFields]) -> NewKey:
        """Create an API key. It is not repeated after a broken connection, because the token would be lost."""
        return await self._calls.one(NewKey, "keys/create", "CreateKeyRequest", {"name": name, **fields}, False)

    async def rotate(self, name: str, **fields: Unpack[RotateKeyFields]) -> NewKey:
        """Give an API key a new token. It is not repeated after a broken connection."""
        return await self._calls.one(NewKey, "keys/rotate", "RotateKeyRequest", {"name": name, **fields}, False)

    async def revoke(self, name: str) -> None:
        """Revoke an API key. It is not repeated after a broken connection."""
        await self._calls.send("keys/revoke", {"name": name}, False)

    async def all(self) -> list[Key]:
        """Return all API keys, ordered by name."""
        _, data = await self._calls.send("keys/list", {}, True)
        return [decode(Key, one) for one in data["keys"]]

    async def caller(self) -> Caller:
        """Return the name and the grants of the caller. Every caller whose credential is accepted may ask."""
        _, data = await self._calls.send("caller/get", {}, True)
        return decode(Caller, data)


class AsyncClock:
    """The test clock of ``timerbus dev --test-clock``. A service without one answers NOT_FOUND (404).

    A move waits until no timer is due, moves the clock to the next due time, or to the target if that is earlier, and repeats this until
    the clock has reached the target and no timer is due. If another call is moving the clock, the error has the code CLOCK_BUSY (409).
    After timeout, by default 60 s, it has the code CLOCK_NOT_QUIET (504): then the clock has moved, and set with the target of the details
    continues. Each try of a move waits 10 s longer than timeout for the answer.
    """

    def __init__(self, calls: _AsyncCalls) -> None:
        self._calls = calls

    async def advance(self, by: timedelta | str, *, timeout: timedelta | str | None = None) -> TestClock:
        """Move the clock forward by a duration, such as "30d".

        It is not repeated after a broken connection, because the clock would move twice.
        """
        return await self._move("clock/advance", "AdvanceClockRequest", {"by": by, "timeout": timeout})

    async def set(self, time: datetime, *, timeout: timedelta | str | None = None) -> TestClock:
        """Move the clock forward to a time. It does not move back. It is not repeated after a broken connection."""
        return await self._move("clock/set", "SetClockRequest", {"time": time, "timeout": timeout})

    async def get(self) -> TestClock:
        """Return what the clock shows, and when the next timer is due."""
        _, data = await self._calls.send("clock/get", {}, True)
        return decode(TestClock, data)

    async def _move(self, path: str, model: str, fields: Mapping[str, Any]) -> TestClock:
        timeout = move_timeout(fields["timeout"], self._calls.settings.timeout)
        _, data = await self._calls.send(path, encode(model, fields), False, timeout)
        return decode(TestClock, data)


class AsyncTimerbus:
    """An asynchronous client of one Timerbus.

    It repeats failed calls if that is safe: after 429 and 503, which mean that nothing was applied, and after a failure to connect, always;
    after a broken connection or a timeout, only calls that may be applied twice (each method says which are not). OUTCOME_UNKNOWN (504) is
    never repeated.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8080",
        *,
        token: str | None = None,
        timeout: timedelta | float = 30.0,
        tries: int = 4,
        longest_pause: timedelta | float = 5.0,
        user_agent: str | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Configure a client; it does not connect.

        token is sent with every call. timeout, in seconds, limits each try (with an http_client of the synchronous client: each connect,
        write and read of a try). tries is how often a call is tried at most (1: no retries). The pauses between tries are random times that
        double from 100 ms, up to longest_pause; a Retry-After of the service is followed if it is at most as long. http_client determines
        connections, proxies and certificates; the caller closes it.
        """
        settings = Settings.of(base_url, token, timeout, tries, longest_pause, user_agent)
        self._own = http_client is None
        self._http = http_client if http_client is not None else httpx.AsyncClient()
        calls = _AsyncCalls(settings, self._http)
        self.timers = AsyncTimers(calls)
        self.schedules = AsyncSchedules(calls)
        self.namespaces = AsyncNamespaces(calls)
        self.keys = AsyncKeys(calls)
        self.clock = AsyncClock(calls)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._own:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()


__all__ = ["AsyncClock", "AsyncKeys", "AsyncNamespaces", "AsyncSchedules", "AsyncTimerbus", "AsyncTimers"]
