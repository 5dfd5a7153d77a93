package io.timerbus.spring;

import io.timerbus.Timerbus;
import io.timerbus.webhook.Deduplication;
import io.timerbus.webhook.Handler;
import java.util.Arrays;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Configures Spring Boot: a {@link Timerbus} from {@code timerbus.url} and {@code timerbus.token}, and, if there is a {@link Handler}, a
 * receiver at {@code timerbus.receiver.path} that verifies callbacks with {@code timerbus.receiver.secrets}.
 */
@AutoConfiguration
public class TimerbusAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnProperty("timerbus.url")
  Timerbus timerbus(Environment environment) {
    return Timerbus.builder(environment.getRequiredProperty("timerbus.url")).token(environment.getProperty("timerbus.token")).build();
  }

  @Bean
  @ConditionalOnBean(Handler.class)
  @ConditionalOnProperty("timerbus.receiver.path")
  RouterFunction<ServerResponse> timerbusReceiver(
      Environment environment, Handler handler, ObjectProvider<Deduplication> deduplication) {
    List<String> secrets = Arrays.asList(environment.getRequiredProperty("timerbus.receiver.secrets", String[].class));
    String path = environment.getRequiredProperty("timerbus.receiver.path");
    return TimerbusReceiver.route(path, secrets, handler, deduplication.getIfAvailable(Deduplication::none));
  }
}
