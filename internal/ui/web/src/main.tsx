import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { ApiError, asError, caller, during, identify, setToken, settings, signIn, token } from "./api";
import { Dead } from "./dead";
import { CreateSchedule, CreateTimer, UpdateSchedule } from "./create";
import { NamespacePage, Namespaces } from "./namespaces";
import { beginSignIn, endSignIn, issuerName, returned } from "./oidc";
import { Overview } from "./overview";
import { Button, Dialog, Empty, ErrorBox, Page } from "./parts";
import { SchedulePage, Schedules } from "./schedules";
import { Shards } from "./shards";
import {
  change, dismiss, go, link, live, loadNamespaces, namespace, namespaces, notices, route, scheduleZone, shortcuts, theme, zone, type Zone,
} from "./state";
import { following } from "./stream";
import { Targets } from "./targets";
import { TimerPage } from "./timer";
import { firstRequest, Timers } from "./timers";

const pages: [path: string, title: string, key: string][] = [
  ["overview", "Overview", "o"], ["timers", "Timers", "t"], ["dead", "Dead letters", "d"], ["schedules", "Schedules", "s"],
  ["namespaces", "Namespaces", "n"], ["targets", "Targets", "a"], ["shards", "Shards", "h"],
];

function Content() {
  const [page = "overview", first, second] = route.value.path;
  const key = `${page}/${namespace.value}/${first ?? ""}`;
  // The other pages send their requests while the rights of the caller are read, if there is a token.
  if (!caller.value && (page === "overview" || page === "targets" || returning.value)) return <div class="skeleton" role="status"><span class="sr">Loading</span></div>;
  switch (page) {
    case "overview": return <Overview key={key} />;
    case "timers": return first === undefined ? <Timers key={key} /> : <TimerPage key={key} id={first} />;
    case "dead": return <Dead key={key} />;
    case "schedules":
      if (first === undefined) return <Schedules key={key} />;
      return second === "update" ? <UpdateSchedule key={key} id={first} /> : <SchedulePage key={key} id={first} />;
    case "namespaces": return first === undefined ? <Namespaces /> : <NamespacePage key={first} name={first} />;
    case "targets": return <Targets key={key} />;
    case "shards": return <Shards key={key} />;
    case "new": return first === "schedule" ? <CreateSchedule key={key} /> : <CreateTimer key={key + (second ?? "")} />;
    default: return (
      <Page title="Not found">
        <Empty title="There is no such page."><a href={link(["overview"])}>Overview</a></Empty>
      </Page>
    );
  }
}

function SignIn({ reason }: { reason: string }) {
  const [value, setValue] = useState("");
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    document.title = "Sign in · Timerbus";
    // The browser may restore the page as it was when it left for the provider.
    const restored = (e: PageTransitionEvent) => { if (e.persisted) setBusy(false); };
    addEventListener("pageshow", restored);
    return () => { removeEventListener("pageshow", restored); };
  }, []);
  const redirect = async () => {
    failed.value = "";
    setBusy(true);
    setError(undefined);
    try {
      await beginSignIn(); // the browser leaves the page
    } catch (cause) {
      setError(new ApiError(0, "SIGN_IN_FAILED", (cause as Error).message));
      setBusy(false);
    }
  };
  const submit = async () => {
    const before = token.value;
    failed.value = "";
    setBusy(true);
    setError(undefined);
    setToken(value.trim());
    try {
      await identify();
    } catch (cause) {
      setToken(before);
      setError(asError(cause));
    }
    setBusy(false);
  };
  return (
    <main class="sign-in">
      <form class="card" onSubmit={(e) => { e.preventDefault(); void submit(); }}>
        <h1><Mark /> Timerbus</h1>
        {issuerName && (
          <>
            <button type="button" class="button primary block" disabled={busy} onClick={() => { void redirect(); }}>Sign in with {issuerName}</button>
            {failed.value && !error && <div class="error" role="alert"><p>{failed.value}</p></div>}
          </>
        )}
        <p>{issuerName ? "Or use" : "Sign in with"} the token of the service, the token of an API key, or a token of the identity provider.</p>
        {error ? <ErrorBox error={error} /> : token.value && <div class="error" role="alert"><p>{reason}</p></div>}
        <div class="field">
          <label for="token">Token</label>
          <input id="token" type="password" value={value} autocomplete="off" required aria-describedby="token-hint"
            onInput={(e) => { setValue(e.currentTarget.value); }} />
          <p class="hint" id="token-hint">It stays in this tab until the tab is closed. Create a key for reading with
            <code> timerbus key create ui --grant read@*</code>.</p>
        </div>
        <button type="submit" class={`button block${issuerName ? "" : " primary"}`} disabled={busy}>{busy ? "Checking…" : "Sign in"}</button>
      </form>
    </main>
  );
}

