package io.timerbus.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

import com.standardwebhooks.Webhook;
import io.timerbus.Timerbus;
import io.timerbus.webhook.Delivery;
import io.timerbus.webhook.Handler;
import io.timerbus.webhook.Receiver;
import io.timerbus.webhook.Reply;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpEntity;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.mock.web.MockServletContext;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

class TimerbusReceiverTest {
  private static final String SECRET = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";
  private static final String OTHER = "whsec_ISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0A=";
  private static final String BODY =
      "{\"namespace\":\"shop\",\"timerId\":\"order-17 ä\",\"executeAt\":\"2026-01-01T00:00:00.000Z\",\"scheduledFor\":"
          + "\"2026-01-01T00:00:00.000Z\",\"attempt\":1,\"generation\":\"3\",\"correlationId\":\"c\",\"payload\":{\"n\":1}}";

  private static final List<Delivery> DELIVERIES = new ArrayList<>();

  // It finds TimerbusAutoConfiguration in META-INF/spring, as an application does.
  @Configuration
  @EnableWebMvc
  @EnableAutoConfiguration
  static class Application {
    @Bean
    Handler handler() {
      return delivery -> {
        DELIVERIES.add(delivery);
        return Reply.retry(Duration.ofSeconds(9));
      };
    }
  }

  @RestController
  static class Controller {
    private final Receiver receiver = Receiver.of(SECRET, delivery -> null);

    @PostMapping("/controller")
    ResponseEntity<String> receive(HttpEntity<byte[]> request) {
      return TimerbusReceiver.answer(receiver, request);
    }
  }

  private static AnnotationConfigWebApplicationContext context() {
    AnnotationConfigWebApplicationContext context = new AnnotationConfigWebApplicationContext();
    context.setServletContext(new MockServletContext());
    context.setEnvironment(
        new MockEnvironment()
            .withProperty("timerbus.url", "http://127.0.0.1:8080")
            .withProperty("timerbus.receiver.path", "/timers")
            .withProperty("timerbus.receiver.secrets", OTHER + "," + SECRET));
    context.register(Application.class, Controller.class);
    context.refresh();
    return context;
  }

  private static MockHttpServletRequestBuilder signed(String path, String secret) throws Exception {
    long now = Instant.now().getEpochSecond();
    return post(path)
        .contentType("application/json")
        .content(BODY)
        .header("webhook-id", "id-1")
        .header("webhook-timestamp", now)
        .header("webhook-signature", new Webhook(secret).sign("id-1", now, BODY));
  }

  private static MockHttpServletResponse answer(MockMvc mvc, MockHttpServletRequestBuilder request) throws Exception {
    return mvc.perform(request).andReturn().getResponse();
  }

  @Test
  void springBootConfiguresAClientAndAReceiver() throws Exception {
    try (AnnotationConfigWebApplicationContext context = context()) {
      context.getBean(Timerbus.class);
      MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
      DELIVERIES.clear();
      MockHttpServletResponse response = answer(mvc, signed("/timers", SECRET));
      assertEquals(503, response.getStatus());
      assertEquals("9", response.getHeader("Retry-After"));
      assertEquals("order-17 ä", DELIVERIES.get(0).timerId());
      assertEquals(401, answer(mvc, post("/timers").contentType("application/json").content(BODY)).getStatus());
      assertEquals(1, DELIVERIES.size());
    }
  }

  @Test
  void aControllerReceivesCallbacks() throws Exception {
    try (AnnotationConfigWebApplicationContext context = context()) {
      MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
      MockHttpServletResponse response = answer(mvc, signed("/controller", SECRET));
      assertEquals(200, response.getStatus());
      assertEquals("{\"ok\":true}", response.getContentAsString());
      assertEquals(401, answer(mvc, signed("/controller", OTHER)).getStatus());
    }
  }
}
