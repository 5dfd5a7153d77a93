package io.timerbus.webhook;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Verifies callbacks, calls a handler, and returns the answers. */
public final class Receiver {
  private static final System.Logger LOG = System.getLogger(Receiver.class.getName());

  private final List<Webhook> webhooks;
  private final Handler handler;
  private final Deduplication deduplication;

  private Receiver(List<Webhook> webhooks, Handler handler, Deduplication deduplication) {
    this.webhooks = webhooks;
    this.handler = handler;
    this.deduplication = deduplication;
  }

  /** Returns a receiver that accepts callbacks signed with one of these secrets of the namespace ("whsec_…"): one, or during a rotation two. */
  public static Receiver of(List<String> secrets, Handler handler, Deduplication deduplication) {
    if (secrets.isEmpty()) {
      throw new IllegalArgumentException("secrets is empty: want a secret, or Receiver.unsigned to accept callbacks without a signature");
    }
    return new Receiver(secrets.stream().map(Webhook::new).toList(), handler, deduplication);
  }

  /** Returns a receiver that accepts callbacks signed with this secret, and remembers no replies. */
  public static Receiver of(String secret, Handler handler) {
    return of(List.of(secret), handler, Deduplication.none());
  }

  /** Returns a receiver that accepts callbacks without a signature: only for tests and closed networks. */
  public static Receiver unsigned(Handler handler, Deduplication deduplication) {
    return new Receiver(List.of(), handler, deduplication);
  }

  /** Answers a callback. body must be the bytes as received. */
  public Reply receive(Map<String, List<String>> headers, byte[] body) {
    Map<String, List<String>> lower = new HashMap<>();
    headers.forEach((name, values) -> lower.put(name.toLowerCase(Locale.ROOT), values));
    String text = new String(body, StandardCharsets.UTF_8);
    if (!webhooks.isEmpty() && webhooks.stream().noneMatch(w -> verified(w, text, lower))) {
      return Reply.failed(401, "the signature is invalid");
    }
    String id = String.join("", lower.getOrDefault("webhook-id", List.of()));
    if (id.isEmpty()) {
      return Reply.failed(400, "the header webhook-id is missing");
    }
    Delivery delivery;
    try {
      delivery = Delivery.parse(id, text);
    } catch (RuntimeException e) {
      return Reply.failed(400, "the body is not a delivery");
    }
    String remembered = deduplication.find(delivery.webhookId());
    if (remembered != null) {
      return new Reply(200, remembered, null, true);
    }
    Reply reply;
    try {
      reply = handler.handle(delivery);
    } catch (Exception e) {
      LOG.log(Level.ERROR, "handler of a callback failed: webhook id " + delivery.webhookId(), e);
      return Reply.failed(500, "the handler failed");
    }
    if (reply == null) {
      reply = Reply.done();
    }
    if (reply.processed()) {
      deduplication.remember(delivery.webhookId(), reply.body());
    }
    return reply;
  }

  private static boolean verified(Webhook webhook, String body, Map<String, List<String>> headers) {
    try {
      webhook.verify(body, headers);
      return true;
    } catch (WebhookVerificationException | RuntimeException e) {
      return false;
    }
  }
}
