"""A whole round: the service of timerbus.testing calls a receiver."""

from __future__ import annotations

import threading
from datetime import timedelta
from queue import Queue
from wsgiref.simple_server import WSGIRequestHandler, make_server

import flask

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
        while bus.timers.get("hello").status != Status.DONE:
            threading.Event().wait(0.01)
    server.shutdown()
