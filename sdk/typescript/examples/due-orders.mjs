import { AckPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { decodeEvent } from "timerbus/events";

const connection = await connect({ servers: process.env.NATS_URL ?? "nats://127.0.0.1:4222" });
const manager = await jetstreamManager(connection);
await manager.consumers.add("timerbus-fired", { durable_name: "orders", ack_policy: AckPolicy.Explicit });
const consumer = await jetstream(connection).consumers.get("timerbus-fired", "orders");
for await (const message of await consumer.consume()) {
  const event = decodeEvent(message.headers, message.data);
  if (event.kind === "fired") console.log(`${event.data.timerId} is due:`, event.data.payload);
  message.ack(); // without it, the message is delivered again after 30 s
}
