"""A whole round: the service of timerbus.testing calls a receiver."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from pathlib import Path
from queue import Queue
from wsgiref.simple_server import WSGIRequestHandler, make_server

import flask
import pytest
from waiting import until

import timerbus.flask
import timerbus.testing
from timerbus import Delivery, Status, Timerbus

SECRET = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="


class Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_signed_callback_arrives() -> None:
    deliveries: Queue[Delivery] = Queue()
    app = flask.Flask("reminders")
    app.register_blueprint(timerbus.flask.receiver("/timers", deliveries.put, secrets=SECRET))
    server = make_server("127.0.0.1", 0, app, handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    with timerbus.testing.service("--secret-key", key) as service, Timerbus(service.url) as bus:
        bus.namespaces.update("default", {"secrets": {"set": SECRET}})
        bus.timers.create(
            "hello", execute_in=timedelta(milliseconds=50), callback_url=f"http://127.0.0.1:{server.server_port}/timers", payload={"n": 1}
        )
        delivery = deliveries.get(timeout=30)
        assert (delivery.timer_id, delivery.payload, delivery.attempt) == ("hello", {"n": 1}, 1)
        until(lambda: bus.timers.get("hello").status == Status.DONE, "the timer is done")
    server.shutdown()


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Replace the service by a shell script."""
    file = folder / "timerbus"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    monkeypatch.setenv("TIMERBUS_BINARY", str(file))


def test_a_failed_start_shows_the_end_of_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, monkeypatch, "seq 1000; exit 1")
    with pytest.raises(RuntimeError) as failed, timerbus.testing.service():
        pass
    assert str(failed.value).splitlines() == ["the service did not start:", *map(str, range(981, 1001))]


def test_a_service_without_an_address_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, monkeypatch, "trap '' TERM; echo waiting; exec sleep 600")
    with pytest.raises(RuntimeError, match=r"no address after 0\.5 s") as failed, timerbus.testing.service(timeout=0.5):
        pass
    assert "waiting" in str(failed.value.__cause__)


def test_a_service_that_does_not_stop_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # exec keeps the ignored signal.
    program(tmp_path, monkeypatch, "trap '' TERM; echo ' HTTP API  http://127.0.0.1:1'; echo ' NATS  in this process only'; exec sleep 600")
    begin = time.monotonic()
    with timerbus.testing.service(timeout=0.5) as service:
        assert (service.url, service.nats_url) == ("http://127.0.0.1:1", None)
    assert 0.5 <= time.monotonic() - begin < 60
