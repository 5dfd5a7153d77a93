"""Creates timers while the service is killed: none that was acknowledged is lost, and none exists twice."""

from __future__ import annotations

import os
import threading
import urllib.request
from datetime import timedelta

import pytest
from waiting import LIMIT, until

from timerbus import ServiceError, Timerbus, TimerbusError

PROXY = os.environ.get("TIMERBUS_CONFORMANCE_URL", "")
SERVICE = os.environ.get("TIMERBUS_CONFORMANCE_SERVICE", "")
KILLS = int(os.environ.get("TIMERBUS_SDK_KILLS", "2"))
WRITERS = 4
BETWEEN = 200
"""How many creates are acknowledged between two kills."""


class Writer(threading.Thread):
    """Creates timers one after another until it is stopped."""

    def __init__(self, name: str, on_conflict: str, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.prefix, self.on_conflict, self.stop = name, on_conflict, stop
        self.acknowledged: dict[str, str] = {}  # generation of each id
        self.unknown: set[str] = set()
        self.refused: set[str] = set()
        self.duplicates: list[str] = []

    def run(self) -> None:
        number = 0
        with Timerbus(SERVICE, token="conformance", tries=8, longest_pause=0.5) as bus:
            while not self.stop.is_set():
                number += 1
                id = f"{self.prefix}-{number}"
                try:
                    timer = bus.timers.create(
                        id, namespace="kill", execute_in=timedelta(days=1), payload={"n": number}, on_conflict=self.on_conflict
                    )
                except TimerbusError as error:
                    if isinstance(error, ServiceError) and error.code == "TIMER_EXISTS":
                        # With "fail", a conflict means that a try of this call was repeated after it had been applied.
                        self.duplicates.append(id)
                    else:
                        (self.unknown if error.may_be_applied else self.refused).add(id)
                else:
                    self.acknowledged[id] = timer.generation


def test_no_create_is_lost_or_doubled(capsys: pytest.CaptureFixture[str]) -> None:
    stop = threading.Event()
    writers = [Writer(f"{mode}-{n}", mode, stop) for n in range(WRITERS) for mode in ("keep", "fail")]

    def more() -> None:
        """Return when further creates are acknowledged."""
        wanted = sum(len(w.acknowledged) for w in writers) + BETWEEN
        until(lambda: sum(len(w.acknowledged) for w in writers) >= wanted, f"{wanted} creates")

    with Timerbus(SERVICE, token="conformance") as bus:
        bus.namespaces.create("kill")
        for writer in writers:
            writer.start()
        try:
            for _ in range(KILLS):
                more()
                urllib.request.urlopen(urllib.request.Request(f"{PROXY}/conformance/kill", method="POST"), timeout=LIMIT).close()
            more()
        finally:
            stop.set()
        for writer in writers:
            writer.join(LIMIT)
            assert not writer.is_alive(), f"{writer.prefix} did not end"
        present: dict[str, str] = {}
        for timer in bus.timers.all(namespace="kill", limit=1000):
            assert timer.id not in present, f"{timer.id} exists twice"
            present[timer.id] = timer.generation
    acknowledged = {id: g for w in writers for id, g in w.acknowledged.items()}
    unknown = {id for w in writers for id in w.unknown}
    refused = {id for w in writers for id in w.refused}
    with capsys.disabled():
        print(f"{KILLS} kills: {len(acknowledged)} acknowledged, {len(unknown)} unknown, {len(refused)} refused, {len(present)} present")
    lost = {id for id, generation in acknowledged.items() if present.get(id) != generation}
    assert not lost, f"acknowledged and lost: {sorted(lost)[:10]}"
    assert [id for w in writers for id in w.duplicates] == []
    assert set(present) <= set(acknowledged) | unknown, "a call that was certainly not applied was applied"
    assert unknown, "no call was in flight at a kill: the test proves nothing"
