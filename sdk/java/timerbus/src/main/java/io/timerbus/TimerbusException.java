package io.timerbus;

/** A failed call. */
public abstract class TimerbusException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final boolean mayBeApplied;
  private transient Object progress;

  TimerbusException(String message, boolean mayBeApplied, Throwable cause) {
    super(message, cause);
    this.mayBeApplied = mayBeApplied;
  }

  /**
   * Returns false if the call was certainly not applied, and true after a broken connection, a timeout, and a status of 500 or more
   * except 503.
   */
  public boolean mayBeApplied() {
    return mayBeApplied;
  }

  /** Returns the total of the pages before the error, if a call over all pages failed; else null. */
  public Object progress() {
    return progress;
  }

  void setProgress(Object total) {
    this.progress = total;
  }
}