const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="7" class="mark-back" /><circle cx="16" cy="16" r="9" class="mark-line" /><path d="M16 10.5V16l4 2.6" class="mark-line" />
  </svg>
);

function Shortcuts({ close }: { close: () => void }) {
  return (
    <Dialog title="Keyboard" close={close}>
      <dl class="facts keys">
        {pages.map(([, title, key]) => <div key={key}><dt><kbd>g</kbd> <kbd>{key}</kbd></dt><dd>{title}</dd></div>)}
        <div><dt><kbd>c</kbd></dt><dd>Create a timer</dd></div>
        <div><dt><kbd>/</kbd></dt><dd>Search or filter</dd></div>
        <div><dt><kbd>l</kbd></dt><dd>Live updates on or off</dd></div>
        <div><dt><kbd>?</kbd></dt><dd>This list</dd></div>
      </dl>
      <label class="check">
        <input type="checkbox" checked={shortcuts.value === "on"} onChange={(e) => { shortcuts.value = e.currentTarget.checked ? "on" : "off"; }} />
        Use these keys
      </label>
    </Dialog>
  );
}

let pendingG = 0;

function useKeys(showHelp: () => void): void {
  useEffect(() => {
    const pressed = (e: KeyboardEvent) => {
      const target = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || target.closest("input, textarea, select, [contenteditable]")) return;
      if (document.querySelector("dialog[open]")) return;
      if (e.key === "?") {
        showHelp();
        return;
      }
      if (shortcuts.value === "off") return;
      const second = Date.now() - pendingG < 1500;
      pendingG = 0;
      if (second) {
        const page = pages.find(([, , key]) => key === e.key);
        if (page) go([page[0]]);
      } else if (e.key === "g") {
        pendingG = Date.now();
      } else if (e.key === "c") {
        go(["new", "timer"]);
      } else if (e.key === "l") {
        live.value = live.value === "on" ? "off" : "on";
      } else if (e.key === "/") {
        const search = document.querySelector<HTMLElement>("[data-search]");
        if (search) {
          e.preventDefault();
          search.focus();
        }
      }
    };
    addEventListener("keydown", pressed);
    return () => { removeEventListener("keydown", pressed); };
  }, []);
}

const liveTitles = {
  no: "Live updates by polling", some: "Live updates by events of one process, and by polling", all: "Live updates by events",
};

