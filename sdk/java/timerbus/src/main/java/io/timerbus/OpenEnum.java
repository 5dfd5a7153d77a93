package io.timerbus;

/** A value of an open set: an answer may contain a value that this release does not know. */
public interface OpenEnum {
  /** Returns the value as in the API. */
  String value();

  /** Reports whether this release knows the value. */
  boolean isKnown();
}
