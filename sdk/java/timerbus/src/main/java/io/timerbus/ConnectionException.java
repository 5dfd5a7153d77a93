package io.timerbus;

/** The connection could not be made, or broke before the whole answer arrived. */
public class ConnectionException extends TimerbusException {
  private static final long serialVersionUID = 1;

  ConnectionException(String message, boolean mayBeApplied, Throwable cause) {
    super(message, mayBeApplied, cause);
  }
}
