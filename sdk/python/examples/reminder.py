import os
import threading
from datetime import timedelta

import flask

import timerbus
import timerbus.flask

delivered = threading.Event()


def remind(delivery: timerbus.Delivery) -> timerbus.Reply:
    print(f"reminder {delivery.timer_id}: {delivery.payload['text']}")
    delivered.set()
    return timerbus.done()


app = flask.Flask("reminders")
app.register_blueprint(timerbus.flask.receiver("/reminders", remind, secrets=None))  # with a secret, signatures are verified
threading.Thread(target=app.run, kwargs={"port": 9101}, daemon=True).start()

with timerbus.Timerbus(os.environ.get("TIMERBUS_URL", "http://127.0.0.1:8080"), token=os.environ.get("TIMERBUS_TOKEN")) as bus:
    timer = bus.timers.create(
        "tea",
        execute_in=timedelta(seconds=1),
        callback_url="http://127.0.0.1:9101/reminders",
        payload={"text": "The tea is ready."},
    )
    print(f"timer {timer.id} is {timer.status}")
    delivered.wait()
