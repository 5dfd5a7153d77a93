package io.timerbus;

import io.timerbus.types.*;
import java.util.List;

/** API keys: credentials with grants. Except for caller, the caller needs admin on all namespaces. */
public final class Keys {
  private final Calls calls;

  Keys(Calls calls) {
    this.calls = calls;
  }

  /** Creates an API key. It is not repeated after a broken connection, because the token would be lost. */
  public NewKey create(CreateKeyRequest request) {
    return calls.one(NewKey::from, "keys/create", request, false);
  }

  /** Gives an API key a new token. It is not repeated after a broken connection. */
  public NewKey rotate(RotateKeyRequest request) {
    return calls.one(NewKey::from, "keys/rotate", request, false);
  }

  /** Revokes an API key. It is not repeated after a broken connection. */
  public void revoke(String name) {
    calls.send("keys/revoke", RevokeKeyRequest.of(b -> b.name(name)), false);
  }

  /** Returns the name and the grants of the caller. Every caller whose credential is accepted may ask. */
  public Caller caller() {
    return Caller.from(calls.send("caller/get", Wire.MAPPER.createObjectNode(), true).json());
  }

  /** Returns all API keys, ordered by name. */
  public List<Key> all() {
    return KeyList.from(calls.send("keys/list", Wire.MAPPER.createObjectNode(), true).json()).keys();
  }
}
