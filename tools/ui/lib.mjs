// What the tests of the web UI share: a real service, a receiver of callbacks, and Chromium.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, createSign, generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import { chromium } from "playwright-core";

const root = process.env.TIMERBUS_ROOT;

// running are the services that were not stopped, because their test has failed.
const running = new Set();
export function stopAll() {
  for (const child of running) {
    child.removeAllListeners("exit");
    child.kill("SIGKILL");
  }
}

// startService runs `timerbus dev` on free ports, and waits until it is ready.
export async function startService(args = [], env = {}) {
  const data = await mkdtemp(join(tmpdir(), "timerbus-ui-"));
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TIMERBUS_")));
  const child = spawn(join(root, "bin/timerbus"),
    ["dev", "--data", data, "--listen", "127.0.0.1:0", "--nats-listen", "", "--log-level", "error", ...args],
    { env: { ...inherited, ...env }, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  const url = await new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const found = /HTTP API\s+(http:\S+)/.exec(text);
      if (found) resolve(found[1]);
    });
    child.on("exit", (code) => { reject(new Error(`the service has ended with ${code}: ${text}`)); });
  });
  running.add(child);
  await until("the service is ready", async () => (await fetch(url + "/readyz")).ok);
  return {
    url, pid: child.pid, banner: () => text,
    stop: async () => {
      child.removeAllListeners("exit");
      const ended = new Promise((resolve) => { child.on("exit", resolve); });
      child.kill("SIGKILL");
      await ended;
      running.delete(child);
      await rm(data, { recursive: true, force: true });
    },
  };
}

// until waits for a condition of another process.
export async function until(what, condition, ms = 30_000) {
  for (const end = Date.now() + ms; ;) {
    if (await condition().catch(() => false)) return;
    if (Date.now() > end) assert.fail(`not in ${ms} ms: ${what}`);
    await new Promise((resolve) => { setTimeout(resolve, 25); });
  }
}

// clientOf returns a function that sends requests of the API.
export function clientOf(url, token) {
  return async (path, body = {}) => {
    const response = await fetch(`${url}/api/v1/${path}`, {
      method: "POST", body: JSON.stringify(body), headers: token ? { Authorization: `Bearer ${token}` } : {},
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  };
}

// startReceiver answers callbacks: /ok with 200, /500 with 500, and so on.
export async function startReceiver() {
  const server = http.createServer((request, response) => {
    request.resume();
    const status = Number(request.url.slice(1)) || 200;
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end("{}");
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => { server.closeAllConnections(); server.close(); } };
}

// startProvider runs an identity provider with one user. change may change what it answers: the redirect to the client, and the claims of
// its tokens.
export async function startProvider() {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const codes = new Map();
  const provider = { change: {}, requests: [] };
  const answers = {
    "/.well-known/openid-configuration": () => ({
      issuer: provider.url, authorization_endpoint: `${provider.url}/authorize`, token_endpoint: `${provider.url}/token`, jwks_uri: `${provider.url}/keys`,
      response_types_supported: ["code"], subject_types_supported: ["public"], id_token_signing_alg_values_supported: ["ES256"],
      ...provider.change.discovery,
    }),
    "/keys": () => ({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256", use: "sig" }] }),
    "/token": (body) => {
      const asked = codes.get(body.get("code"));
      codes.delete(body.get("code"));
      const proof = createHash("sha256").update(body.get("code_verifier") ?? "").digest("base64url");
      if (!asked || asked.get("code_challenge_method") !== "S256" || asked.get("code_challenge") !== proof || body.get("client_secret") !== null
        || body.get("redirect_uri") !== asked.get("redirect_uri") || body.get("client_id") !== "timerbus-ui") return { error: "invalid_grant" };
      const now = Math.floor(Date.now() / 1000);
      const sign = (claims) => {
        const input = `${encode({ alg: "ES256", kid: "k", typ: "JWT" })}.${encode({ iss: provider.url, sub: "ann", iat: now, exp: now + 3600, ...claims })}`;
        return `${input}.${createSign("SHA256").update(input).sign({ key: privateKey, dsaEncoding: "ieee-p1363" }, "base64url")}`;
      };
      return {
        token_type: "Bearer", expires_in: 3600, access_token: sign({ aud: "timerbus", groups: ["ops"], ...provider.change.access }),
        id_token: sign({ aud: "timerbus-ui", nonce: asked.get("nonce"), ...provider.change.id }),
      };
    },
  };
  const server = http.createServer(async (request, response) => {
    const url = new URL(request.url, provider.url);
    provider.requests.push(url);
    if (url.pathname === "/authorize") {
      const code = randomUUID(), to = new URL(url.searchParams.get("redirect_uri"));
      codes.set(code, url.searchParams);
      for (const [name, value] of Object.entries({ code, state: url.searchParams.get("state"), ...provider.change.redirect })) {
        if (value !== undefined) to.searchParams.set(name, value);
      }
      response.writeHead(302, { Location: to.href }).end();
      return;
    }
    let body = "";
    for await (const chunk of request) body += chunk;
    const answer = answers[url.pathname]?.(new URLSearchParams(body));
    response.writeHead(!answer ? 404 : answer.error ? 400 : 200, { "Content-Type": "application/json", "Access-Control-Allow-Origin": "*" });
    response.end(JSON.stringify(answer ?? {}));
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  provider.url = `http://127.0.0.1:${server.address().port}`;
  provider.stop = () => { server.closeAllConnections(); server.close(); };
  return provider;
}

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
}

// open opens a page and fails on console errors, on exceptions, and on requests to other hosts. expected allows console errors, allowed other
// origins.
export async function open(browser, url, { expected = [], allowed = [], ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, timezoneId: "Europe/Berlin", locale: "en-GB", ...options });
  const page = await context.newPage();
  const problems = [], foreign = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !expected.some((pattern) => pattern.test(message.text()))) problems.push(message.text());
  });
  page.on("pageerror", (error) => { problems.push(String(error)); });
  page.on("dialog", (dialog) => { problems.push(`a dialog: ${dialog.message()}`); void dialog.dismiss(); });
  page.on("request", (request) => { if (![new URL(url).origin, ...allowed].includes(new URL(request.url()).origin)) foreign.push(request.url()); });
  page.setDefaultTimeout(30_000);
  await page.goto(url);
  return {
    page,
    check: () => {
      assert.deepEqual(problems, [], "errors on the console");
      assert.deepEqual(foreign, [], "requests to other hosts");
    },
    close: () => context.close(),
  };
}

// violations runs axe with the rules of WCAG 2.2 A and AA. axe runs in an isolated world, because the page's policy forbids other scripts.
export async function violations(page) {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "axe" });
  const run = async (expression) => {
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
      contextId: executionContextId, expression, awaitPromise: true, returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  await run(axe.source);
  const found = await run(`axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then((r) =>
    r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ") + " (" + n.failureSummary.replaceAll("\\n", " ") + ")").join("; ")))`);
  await session.detach();
  return found;
}
