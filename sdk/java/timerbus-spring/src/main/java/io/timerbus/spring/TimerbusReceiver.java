package io.timerbus.spring;

import io.timerbus.webhook.Deduplication;
import io.timerbus.webhook.Handler;
import io.timerbus.webhook.Receiver;
import io.timerbus.webhook.Reply;
import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Receivers of callbacks for Spring MVC.
 *
 * <pre>{@code
 * @Bean
 * RouterFunction<ServerResponse> timers() {
 *   return TimerbusReceiver.route("/timers", List.of(secret), delivery -> Reply.done());
 * }
 * }</pre>
 */
public final class TimerbusReceiver {
  private TimerbusReceiver() {}

  /** Returns a route that receives callbacks signed with one of these secrets, and remembers no replies. */
  public static RouterFunction<ServerResponse> route(String path, List<String> secrets, Handler handler) {
    return route(path, secrets, handler, Deduplication.none());
  }

  /** Returns a route that receives callbacks signed with one of these secrets. */
  public static RouterFunction<ServerResponse> route(String path, List<String> secrets, Handler handler, Deduplication deduplication) {
    return route(path, Receiver.of(secrets, handler, deduplication));
  }

  /** Returns a route that receives callbacks. */
  public static RouterFunction<ServerResponse> route(String path, Receiver receiver) {
    return RouterFunctions.route().POST(path, request -> answer(receiver, request)).build();
  }

  private static ServerResponse answer(Receiver receiver, ServerRequest request) throws Exception {
    Reply reply = receiver.receive(request.headers().asHttpHeaders(), request.body(byte[].class));
    ServerResponse.BodyBuilder response = ServerResponse.status(reply.status()).contentType(MediaType.APPLICATION_JSON);
    if (reply.retryAfter() != null) {
      response.header("Retry-After", reply.retryAfter().toString());
    }
    return response.body(reply.body());
  }

  /** Answers a callback in a method of a controller: its parameters are {@code HttpEntity<byte[]>}. */
  public static ResponseEntity<String> answer(Receiver receiver, org.springframework.http.HttpEntity<byte[]> request) {
    byte[] body = request.getBody() == null ? new byte[0] : request.getBody();
    Reply reply = receiver.receive(request.getHeaders(), body);
    ResponseEntity.BodyBuilder response = ResponseEntity.status(reply.status()).contentType(MediaType.APPLICATION_JSON);
    if (reply.retryAfter() != null) {
      response.header("Retry-After", reply.retryAfter().toString());
    }
    return response.body(reply.body());
  }
}
