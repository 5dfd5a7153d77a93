"""Plays 30 days of examples/invoices.py with the test clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from wsgiref.simple_server import make_server

import flask
import pytest
from invoices import Invoices
from test_testing import Quiet

import timerbus.flask
import timerbus.testing
from timerbus import Status, Timerbus


@pytest.fixture
def service() -> Iterator[timerbus.testing.Service]:
    with timerbus.testing.service() as service:
        yield service


def test_reminders_of_30_days(service: timerbus.testing.Service, capsys: pytest.CaptureFixture[str]) -> None:
    app = flask.Flask("invoices")
    server = make_server("127.0.0.1", 0, app, handler_class=Quiet)
    sent: list[tuple[str, int, datetime]] = []
    with Timerbus(service.url) as bus:
        invoices = Invoices(bus, f"http://127.0.0.1:{server.server_port}/due", lambda *reminder: sent.append(reminder))
        app.register_blueprint(timerbus.flask.receiver("/due", invoices.due, secrets=None, deduplication=invoices.deduplication))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        start = bus.clock.get().now
        invoices.issued("paid")
        invoices.issued("unpaid")
        begin = time.monotonic()
        service.advance(timedelta(days=15))
        invoices.paid("paid")
        service.advance("15d")
        took = time.monotonic() - begin
        with capsys.disabled():
            print(f"30 days took {took:.2f} s")
        reminders = sorted((invoice, number, (at - start).days) for invoice, number, at in sent)
        assert reminders == [("paid", 1, 10), ("unpaid", 1, 10), ("unpaid", 2, 20), ("unpaid", 3, 30)]
        assert bus.timers.get("unpaid").status == Status.DONE
        assert took < 10
    server.shutdown()
