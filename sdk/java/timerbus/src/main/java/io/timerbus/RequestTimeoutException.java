package io.timerbus;

/** The answer did not arrive in time. */
public final class RequestTimeoutException extends ConnectionException {
  private static final long serialVersionUID = 1;

  RequestTimeoutException(String message, boolean mayBeApplied, Throwable cause) {
    super(message, mayBeApplied, cause);
  }
}
