import { createServer } from "node:http";
import { Timerbus } from "timerbus";
import { receiver } from "timerbus/express";
import { done } from "timerbus/webhook";

const bus = new Timerbus(process.env.TIMERBUS_URL ?? "http://127.0.0.1:8080", { token: process.env.TIMERBUS_TOKEN });

const receive = receiver({
  secrets: null, // with a secret, signatures are verified
  handler: (delivery) => {
    console.log(`reminder ${delivery.timerId}: ${delivery.payload.text}`);
    server.close();
    return done();
  },
});
// The receiver of Express is also a handler of node:http.
const server = createServer((request, response) => receive(request, response, console.error));
await new Promise((resolve) => server.listen(9102, "127.0.0.1", resolve));

const timer = await bus.timers.create({
  id: "tea",
  executeIn: "1s",
  callbackUrl: "http://127.0.0.1:9102/reminders",
  payload: { text: "The tea is ready." },
});
console.log(`timer ${timer.id} is ${timer.status}`);
