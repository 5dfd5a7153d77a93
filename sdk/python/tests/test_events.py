"""Golden messages of schemas/testdata, which the encoder of the service must produce, and events of the real service over NATS."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import confluent_kafka
import nats
import nats.aio.client
import nats.aio.msg
import nats.js.api
import pytest
from aiokafka import ConsumerRecord
from scripts import check

import timerbus.testing
from timerbus import AsyncTimerbus, ErrorCode, Status, Timerbus
from timerbus.events import AnswerEvent, AnyEvent, DeadEvent, FiredEvent, InvalidEvent, ResultEvent, UnknownEvent, decode
from timerbus.types import CommandVerb, EventType, Outcome

VECTORS = Path(__file__).parents[3] / "schemas" / "testdata"


def golden() -> dict[str, dict[str, Any]]:
    """Return the golden messages of the topics that Timerbus publishes to."""
    all = {file.stem: json.loads(file.read_text()) for file in sorted(VECTORS.glob("*.json"))}
    known = {e.value for e in EventType}
    return {name: vector for name, vector in all.items() if "event" in vector and vector["event"]["type"] in known}


GOLDEN = golden()
FIRED = GOLDEN["fired-plain"]


def content(vector: dict[str, Any], mode: str) -> tuple[dict[str, str], bytes]:
    return vector[mode]["headers"], vector[mode]["body"].encode()


def test_there_is_a_golden_message_of_each_type() -> None:
    assert {vector["event"]["type"] for vector in GOLDEN.values()} == {e.value for e in EventType}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_messages(name: str) -> None:
    vector = GOLDEN[name]
    structured, binary = decode(*content(vector, "structured")), decode(*content(vector, "binary"))
    assert structured == binary
    want = vector["event"]
    assert not isinstance(structured, UnknownEvent)
    assert (structured.id, structured.source, structured.type) == (want["id"], want["source"], want["type"])
    assert (structured.subject, structured.correlation_id) == (want.get("subject"), want.get("correlationid"))
    assert structured.time == datetime.fromisoformat(want["time"].replace("Z", "+00:00"))
    check(want["data"], structured.data, name)
    if isinstance(structured, FiredEvent):
        assert structured.data.webhook_id == want["id"]


def test_types_of_data() -> None:
    dead, refused = decode(*content(GOLDEN["dead-bytes"], "binary")), decode(*content(GOLDEN["refused"], "binary"))
    assert isinstance(dead, DeadEvent) and dead.data.status is Status.DEAD and dead.data.payload is None
    assert dead.data.request is not None and dead.data.request["body_base64"] == "AP8="
    assert isinstance(refused, AnswerEvent) and refused.data.error is ErrorCode.TIMER_NOT_FOUND
    assert refused.data.verb is CommandVerb.UPDATE


def test_messages_of_the_usual_clients() -> None:
    want = decode(*content(FIRED, "structured"))
    headers, body = content(FIRED, "structured")
    message = nats.aio.msg.Msg(_client=nats.aio.client.Client(), data=body, headers=headers)
    assert decode(message.headers, message.data) == want
    headers, body = content(FIRED, "binary")
    pairs = [(name, value.encode()) for name, value in headers.items()]
    kafka = confluent_kafka.Message(topic="timerbus.fired", headers=[*pairs, ("empty", None)], value=body)
    assert decode(kafka.headers(), kafka.value()) == want
    record = ConsumerRecord("timerbus.fired", 0, 0, 0, 0, None, body, None, 0, len(body), pairs)
    assert decode(record.headers, record.value) == want


def test_the_content_type_decides_the_mode() -> None:
    want = decode(*content(FIRED, "structured"))
    headers, body = content(GOLDEN["fired"], "structured")
    del headers["content-type"]
    # Without a content type the attributes of NATS, which are percent-encoded, select binary mode.
    binary = decode(headers, json.dumps(json.loads(body)["data"]).encode())
    assert binary.subject == "default/Bestellung 17/ä <%>"
    assert decode(None, content(FIRED, "structured")[1]) == want
    upper = {name.upper(): value for name, value in FIRED["binary"]["headers"].items()}
    assert decode(upper, content(FIRED, "binary")[1]) == want


def changed(**attributes: Any) -> bytes:
    return json.dumps({k: v for k, v in {**FIRED["event"], **attributes}.items() if v != "absent"}).encode()


def test_values_of_later_releases_are_kept() -> None:
    later = decode(None, changed(type="timerbus.timer.snoozed", more=1))
    assert isinstance(later, UnknownEvent) and later.type == "timerbus.timer.snoozed" and not later.type.known
    assert later.data == FIRED["event"]["data"]
    result = GOLDEN["result-done"]["event"]
    event = decode(None, json.dumps({**result, "data": {**result["data"], "outcome": "postponed", "more": 1}}).encode())
    assert isinstance(event, ResultEvent) and event.data.outcome == "postponed" and not event.data.outcome.known
    assert Outcome("done").known


@pytest.mark.parametrize(
    ("body", "want"),
    [
        (b"", "Expecting value"),
        (b"\xff", "decode"),
        (b"[]", "the body is not a JSON object"),
        (changed(specversion="0.3"), "specversion: '0.3' is not accepted: want '1.0'"),
        (changed(id=""), "id: '' is not accepted: want a string that is not empty"),
        (changed(source=7), "source: 7 is not accepted"),
        (changed(type="absent"), "type: None is not accepted"),
        (changed(time="yesterday"), "yesterday"),
        (changed(data_base64="AA=="), "data_base64 is not accepted: want JSON in data"),
        (changed(data="absent"), "NoneType"),
        (changed(data={"namespace": "default"}), "timerId"),
        (changed(type="timerbus.timer.result"), "outcome"),
    ],
)
def test_other_messages_are_refused(body: bytes, want: str) -> None:
    with pytest.raises(InvalidEvent, match="the message is not an event of Timerbus: ") as refused:
        decode(None, body)
    assert want in str(refused.value)


def test_batches_are_refused() -> None:
    with pytest.raises(InvalidEvent, match="want application/cloudevents"):
        decode({"content-type": "application/cloudevents-batch+json"}, b"[]")


def create(timer: dict[str, Any], command_id: str) -> bytes:
    command = {"specversion": "1.0", "id": command_id, "source": "tests", "type": "timerbus.timer.create", "data": timer}
    return json.dumps(command).encode()


def test_events_of_the_service_arrive_over_nats() -> None:
    async def play(service: timerbus.testing.Service) -> list[AnyEvent]:
        assert service.nats_url is not None
        connection = await nats.connect(service.nats_url)
        stream = connection.jetstream()
        begin = nats.js.api.DeliverPolicy.ALL
        topics = [await stream.subscribe(f"timerbus.{topic}.>", deliver_policy=begin) for topic in ("fired", "results", "dead")]
        timer = {"id": "order-17", "executeIn": "1h", "correlationId": "trace-1", "payload": {"order": 17}}
        await stream.publish("timerbus.commands", create(timer, "c-1"))
        await stream.publish("timerbus.commands", create({"id": "order-18", "executeIn": "soon"}, "c-2"))
        failing = {"callbackUrl": "http://127.0.0.1:1/", "retryPolicy": {"maxAttempts": 1}}
        await stream.publish("timerbus.commands", create({"id": "order-19", "executeIn": "2h", **failing}, "c-3"))
        answers = [await topics[1].next_msg(30), await topics[1].next_msg(30), await topics[2].next_msg(30)]
        async with AsyncTimerbus(service.url) as bus:
            await bus.clock.advance("3h")
        messages = [*answers, await topics[0].next_msg(30), await topics[2].next_msg(30)]
        messages += [await topics[1].next_msg(30) for _ in range(2)]
        await connection.close()
        return [decode(message.headers, message.data) for message in messages]

    with timerbus.testing.service("--nats-listen", "127.0.0.1:0") as service:
        events = asyncio.run(play(service))
    applied, _, refused, fired, dead, *results = events
    assert isinstance(applied, AnswerEvent) and applied.type is EventType.COMMAND_APPLIED and applied.data.command_id == "c-1"
    assert applied.data.timer is not None and applied.data.timer.payload == {"order": 17}
    assert isinstance(refused, AnswerEvent) and refused.type is EventType.COMMAND_REFUSED
    assert (refused.data.command_id, refused.data.error) == ("c-2", ErrorCode.INVALID_INPUT)
    assert isinstance(fired, FiredEvent) and fired.data.payload == {"order": 17} and fired.correlation_id == "trace-1"
    assert fired.id == fired.data.webhook_id and fired.data.execute_at == applied.data.timer.execute_at
    assert isinstance(dead, DeadEvent) and dead.data.timer_id == "order-19" and dead.data.retry_policy.max_attempts == 1
    outcomes = {event.data.timer_id: event.data.outcome for event in results if isinstance(event, ResultEvent)}
    assert outcomes == {"order-17": Outcome.DONE, "order-19": Outcome.DEAD}


def test_the_example_prints_due_orders() -> None:
    with timerbus.testing.service("--nats-listen", "127.0.0.1:0") as service, Timerbus(service.url) as bus:
        bus.timers.create("order-17", execute_in="1h", payload={"order": 17})
        service.advance("1h")
        assert service.nats_url is not None
        example = [sys.executable, str(Path(__file__).parents[1] / "examples" / "due_orders.py")]
        with subprocess.Popen(example, env={**os.environ, "NATS_URL": service.nats_url}, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            process.kill()
    assert line == "order-17 is due: {'order': 17}\n"


def test_times_are_aware() -> None:
    fired = decode(*content(FIRED, "binary"))
    assert isinstance(fired, FiredEvent)
    assert fired.data.execute_at == datetime(2026, 1, 1, tzinfo=timezone.utc)
