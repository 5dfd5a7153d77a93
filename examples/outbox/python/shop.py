"""Creates timers in the transactions of an application, with PostgreSQL and the outbox of Timerbus.

    timerbus outbox postgres | psql shop
    timerbus dev --outbox postgres://localhost/shop
    pip install -r requirements.txt
    python shop.py postgres://localhost/shop http://127.0.0.1:9000/
"""

import json
import sys

import psycopg


class SoldOut(Exception):
    """Rolls an order back."""


def place(db, order, due, callback, in_stock=True):
    """Stores an order and creates its timer in one transaction. If it raises an exception, neither exists."""
    timer = {"id": order, "executeIn": due, "callbackUrl": callback, "payload": {"order": order}}
    with db.transaction():
        db.execute("INSERT INTO orders VALUES (%s)", (order,))
        db.execute("INSERT INTO timerbus_outbox (verb, body) VALUES ('create', %s)", (json.dumps(timer),))
        if not in_stock:
            raise SoldOut(order)


def pay(db, order):
    """Deletes the timer of an order in the transaction that stores the payment."""
    with db.transaction():
        db.execute("UPDATE orders SET paid = true WHERE id = %s", (order,))
        db.execute("INSERT INTO timerbus_outbox (verb, body) VALUES ('delete', %s)", (json.dumps({"id": order}),))


def main(database, callback):
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("CREATE TABLE IF NOT EXISTS orders (id text PRIMARY KEY, paid boolean NOT NULL DEFAULT false)")
        place(db, "python-1", "1s", callback)
        try:
            place(db, "python-2", "1s", callback, in_stock=False)
        except SoldOut as sold_out:
            print(f"{sold_out}: sold out, rolled back")
        place(db, "python-3", "1h", callback)
        pay(db, "python-3")
        place(db, "python-4", "1h", callback)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("want the URL of the database and the URL to call")
    main(*sys.argv[1:])
