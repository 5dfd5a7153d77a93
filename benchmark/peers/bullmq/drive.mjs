// The processes of BullMQ, as drive.go has them for libraries in Go: `node drive.mjs ROLE SURROUNDINGS`.
import http from 'node:http';
import { readFileSync } from 'node:fs';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

const [role, text] = process.argv.slice(2);
const { servers, callback } = JSON.parse(text);
const redis = new URL(servers.redis);
const connection = { host: redis.hostname, port: Number(redis.port), maxRetriesPerRequest: null };
const queueName = 'timers';
const workers = 256;

const smallPayload = 200; // bytes, bench.SmallPayload in Go
const order = '{"order":41700042,"customer":"c-20871","reason":"payment deadline","items":["a-1","b-7"],"note":"';
const payload = JSON.parse(order + 'x'.repeat(smallPayload - order.length - 2) + '"}');

if (role === 'worker') {
  await work();
} else if (role === 'client') {
  await serve();
} else {
  throw new Error(`role ${role} is not accepted: want client or worker`);
}

async function work() {
  const agent = new http.Agent({ keepAlive: true, maxSockets: workers, maxFreeSockets: workers });
  const call = (body) =>
    new Promise((resolve, reject) => {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
      const request = http.request(callback, { agent, method: 'POST', headers, timeout: 10_000 }, (response) => {
        response.resume();
        response.on('end', () => (response.statusCode < 300 ? resolve() : reject(new Error(`answered ${response.statusCode}`))));
      });
      request.on('error', reject);
      request.on('timeout', () => request.destroy(new Error('timeout')));
      request.end(body);
    });
  const worker = new Worker(queueName, (job) => call(JSON.stringify(job.data)), { connection, concurrency: workers });
  worker.on('error', (error) => console.error(error.message));
  await worker.waitUntilReady();
  console.log('works');
}

async function serve() {
  const queue = new Queue(queueName, { connection, defaultJobOptions: { removeOnComplete: true, attempts: 25 } });
  await queue.waitUntilReady();
  const client = new Redis(connection);
  const redisVersion = /redis_version:(\S+)/.exec(await client.info())[1];
  client.disconnect();
  const { version } = JSON.parse(readFileSync(new URL('node_modules/bullmq/package.json', import.meta.url)));
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', async () => {
      const began = performance.now();
      try {
        await create(queue, JSON.parse(body));
        response.end(JSON.stringify({ seconds: (performance.now() - began) / 1000 }));
      } catch (error) {
        response.writeHead(500).end(error.message);
      }
    });
  });
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1', () => {
    console.log(`client http://127.0.0.1:${server.address().port} of bullmq ${version}, Redis ${redisVersion}, Node.js ${process.versions.node}`);
  });
}

// create creates timers by calls with c.batch of them, c.connections calls at a time over one connection, as BullMQ uses it.
async function create(queue, c) {
  const first = Date.parse(c.due);
  const job = (n) => {
    const due = Math.floor(first + (n * c.every) / 1e6);
    const timerId = c.prefix + String(n).padStart(8, '0');
    const data = { timerId, executeAt: new Date(due).toISOString(), payload };
    return { name: 'timer', data, opts: { delay: Math.max(0, due - Date.now()) } };
  };
  let next = 0;
  const calls = async () => {
    while (next < c.count) {
      const from = next;
      const upto = Math.min((next += c.batch), c.count);
      if (c.batch === 1) {
        const { name, data, opts } = job(from);
        await queue.add(name, data, opts);
      } else {
        await queue.addBulk(Array.from({ length: upto - from }, (_, i) => job(from + i)));
      }
    }
  };
  await Promise.all(Array.from({ length: c.connections }, calls));
}
