"""Sends the callbacks of the conformance scripts to the receivers of each framework."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

import anyio
import django.conf
import django.http
import django.test
import django.urls
import fastapi
import fastapi.testclient
import flask
import pytest
from scripts import FOLDER
from standardwebhooks.webhooks import Webhook

import timerbus.django
import timerbus.fastapi
import timerbus.flask
from timerbus import Delivery, Reply, done, reschedule, retry, stop_schedule
from timerbus._wire import parse_duration, parse_instant
from timerbus.webhook import Handler, MemoryDeduplication, Receiver

CALLBACKS = json.loads((FOLDER / "receivers" / "callbacks.json").read_text())


class Answer(NamedTuple):
    status: int
    body: bytes
    retry_after: str | None


Send = Callable[[dict[str, str], bytes], Answer]


def fastapi_receiver(handler: Handler, secrets: Any, deduplication: Any) -> Send:
    async def asynchronous(delivery: Delivery) -> Reply | None:
        return handler(delivery)

    app = fastapi.FastAPI()
    app.include_router(timerbus.fastapi.receiver("/timers", asynchronous, secrets=secrets, deduplication=deduplication))
    client = fastapi.testclient.TestClient(app)

    def send(headers: dict[str, str], body: bytes) -> Answer:
        response = client.post("/timers", content=body, headers=headers)
        return Answer(response.status_code, response.content, response.headers.get("Retry-After"))

    return send


def flask_receiver(handler: Handler, secrets: Any, deduplication: Any) -> Send:
    app = flask.Flask("test")
    app.register_blueprint(timerbus.flask.receiver("/timers", handler, secrets=secrets, deduplication=deduplication))
    client = app.test_client()

    def send(headers: dict[str, str], body: bytes) -> Answer:
        response = client.post("/timers", data=body, headers=headers)
        return Answer(response.status_code, response.data, response.headers.get("Retry-After"))

    return send


urlpatterns: list[Any] = []
django.conf.settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["testserver"], SECRET_KEY="test")


def django_receiver(handler: Handler, secrets: Any, deduplication: Any) -> Send:
    urlpatterns[:] = [django.urls.path("timers", timerbus.django.receiver(handler, secrets=secrets, deduplication=deduplication))]
    django.urls.clear_url_caches()
    client = django.test.Client(enforce_csrf_checks=True)

    def send(headers: dict[str, str], body: bytes) -> Answer:
        response = client.post("/timers", body, content_type="application/json", headers=headers)
        return Answer(response.status_code, response.content, response.headers.get("Retry-After"))

    return send


def replied(handler: dict[str, Any] | None) -> Reply | None:
    match (handler or {}).get("reply"):
        case None:
            return None
        case "done":
            return done()
        case "retry":
            after = (handler or {}).get("after")
            return retry(parse_duration(after) if after else None)
        case "reschedule":
            return reschedule(parse_instant((handler or {})["at"]))
        case "stopSchedule":
            return stop_schedule()
        case _:
            raise ZeroDivisionError("as the case says")


@pytest.mark.parametrize("case", CALLBACKS["cases"], ids=lambda c: c["name"])
@pytest.mark.parametrize("receiver", [fastapi_receiver, flask_receiver, django_receiver])
def test_callback(receiver: Callable[[Handler, Any, Any], Send], case: dict[str, Any]) -> None:
    deliveries: list[Delivery] = []

    def handler(delivery: Delivery) -> Reply | None:
        deliveries.append(delivery)
        return replied(case["handler"])

    deduplication = MemoryDeduplication()
    send = receiver(handler, None if case.get("unsigned") else CALLBACKS["secret"], deduplication)
    body = case.get("rawBody", json.dumps(CALLBACKS["delivery"], ensure_ascii=False)).encode()
    at = datetime.now(timezone.utc) + timedelta(seconds=case.get("skewSeconds", 0))
    secrets = {None: [], "both": [CALLBACKS["other"], CALLBACKS["secret"]]}.get(case["signWith"], [CALLBACKS.get(case["signWith"])])
    headers = {
        "Content-Type": "application/json",
        "webhook-id": "id-1",
        "webhook-timestamp": str(int(at.timestamp())),
    }
    if secrets:
        headers["webhook-signature"] = " ".join(Webhook(s).sign("id-1", at, body.decode()) for s in secrets)
    if case.get("withoutId"):
        del headers["webhook-id"]
    if case.get("tamper"):
        body = body.replace(b"order-17", b"order-18")
    for _ in range(case.get("sent", 1)):
        answer = send(headers, body)
        assert answer.status == case["status"]
        if "body" in case:
            assert json.loads(answer.body) == case["body"]
        assert answer.retry_after == case.get("retryAfter")
    assert len(deliveries) == case["handled"]
    for delivery in deliveries:
        assert delivery == Delivery(
            webhook_id="id-1",
            namespace="shop",
            timer_id="order-17 ä",
            schedule_id="daily",
            execute_at=datetime(2026, 1, 1, tzinfo=timezone.utc),
            scheduled_for=datetime(2026, 1, 1, 0, 1, 0, 250000, timezone.utc),
            attempt=2,
            generation="3706188562493276161",
            correlation_id="c-1",
            payload={"order": 17, "snake_case": True},
        )
    remembered = deduplication.find("id-1")
    ok = case.get("body", {}).get("ok") is True
    assert (remembered and json.loads(remembered)) == (case["body"] if ok else None), "only replies to processed deliveries are remembered"


def test_golden_signatures() -> None:
    vectors = json.loads((FOLDER.parents[1] / "schemas" / "testdata" / "signatures.json").read_text())
    for vector in vectors:
        for secret in vector["secrets"]:
            at = datetime.fromtimestamp(int(vector["webhook-timestamp"]), timezone.utc)
            assert Webhook(secret).sign(vector["webhook-id"], at, vector["body"]) in vector["webhook-signature"].split(" ")


def test_secrets_are_required() -> None:
    with pytest.raises(ValueError, match="secrets is empty"):
        Receiver([])


def test_memory_deduplication_forgets_the_oldest() -> None:
    memory = MemoryDeduplication(size=2)
    for webhook_id in ("a", "b", "c"):
        memory.remember(webhook_id, f"reply to {webhook_id}")
    assert [memory.find(one) for one in ("a", "b", "c")] == [None, "reply to b", "reply to c"]


def test_memory_deduplication_is_used_by_threads() -> None:
    memory = MemoryDeduplication(size=3)

    def remember(thread: int) -> None:
        for i in range(5000):
            memory.remember(f"{thread}-{i}", "")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(remember, range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert sum(memory.find(f"{n}-{i}") is not None for n in range(8) for i in range(5000)) == 3


def test_a_reply_that_is_an_error_is_not_remembered() -> None:
    memory = MemoryDeduplication()
    receiver = Receiver(None, deduplication=memory)
    body = json.dumps(CALLBACKS["delivery"]).encode()
    assert receiver.receive(lambda _: Reply(503, {"ok": True}), {"webhook-id": "a"}, body).status == 503
    assert memory.find("a") is None


def test_blocking_calls_do_not_run_on_the_event_loop() -> None:
    threads: dict[str, int] = {}

    class Recording(MemoryDeduplication):
        def find(self, webhook_id: str) -> str | None:
            threads["find"] = threading.get_ident()
            return super().find(webhook_id)

        def remember(self, webhook_id: str, reply: str) -> None:
            threads["remember"] = threading.get_ident()
            super().remember(webhook_id, reply)

    def synchronous(delivery: Delivery) -> None:
        threads["synchronous"] = threading.get_ident()

    async def asynchronous(delivery: Delivery) -> None:
        threads["asynchronous"] = threading.get_ident()

    async def receive() -> int:
        receiver = Receiver(None, deduplication=Recording())
        body = json.dumps(CALLBACKS["delivery"]).encode()
        assert (await receiver.areceive(synchronous, {"webhook-id": "a"}, body)).status == 200
        assert (await receiver.areceive(asynchronous, {"webhook-id": "b"}, body)).status == 200
        return threading.get_ident()

    loop = anyio.run(receive)
    assert {name for name, thread in threads.items() if thread == loop} == {"asynchronous"}
    assert set(threads) == {"find", "remember", "synchronous", "asynchronous"}
