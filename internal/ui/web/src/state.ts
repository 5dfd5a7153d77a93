// The state that all pages share: the route, which is in the URL, and the user's preferences.
import { computed, effect, signal } from "@preact/signals";
import { call, clockOffset, type Namespace } from "./api";

export interface Route { path: string[]; query: URLSearchParams }

function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { path: parts, query: new URLSearchParams(query) };
}

export const route = signal(parse(location.hash));
addEventListener("hashchange", () => { route.value = parse(location.hash); });

// link returns the address of a page; empty values are left out.
export function link(path: string[], query: Record<string, string | undefined> = {}): string {
  const pairs = Object.entries({ ns: namespace.value, ...query }).filter(([, value]) => value) as [string, string][];
  return `#/${path.map(encodeURIComponent).join("/")}?${new URLSearchParams(pairs)}`;
}

export function go(path: string[], query: Record<string, string | undefined> = {}): void {
  location.hash = link(path, query);
}

// change replaces parts of the query of this page, and removes the cursor, which belongs to the old filter.
export function change(query: Record<string, string | undefined>): void {
  const all = Object.fromEntries(route.value.query);
  delete all.cursor;
  go(route.value.path, { ...all, ...query });
}

const namespaceKey = "timerbus-namespace";
export const namespace = computed(() => route.value.query.get("ns") || localStorage.getItem(namespaceKey) || "default");
effect(() => { localStorage.setItem(namespaceKey, namespace.value); });

export const namespaces = signal<Namespace[]>([]);
// moreNamespaces is whether the caller may read more namespaces than were read.
export const moreNamespaces = signal(false);

// loadNamespaces reads the namespaces that the caller may read, 1,000 at most.
export async function loadNamespaces(abort: AbortSignal): Promise<Namespace[]> {
  let all: Namespace[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await call<{ namespaces: Namespace[]; nextCursor?: string }>("namespaces/list", { limit: 200, cursor }, abort);
    all = all.concat(page.namespaces);
    cursor = page.nextCursor;
    if (!cursor || all.length >= 1000) break;
  }
  if (!abort.aborted) {
    namespaces.value = all;
    moreNamespaces.value = cursor !== undefined;
  }
  return all;
}

function stored<T extends string>(key: string, fallback: T) {
  const s = signal((localStorage.getItem(key) as T | null) ?? fallback);
  effect(() => { localStorage.setItem(key, s.value); });
  return s;
}

export type Zone = "local" | "utc" | "schedule";
export const zone = stored<Zone>("timerbus-zone", "local");
export const theme = stored<"auto" | "light" | "dark">("timerbus-theme", "auto");
export const live = stored<"on" | "off">("timerbus-live", "on");
export const shortcuts = stored<"on" | "off">("timerbus-shortcuts", "on");

effect(() => {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});

// scheduleZone is the time zone of the schedule that is shown, for the zone "schedule".
export const scheduleZone = signal<string | null>(null);

const tick = signal(Date.now());
setInterval(() => { if (!document.hidden) tick.value = Date.now(); }, 1000);
// now is the server's time, once a second.
export const now = computed(() => tick.value + clockOffset.value);
export const serverNow = (): number => Date.now() + clockOffset.value;

// notices are messages about finished actions. Warnings stay until they are dismissed.
export interface Notice { id: number; text: string; kind: "ok" | "warn" }
export const notices = signal<Notice[]>([]);
let nextNotice = 1;
export function notify(text: string, kind: Notice["kind"] = "ok"): void {
  const id = nextNotice++;
  notices.value = [...notices.value, { id, text, kind }];
  if (kind === "ok") setTimeout(() => { dismiss(id); }, 10_000);
}
export function dismiss(id: number): void {
  notices.value = notices.value.filter((n) => n.id !== id);
}