function Shell() {
  const [menu, setMenu] = useState(false);
  const [help, setHelp] = useState(false);
  useKeys(() => { setHelp(true); });
  useEffect(() => {
    const abort = new AbortController();
    if (caller.value) void loadNamespaces(abort.signal).catch(() => undefined);
    return () => { abort.abort(); };
  }, [caller.value?.name]);
  const [current = "overview"] = route.value.path;
  useEffect(() => { setMenu(false); }, [route.value]);
  const names = [...new Set([namespace.value, ...namespaces.value.map((n) => n.name)])].sort();
  const selectNamespace = (name: string) => {
    if (route.value.path.length > 1 && current !== "new") go([current], { ns: name });
    else change({ ns: name });
  };
  const skip = () => { document.querySelector<HTMLElement>("#main h1")?.focus(); };
  return (
    <>
      <button type="button" class="skip" onClick={skip}>Skip to the content</button>
      <header>
        <Button kind="icon menu" aria-label="Menu" aria-expanded={menu} aria-controls="nav" onClick={() => { setMenu(!menu); }}>☰</Button>
        <a class="brand" aria-label="Timerbus, overview" href={link(["overview"])}><Mark /><span>Timerbus</span></a>
        <label class="sr" for="ns">Namespace</label>
        <select id="ns" class="namespace" value={namespace.value} onChange={(e) => { selectNamespace(e.currentTarget.value); }}>
          {names.map((name) => <option key={name} value={name} selected={name === namespace.value}>{name}</option>)}
        </select>
        <div class="spacer" />
        {settings.readOnly && <span class="badge paused">read-only</span>}
        <div class={`prefs${menu ? " open" : ""}`}>
        <label class="sr" for="zone">Time zone</label>
        <select id="zone" value={zone.value} onChange={(e) => { zone.value = e.currentTarget.value as Zone; }}>
          <option value="local" selected={zone.value === "local"}>Local time</option>
          <option value="utc" selected={zone.value === "utc"}>UTC</option>
          <option value="schedule" selected={zone.value === "schedule"}>Schedule{scheduleZone.value ? ` (${scheduleZone.value})` : "’s zone"}</option>
        </select>
        <Button kind="ghost live" aria-pressed={live.value === "on"} title={liveTitles[following.value]}
          onClick={() => { live.value = live.value === "on" ? "off" : "on"; }}><span class="dot" />Live</Button>
        <label class="sr" for="theme">Colours</label>
        <select id="theme" value={theme.value} onChange={(e) => { theme.value = e.currentTarget.value as typeof theme.value; }}>
          <option value="auto" selected={theme.value === "auto"}>Auto</option>
          <option value="light" selected={theme.value === "light"}>Light</option>
          <option value="dark" selected={theme.value === "dark"}>Dark</option>
        </select>
        </div>
      </header>
      <div class="frame">
        <nav id="nav" aria-label="Pages" class={menu ? "open" : ""}>
          <ul>
            {pages.map(([path, title]) => (
              <li key={path}><a href={link([path])} aria-current={current === path ? "page" : undefined}>{title}</a></li>
            ))}
          </ul>
          <div class="nav-foot">
            <div>{caller.value?.name === "anyone" ? "no credential required" : caller.value?.name}</div>
            {token.value && <Button kind="small" onClick={() => { setToken(""); caller.value = null; namespaces.value = []; signIn.value = ""; }}>Sign out</Button>}
            <Button kind="small" onClick={() => { setHelp(true); }}>Keyboard</Button>
            <div class="version">{settings.version} · <a href="licenses.txt">licences</a></div>
          </div>
        </nav>
        <main id="main"><Content /></main>
      </div>
      <div class="notices" role="status" aria-live="polite">
        {notices.value.map((n) => (
          <div key={n.id} class={`notice ${n.kind}`}>{n.text}<Button kind="icon" aria-label="Dismiss" onClick={() => { dismiss(n.id); }}>✕</Button></div>
        ))}
      </div>
      {help && <Shortcuts close={() => { setHelp(false); }} />}
    </>
  );
}

// failed is why a sign-in with the identity provider failed. returning: the answer of the provider is being used.
const failed = signal(""), returning = signal(returned());

// The first request is sent before anything is rendered.
const first = returning.value
  ? endSignIn().catch((cause: unknown) => { failed.value = (cause as Error).message; }).then(() => { returning.value = false; return identify(); })
  : identify();

function App() {
  const [error, setError] = useState<ApiError>();
  const start = (asked = identify()) => {
    setError(undefined);
    asked.catch((cause: unknown) => {
      const e = asError(cause);
      if (e.status !== 401) setError(e);
    });
  };
  useLayoutEffect(() => { start(first); }, []);
  if (signIn.value !== null) return <SignIn reason={signIn.value} />;
  if (error) return <main class="sign-in"><div class="card"><h1><Mark /> Timerbus</h1><ErrorBox error={error} again={() => { start(); }} /></div></main>;
  return <Shell />;
}

const start = () => { render(<App />, document.getElementById("app")!); };
const [page, id] = route.value.path;
if (page === "timers" && id === undefined && !returning.value) during("timers/list", firstRequest(), start);
else start();
