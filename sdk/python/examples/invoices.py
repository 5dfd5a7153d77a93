"""Reminds customers of unpaid invoices after 10, 20 and 30 days."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import timerbus
from timerbus.webhook import MemoryDeduplication

INTERVAL = timedelta(days=10)
REMINDERS = 3


class Invoices:
    """Has one timer for each unpaid invoice. Register due as the handler of a receiver."""

    def __init__(self, bus: timerbus.Timerbus, callback_url: str, send: Callable[[str, int, datetime], None]) -> None:
        self.bus = bus
        self.callback_url = callback_url
        self.send = send
        self.deduplication = MemoryDeduplication()
        self.sent: dict[str, int] = {}  # reminders of each unpaid invoice; a real program has them in its database

    def issued(self, invoice: str) -> None:
        self.sent[invoice] = 0
        self.bus.timers.create(invoice, execute_in=INTERVAL, callback_url=self.callback_url)

    def paid(self, invoice: str) -> None:
        if self.sent.pop(invoice, REMINDERS) < REMINDERS:
            self.bus.timers.delete(invoice)

    def due(self, delivery: timerbus.Delivery) -> timerbus.Reply:
        invoice = delivery.timer_id
        if invoice not in self.sent:  # paid at this moment
            return timerbus.done()
        self.sent[invoice] += 1
        self.send(invoice, self.sent[invoice], delivery.execute_at)
        if self.sent[invoice] == REMINDERS:
            return timerbus.done()
        return timerbus.reschedule(delivery.execute_at + INTERVAL)
