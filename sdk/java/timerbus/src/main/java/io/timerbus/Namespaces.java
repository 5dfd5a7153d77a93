package io.timerbus;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.timerbus.types.*;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Namespaces are scopes of timer ids, with settings for their timers. */
public final class Namespaces {
  private final Calls calls;

  Namespaces(Calls calls) {
    this.calls = calls;
  }

  /** Creates a namespace. If it exists with the same number of shards and these settings, it is returned. */
  public Namespace create(CreateNamespaceRequest request) {
    return calls.one(Namespace::from, "namespaces/create", request, true);
  }

  /** Returns a namespace. */
  public Namespace get(String name) {
    return calls.one(Namespace::from, "namespaces/get", NamespaceSelection.of(b -> b.name(name)), true);
  }

  /** Changes the given settings. With ifVersion it is not repeated after a broken connection. */
  public Namespace update(UpdateNamespaceRequest request) {
    return calls.one(Namespace::from, "namespaces/update", request, request.ifVersion() == null);
  }

  /** Changes the settings that a function sets. */
  public Namespace update(String name, Consumer<NamespaceSettingsInput.Builder> settings) {
    return update(UpdateNamespaceRequest.of(b -> b.name(name).settings(settings)));
  }

  /** Does one step of the deletion of a namespace, or counts its timers (dryRun). */
  public NamespaceDeletion deleteStep(DeleteNamespaceRequest request) {
    return calls.one(NamespaceDeletion::from, "namespaces/delete", request, true);
  }

  /**
   * Deletes a namespace with its timers, in steps, which takes at least a minute, and returns the sums. progress is called after each
   * step. After an error, another call continues. With dryRun it is one step.
   */
  public NamespaceDeletion delete(DeleteNamespaceRequest request, Consumer<? super NamespaceDeletion> progress) {
    NamespaceDeletion total = new NamespaceDeletion(null, null, null, 0, 0, 0, false, null);
    for (int steps = 0; ; steps++) {
      NamespaceDeletion step;
      try {
        step = deleteStep(request);
      } catch (TimerbusException e) {
        if (steps > 0 && e instanceof ServiceException s && s.code().equals(ErrorCode.NAMESPACE_NOT_FOUND)) {
          // The answer of an earlier request was lost, or another caller has deleted it.
          return new NamespaceDeletion(null, null, null, total.pendingDeleted(), total.late(), total.finishedPurged(), true, null);
        }
        e.setProgress(total);
        throw e;
      }
      total =
          new NamespaceDeletion(
              null,
              null,
              null,
              total.pendingDeleted() + step.pendingDeleted(),
              total.late() + step.late(),
              total.finishedPurged() + step.finishedPurged(),
              step.deleted(),
              step.retryAfter());
      progress.accept(total);
      if (step.deleted() || Boolean.TRUE.equals(request.dryRun())) {
        return total;
      }
      if (step.retryAfter() != null) {
        ConnectionException interrupted = new ConnectionException("namespaces/delete: the thread was interrupted", true, null);
        interrupted.setProgress(total);
        Calls.sleep(step.retryAfter(), interrupted);
      }
    }
  }

  /** Returns all namespaces, ordered by name. */
  public List<Namespace> all() {
    List<Namespace> found = new ArrayList<>();
    ObjectNode request = Wire.MAPPER.createObjectNode().put("limit", 1000);
    while (true) {
      NamespaceList page = NamespaceList.from(calls.send("namespaces/list", request, true).json());
      found.addAll(page.namespaces());
      if (page.nextCursor() == null) {
        return found;
      }
      request.put("cursor", page.nextCursor());
    }
  }

  /** Returns a namespace's shards with their owners and watermarks. */
  public List<Shard> shards(String namespace) {
    return calls.one(ShardList::from, "shards/list", ListShardsRequest.of(b -> b.namespace(namespace)), true).shards();
  }

  /** Returns a page of a namespace's flows that are in use. Its next is the after of the next page. */
  public FlowList flows(ListFlowsRequest request) {
    return calls.one(FlowList::from, "flows/list", request, true);
  }

  /** Returns the hosts and user topics of a namespace that the dispatcher of the answering process knows. */
  public TargetList targets(ListTargetsRequest request) {
    return calls.one(TargetList::from, "targets/list", request, true);
  }
}
