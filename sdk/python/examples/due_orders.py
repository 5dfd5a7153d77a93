import asyncio
import os

import nats

import timerbus.events


async def consume(url: str) -> None:
    connection = await nats.connect(url)
    messages = await connection.jetstream().subscribe("timerbus.fired.>", durable="orders", manual_ack=True)
    async for message in messages.messages:
        event = timerbus.events.decode(message.headers, message.data)
        if isinstance(event, timerbus.events.FiredEvent):
            print(f"{event.data.timer_id} is due: {event.data.payload}", flush=True)
        await message.ack()  # without it, the message is delivered again after 30 s


if __name__ == "__main__":
    asyncio.run(consume(os.environ.get("NATS_URL", "nats://127.0.0.1:4222")))
