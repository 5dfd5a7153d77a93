package io.timerbus;

import com.fasterxml.jackson.databind.JsonNode;
import io.timerbus.types.ErrorCode;
import java.time.Duration;

/** An error answer of the service. */
public final class ServiceException extends TimerbusException {
  private static final long serialVersionUID = 1;

  private final int status;
  private final transient ErrorCode code;
  private final String reason;
  private final transient JsonNode details;
  private final Duration retryAfter;

  ServiceException(int status, String code, String reason, JsonNode details, Duration retryAfter) {
    super(code.isEmpty() ? status + ": " + reason : reason + " (" + code + ")", status >= 500 && status != 503, null);
    this.status = status;
    this.code = new ErrorCode(code);
    this.reason = reason;
    this.details = details == null ? Wire.MAPPER.createObjectNode() : details;
    this.retryAfter = retryAfter;
  }

  /** Returns the HTTP status. */
  public int status() {
    return status;
  }

  /** Returns the error code. Its value is "" if the answer is not from the service but, for example, from a proxy. */
  public ErrorCode code() {
    return code;
  }

  /** Returns a sentence with the problem, the value, and the accepted values. */
  public String reason() {
    return reason;
  }

  /** Returns the parts of the reason by name; they depend on the code. */
  public JsonNode details() {
    return details;
  }

  /** Returns the field that was refused, if the code is INVALID_INPUT: "callbackUrl", or "timers[7].callbackUrl" of a batch; else null. */
  public String field() {
    return Wire.text(details.get("field"));
  }

  /** Returns the Retry-After header, or null. */
  public Duration retryAfter() {
    return retryAfter;
  }
}
