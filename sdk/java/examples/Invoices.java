import io.timerbus.Timerbus;
import io.timerbus.webhook.Delivery;
import io.timerbus.webhook.Handler;
import io.timerbus.webhook.Reply;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Reminds customers of unpaid invoices after 10, 20 and 30 days. It is the handler of a receiver. */
public class Invoices implements Handler {
  /** Sends a reminder. */
  public interface Mail {
    void send(String invoice, int number, Instant at);
  }

  private static final Duration INTERVAL = Duration.ofDays(10);
  private static final int REMINDERS = 3;

  private final Timerbus bus;
  private final String callbackUrl;
  private final Mail mail;
  // The reminders of each unpaid invoice; a real program has them in its database.
  private final Map<String, Integer> sent = new ConcurrentHashMap<>();

  public Invoices(Timerbus bus, String callbackUrl, Mail mail) {
    this.bus = bus;
    this.callbackUrl = callbackUrl;
    this.mail = mail;
  }

  public void issued(String invoice) {
    sent.put(invoice, 0);
    bus.timers().create(invoice, t -> t.executeIn(INTERVAL).callbackUrl(callbackUrl));
  }

  public void paid(String invoice) {
    Integer number = sent.remove(invoice);
    if (number != null && number < REMINDERS) {
      bus.timers().delete(invoice);
    }
  }

  @Override
  public Reply handle(Delivery delivery) {
    Integer number = sent.computeIfPresent(delivery.timerId(), (id, n) -> n + 1);
    if (number == null) {
      return Reply.done(); // paid at this moment
    }
    mail.send(delivery.timerId(), number, delivery.executeAt());
    return number == REMINDERS ? Reply.done() : Reply.reschedule(delivery.executeAt().plus(INTERVAL));
  }
}
