import io.nats.client.Nats;
import io.nats.client.api.ConsumerConfiguration;
import io.timerbus.events.Event;
import io.timerbus.events.NatsEvents;

public class DueOrders {
  public static void main(String[] args) throws Exception {
    var connection = Nats.connect(System.getenv().getOrDefault("NATS_URL", "nats://127.0.0.1:4222"));
    var stream = connection.getStreamContext("timerbus-fired");
    var orders = stream.createOrUpdateConsumer(ConsumerConfiguration.builder().durable("orders").build());
    orders.consume(message -> {
      if (NatsEvents.decode(message) instanceof Event.Fired fired) {
        System.out.printf("%s is due: %s%n", fired.data().timerId(), fired.data().payload());
      }
      message.ack(); // without it, the message is delivered again after 30 s
    });
    Thread.currentThread().join();
  }
}
