import { Calls, sleep, type CallOptions, type ClientOptions } from "./calls.js";
import { ServiceError } from "./errors.js";
import { stopped, type WalkOptions } from "./matching.js";
import { Clock } from "./clock.js";
import { Schedules } from "./schedules.js";
import { Timers } from "./timers.js";
import type * as api from "./types.js";
import { decode } from "./wire.js";

/** Namespaces are scopes of timer ids, with settings for their timers. */
export class Namespaces {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Creates a namespace. If it exists with the same number of shards and these settings, it is returned. */
  create(request: api.CreateNamespaceRequest, options?: CallOptions): Promise<api.Namespace> {
    return this.#calls.one("Namespace", "namespaces/create", "CreateNamespaceRequest", request, true, options);
  }

  /** Returns a namespace. */
  get(request: api.NamespaceSelection, options?: CallOptions): Promise<api.Namespace> {
    return this.#calls.one("Namespace", "namespaces/get", "NamespaceSelection", request, true, options);
  }

  /** Changes the given settings. With ifVersion it is not repeated after a broken connection. */
  update(request: api.UpdateNamespaceRequest, options?: CallOptions): Promise<api.Namespace> {
    const repeat = request.ifVersion == null;
    return this.#calls.one("Namespace", "namespaces/update", "UpdateNamespaceRequest", request, repeat, options);
  }

  /** Does one step of the deletion of a namespace, or counts its timers (dryRun). */
  deleteStep(request: api.DeleteNamespaceRequest, options?: CallOptions): Promise<api.NamespaceDeletion> {
    return this.#calls.one("NamespaceDeletion", "namespaces/delete", "DeleteNamespaceRequest", request, true, options);
  }

  /** Deletes a namespace with its timers, in steps, which takes at least a minute. After an error, another call continues. */
  async delete(
    request: Omit<api.DeleteNamespaceRequest, "dryRun">,
    options: WalkOptions<api.NamespaceDeletion> = {},
  ): Promise<api.NamespaceDeletion> {
    let total: api.NamespaceDeletion = { pendingDeleted: 0, late: 0, finishedPurged: 0, deleted: false };
    for (let steps = 0; ; steps++) {
      let step: api.NamespaceDeletion;
      try {
        step = await this.deleteStep(request, options);
      } catch (error) {
        // The answer of an earlier request was lost, or another caller has deleted it.
        if (steps > 0 && error instanceof ServiceError && error.code === "NAMESPACE_NOT_FOUND") return { ...total, deleted: true };
        throw stopped(error, total);
      }
      total = {
        ...step,
        pendingDeleted: total.pendingDeleted + step.pendingDeleted,
        late: total.late + step.late,
        finishedPurged: total.finishedPurged + step.finishedPurged,
      };
      options.progress?.(total);
      if (step.deleted) return total;
      if (step.retryAfter !== undefined) await sleep(step.retryAfter, options.signal);
    }
  }

  /** Returns all namespaces, ordered by name. */
  async all(options?: CallOptions): Promise<api.Namespace[]> {
    const found: api.Namespace[] = [];
    for (let cursor: string | undefined; ; ) {
      const { data } = await this.#calls.send("namespaces/list", { limit: 1000, cursor }, true, options);
      const page = decode<api.NamespaceList>("NamespaceList", data);
      found.push(...page.namespaces);
      if (page.nextCursor === undefined) return found;
      cursor = page.nextCursor;
    }
  }

  /** Returns a namespace's shards with their owners and watermarks. */
  async shards(request: api.ListShardsRequest = {}, options?: CallOptions): Promise<readonly api.Shard[]> {
    return (await this.#calls.one<api.ShardList>("ShardList", "shards/list", "ListShardsRequest", request, true, options)).shards;
  }

  /** Returns a page of a namespace's flows that are in use. Its next is the after of the next page. */
  flows(request: api.ListFlowsRequest = {}, options?: CallOptions): Promise<api.FlowList> {
    return this.#calls.one("FlowList", "flows/list", "ListFlowsRequest", request, true, options);
  }

  /** Returns the hosts and user topics of a namespace that the dispatcher of the answering process knows. */
  targets(request: api.ListTargetsRequest = {}, options?: CallOptions): Promise<api.TargetList> {
    return this.#calls.one("TargetList", "targets/list", "ListTargetsRequest", request, true, options);
  }
}

/** API keys: credentials with grants. Except for caller, the caller needs admin on all namespaces. */
export class Keys {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Creates an API key. It is not repeated after a broken connection, because the token would be lost. */
  create(request: api.CreateKeyRequest, options?: CallOptions): Promise<api.NewKey> {
    return this.#calls.one("NewKey", "keys/create", "CreateKeyRequest", request, false, options);
  }

  /** Gives an API key a new token. It is not repeated after a broken connection. */
  rotate(request: api.RotateKeyRequest, options?: CallOptions): Promise<api.NewKey> {
    return this.#calls.one("NewKey", "keys/rotate", "RotateKeyRequest", request, false, options);
  }

  /** Revokes an API key. It is not repeated after a broken connection. */
  async revoke(request: api.RevokeKeyRequest, options?: CallOptions): Promise<void> {
    await this.#calls.send("keys/revoke", request, false, options);
  }

  /** Returns all API keys, ordered by name. */
  async all(options?: CallOptions): Promise<readonly api.Key[]> {
    return (await this.#calls.one<api.KeyList>("KeyList", "keys/list", "ListKeysRequest", {}, true, options)).keys;
  }

  /** Returns the name and the grants of the caller. Every caller whose credential is accepted may ask. */
  caller(options?: CallOptions): Promise<api.Caller> {
    return this.#calls.one("Caller", "caller/get", "GetCallerRequest", {}, true, options);
  }
}

/**
 * A client of one Timerbus.
 *
 * It repeats failed calls if that is safe: after 429 and 503, which mean that nothing was applied, and after a failure to connect, always; after
 * a broken connection or a timeout, only calls that may be applied twice (each method says which are not). OUTCOME_UNKNOWN (504) is never
 * repeated.
 */
export class Timerbus {
  readonly timers: Timers;
  readonly schedules: Schedules;
  readonly namespaces: Namespaces;
  readonly keys: Keys;
  readonly clock: Clock;

  /** Configures a client of the service at this URL; it does not connect. */
  constructor(baseUrl = "http://127.0.0.1:8080", options: ClientOptions = {}) {
    const calls = new Calls(baseUrl, options);
    this.timers = new Timers(calls);
    this.schedules = new Schedules(calls);
    this.namespaces = new Namespaces(calls);
    this.keys = new Keys(calls);
    this.clock = new Clock(calls);
  }
}
