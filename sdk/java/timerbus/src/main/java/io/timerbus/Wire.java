package io.timerbus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Conversion between the types of Java and the JSON of the HTTP API. For the generated types; programs do not need it. */
public final class Wire {
  static final ObjectMapper MAPPER = new ObjectMapper();

  private static final DateTimeFormatter INSTANT = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'");
  private static final Pattern PART = Pattern.compile("(\\d+(?:\\.\\d+)?)(ns|us|µs|ms|s|m|h|d)");
  private static final Map<String, Long> NANOSECONDS =
      Map.of(
          "ns", 1L, "us", 1_000L, "µs", 1_000L, "ms", 1_000_000L, "s", 1_000_000_000L, "m", 60_000_000_000L, "h",
          3_600_000_000_000L, "d", 86_400_000_000_000L);

  private Wire() {}

  /** Parses a duration of the API, such as "1h30m". */
  public static Duration parseDuration(String text) {
    boolean negative = text.startsWith("-");
    String digits = negative ? text.substring(1) : text;
    Duration total = Duration.ZERO;
    if (digits.equals("0")) {
      return total;
    }
    Matcher part = PART.matcher(digits);
    int end = 0;
    while (end < digits.length() && part.find(end) && part.start() == end) {
      BigDecimal nanoseconds = new BigDecimal(part.group(1)).multiply(BigDecimal.valueOf(NANOSECONDS.get(part.group(2))));
      BigDecimal[] seconds = nanoseconds.divideAndRemainder(BigDecimal.valueOf(1_000_000_000L));
      total = total.plusSeconds(seconds[0].longValueExact()).plusNanos(seconds[1].longValue());
      end = part.end();
    }
    if (end == 0 || end != digits.length()) {
      throw new IllegalArgumentException('"' + text + "\" is not a duration: want numbers with units, such as \"1h30m\"");
    }
    return negative ? total.negated() : total;
  }

  /** Writes an instant as the API accepts it, with milliseconds. */
  public static String format(Instant instant) {
    return INSTANT.format(instant.atOffset(ZoneOffset.UTC));
  }

  static JsonNode encode(Object value) {
    if (value instanceof Fields fields) {
      ObjectNode object = MAPPER.createObjectNode();
      fields.fields().forEach((name, one) -> object.set(name, encode(one)));
      return object;
    }
    if (value instanceof Instant instant) {
      return MAPPER.getNodeFactory().textNode(format(instant));
    }
    if (value instanceof Duration duration) {
      return MAPPER.getNodeFactory().textNode(duration.toMillis() + "ms");
    }
    if (value instanceof LocalDateTime local) {
      return MAPPER.getNodeFactory().textNode(DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(local));
    }
    if (value instanceof OpenEnum open) {
      return MAPPER.getNodeFactory().textNode(open.value());
    }
    if (value instanceof List<?> list) {
      ArrayNode array = MAPPER.createArrayNode();
      list.forEach(one -> array.add(encode(one)));
      return array;
    }
    return MAPPER.valueToTree(value);
  }

  /** Adds a field of an answer, if it is there. */
  public static void put(Map<String, Object> values, JsonNode json, String name, Function<JsonNode, Object> read) {
    JsonNode node = json.get(name);
    if (!absent(node)) {
      values.put(name, read.apply(node));
    }
  }

  /** Fails if a field is absent. */
  public static void require(JsonNode json, String name) {
    if (absent(json.get(name))) {
      throw new IllegalArgumentException(name + " is absent");
    }
  }

  private static boolean absent(JsonNode node) {
    return node == null || node.isNull();
  }

  /** Reads a string. */
  public static String text(JsonNode node) {
    return absent(node) ? null : node.asText();
  }

  /** Reads an integer; 0 if it is absent. */
  public static long number(JsonNode node) {
    return absent(node) ? 0 : node.asLong();
  }

  /** Reads an integer. */
  public static Long optionalNumber(JsonNode node) {
    return absent(node) ? null : Long.valueOf(node.asLong());
  }

  /** Reads a number; 0 if it is absent. */
  public static double decimal(JsonNode node) {
    return absent(node) ? 0 : node.asDouble();
  }

  /** Reads a number. */
  public static Double optionalDecimal(JsonNode node) {
    return absent(node) ? null : Double.valueOf(node.asDouble());
  }

  /** Reads a truth value; false if it is absent. */
  public static boolean truth(JsonNode node) {
    return !absent(node) && node.asBoolean();
  }

  /** Reads a truth value. */
  public static Boolean optionalTruth(JsonNode node) {
    return absent(node) ? null : Boolean.valueOf(node.asBoolean());
  }

  /** Reads an instant. */
  public static Instant instant(JsonNode node) {
    return absent(node) ? null : OffsetDateTime.parse(node.asText()).toInstant();
  }

  /** Reads a duration. */
  public static Duration duration(JsonNode node) {
    return absent(node) ? null : parseDuration(node.asText());
  }

  /** Reads a time without an offset. */
  public static LocalDateTime local(JsonNode node) {
    return absent(node) ? null : LocalDateTime.parse(node.asText());
  }

  /** Reads a value of an open set. */
  public static <T> T value(JsonNode node, Function<String, T> of) {
    return absent(node) ? null : of.apply(node.asText());
  }

  /** Reads an object. */
  public static <T> T object(JsonNode node, Function<JsonNode, T> from) {
    return absent(node) ? null : from.apply(node);
  }

  /** Reads a list. */
  public static <T> List<T> list(JsonNode node, Function<JsonNode, T> item) {
    if (absent(node)) {
      return null;
    }
    List<T> all = new ArrayList<>(node.size());
    node.forEach(one -> all.add(item.apply(one)));
    return List.copyOf(all);
  }

  /** Reads an object with strings. */
  public static Map<String, String> texts(JsonNode node) {
    if (absent(node)) {
      return null;
    }
    Map<String, String> all = new LinkedHashMap<>();
    node.properties().forEach(one -> all.put(one.getKey(), one.getValue().asText()));
    return all;
  }

  /** Reads any JSON. */
  public static JsonNode any(JsonNode node) {
    return absent(node) ? null : node;
  }
}
