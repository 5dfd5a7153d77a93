package io.timerbus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The conformance scripts: reading, requests in the types of Java, and comparing answers. */
public final class Scripts {
  static final ObjectMapper MAPPER = new ObjectMapper();

  private Scripts() {}

  /** Returns the folder sdk/conformance. Tests run in sdk/java/timerbus. */
  static Path folder() {
    return Path.of("../../conformance");
  }

  static List<Path> files() throws IOException {
    try (Stream<Path> all = Files.list(folder())) {
      return all.filter(f -> f.toString().endsWith(".json")).sorted().toList();
    }
  }

  /** Sets the fields of a builder, as a program does. */
  static <T> T request(Class<T> type, JsonNode json) {
    try {
      Object builder = type.getMethod("builder").invoke(null);
      for (Map.Entry<String, JsonNode> field : json.properties()) {
        Method setter = null;
        for (Method m : builder.getClass().getMethods()) {
          if (m.getName().equals(field.getKey()) && !m.getParameterTypes()[0].getName().endsWith("Consumer")) {
            setter = m;
          }
        }
        if (setter == null) {
          throw new AssertionError(type.getSimpleName() + " has no field " + field.getKey());
        }
        setter.invoke(builder, value(setter.getGenericParameterTypes()[0], field.getValue()));
      }
      return type.cast(builder.getClass().getMethod("build").invoke(builder));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static Object value(Type type, JsonNode json) throws ReflectiveOperationException {
    if (json.isNull()) {
      return null;
    }
    if (type instanceof ParameterizedType p && p.getRawType() == List.class) {
      List<Object> list = new ArrayList<>();
      for (JsonNode one : json) {
        list.add(value(p.getActualTypeArguments()[0], one));
      }
      return list;
    }
    if (type == Instant.class) {
      return OffsetDateTime.parse(json.asText()).toInstant();
    }
    if (type == Duration.class) {
      return Wire.parseDuration(json.asText());
    }
    if (type == LocalDateTime.class) {
      return LocalDateTime.parse(json.asText());
    }
    if (type instanceof Class<?> c && OpenEnum.class.isAssignableFrom(c)) {
      return c.getConstructor(String.class).newInstance(json.asText());
    }
    if (type instanceof Class<?> c && Fields.class.isAssignableFrom(c)) {
      return request(c, json);
    }
    if (type == Object.class) {
      return json;
    }
    return MAPPER.convertValue(json, MAPPER.constructType(type));
  }

  /** Returns an answer as scripts describe it: records as maps by name. */
  public static Object described(Object value) {
    if (value instanceof Written<?> written) {
      Map<String, Object> map = new LinkedHashMap<>();
      ((Map<?, ?>) described(written.value())).forEach((k, v) -> map.put((String) k, v));
      map.put("inTime", written.inTime());
      return map;
    }
    if (value instanceof OpenEnum open) {
      return open.value();
    }
    if (value instanceof TimerbusException e) {
      return described(e);
    }
    if (value instanceof Fields fields) {
      return described(fields.fields());
    }
    if (value instanceof Record record) {
      Map<String, Object> map = new LinkedHashMap<>();
      for (RecordComponent component : record.getClass().getRecordComponents()) {
        try {
          map.put(component.getName(), described(component.getAccessor().invoke(record)));
        } catch (ReflectiveOperationException e) {
          throw new AssertionError(e);
        }
      }
      // Both names mean the same field.
      if (map.get("id") != null) {
        map.putIfAbsent("timerId", map.get("id"));
      }
      return map;
    }
    if (value instanceof List<?> list) {
      return list.stream().map(Scripts::described).toList();
    }
    if (value instanceof Map<?, ?> map) {
      Map<Object, Object> all = new LinkedHashMap<>();
      map.forEach((k, v) -> all.put(k, described(v)));
      return all;
    }
    return value;
  }

  static Map<String, Object> described(TimerbusException e) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("message", e.getMessage());
    map.put("mayBeApplied", e.mayBeApplied());
    map.put("progress", described(e.progress()));
    if (e instanceof ServiceException s) {
      map.put("kind", "service");
      map.put("status", s.status());
      map.put("code", s.code().value());
      map.put("field", s.field());
      map.put("details", s.details());
    } else {
      map.put("kind", e instanceof RequestTimeoutException ? "timeout" : "connection");
    }
    return map;
  }

  /** Fails if an answer is not as expected. */
  public static void check(JsonNode want, Object got, String path) {
    if (want.isTextual() && want.asText().equals("*")) {
      require(got != null, want, got, path);
    } else if (want.isNull() || want.isTextual() && want.asText().isEmpty()) {
      require(got == null || got.equals("") || got instanceof JsonNode n && n.isNull(), want, got, path);
    } else if (got instanceof JsonNode json && want.isContainerNode()) {
      if (want.isArray()) {
        require(json.size() == want.size(), want, got, path);
        for (int i = 0; i < want.size(); i++) {
          check(want.get(i), json.get(i), path + "[" + i + "]");
        }
      } else {
        want.properties().forEach(one -> check(one.getValue(), json.get(one.getKey()), path + "." + one.getKey()));
      }
    } else if (got instanceof JsonNode json) {
      require(json.equals(want), want, got, path);
    } else if (want.isObject()) {
      require(got instanceof Map, want, got, path);
      want.properties().forEach(one -> check(one.getValue(), ((Map<?, ?>) got).get(one.getKey()), path + "." + one.getKey()));
    } else if (want.isArray()) {
      require(got instanceof List<?> list && list.size() == want.size(), want, got, path);
      for (int i = 0; i < want.size(); i++) {
        check(want.get(i), ((List<?>) got).get(i), path + "[" + i + "]");
      }
    } else if (got instanceof Instant) {
      require(got.equals(OffsetDateTime.parse(want.asText()).toInstant()), want, got, path);
    } else if (got instanceof LocalDateTime) {
      require(got.equals(LocalDateTime.parse(want.asText())), want, got, path);
    } else if (got instanceof Duration) {
      require(got.equals(Wire.parseDuration(want.asText())), want, got, path);
    } else if (got instanceof Number number) {
      require(want.isNumber() && number.doubleValue() == want.asDouble(), want, got, path);
    } else if (got instanceof Boolean) {
      require(want.isBoolean() && want.asBoolean() == (Boolean) got, want, got, path);
    } else if (path.endsWith(".message")) {
      require(String.valueOf(got).contains(want.asText()), want, got, path);
    } else {
      require(want.isTextual() && want.asText().equals(got), want, got, path);
    }
  }

  private static void require(boolean condition, JsonNode want, Object got, String path) {
    if (!condition) {
      throw new AssertionError(path + " is " + got + ", want " + want);
    }
  }
}
