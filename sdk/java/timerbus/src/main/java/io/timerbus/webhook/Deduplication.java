package io.timerbus.webhook;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Remembers the webhook ids of deliveries that were processed. Receivers call it from several threads. */
public interface Deduplication {
  /** Reports whether the delivery was processed before. */
  boolean seen(String webhookId);

  /** Remembers a delivery that was processed. A delivery that is retried is not remembered. */
  void remember(String webhookId);

  /** Returns one that remembers nothing. */
  static Deduplication none() {
    return new Deduplication() {
      @Override
      public boolean seen(String webhookId) {
        return false;
      }

      @Override
      public void remember(String webhookId) {}
    };
  }

  /** Returns one that remembers the last ids in this process: enough for one process that may forget them when it ends. */
  static Deduplication inMemory(int size) {
    Set<String> ids =
        Collections.synchronizedSet(
            Collections.newSetFromMap(
                new LinkedHashMap<>() {
                  private static final long serialVersionUID = 1;

                  @Override
                  protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
                    return size() > size;
                  }
                }));
    return new Deduplication() {
      @Override
      public boolean seen(String webhookId) {
        return ids.contains(webhookId);
      }

      @Override
      public void remember(String webhookId) {
        ids.add(webhookId);
      }
    };
  }
}
