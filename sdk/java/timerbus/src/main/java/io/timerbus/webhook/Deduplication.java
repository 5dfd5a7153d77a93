package io.timerbus.webhook;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Stores the replies to deliveries that were processed: a receiver answers a repetition with the first reply. Receivers call it from several
 * threads.
 */
public interface Deduplication {
  /** Returns the reply that remember has stored for this delivery, or null. */
  String find(String webhookId);

  /** Stores done, reschedule or stopSchedule, as the JSON text of the answer. A delivery that is retried is not remembered. */
  void remember(String webhookId, String reply);

  /** Returns one that remembers nothing. */
  static Deduplication none() {
    return new Deduplication() {
      @Override
      public String find(String webhookId) {
        return null;
      }

      @Override
      public void remember(String webhookId, String reply) {}
    };
  }

  /** Returns one that remembers the last replies in this process: enough for one process that may forget them when it ends. */
  static Deduplication inMemory(int size) {
    Map<String, String> replies =
        Collections.synchronizedMap(
            new LinkedHashMap<>() {
              private static final long serialVersionUID = 1;

              @Override
              protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
                return size() > size;
              }
            });
    return new Deduplication() {
      @Override
      public String find(String webhookId) {
        return replies.get(webhookId);
      }

      @Override
      public void remember(String webhookId, String reply) {
        replies.put(webhookId, reply);
      }
    };
  }
}
