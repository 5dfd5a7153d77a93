package io.timerbus;

import java.util.Collections;
import java.util.Map;

/** The fields of a request. A field that is not set is absent; a field that is set to null is sent as null. */
public abstract class Fields {
  private final Map<String, Object> values;

  /** Takes the fields by their names in JSON. */
  protected Fields(Map<String, Object> values) {
    this.values = Collections.unmodifiableMap(values);
  }

  /** Returns the fields that are set, by their names in JSON. */
  public Map<String, Object> fields() {
    return values;
  }

  /** Returns a field, or null if it is not set. */
  @SuppressWarnings("unchecked")
  protected <T> T get(String name) {
    return (T) values.get(name);
  }

  @Override
  public boolean equals(Object other) {
    return other != null && getClass() == other.getClass() && values.equals(((Fields) other).values);
  }

  @Override
  public int hashCode() {
    return values.hashCode();
  }

  @Override
  public String toString() {
    return getClass().getSimpleName() + values.keySet();
  }
}
