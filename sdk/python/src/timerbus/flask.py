"""A receiver for Flask."""

from __future__ import annotations

from flask import Blueprint, Response, request

from .webhook import Deduplication, Handler, Receiver


def receiver(
    path: str,
    handler: Handler,
    *,
    secrets: str | list[str] | None,
    deduplication: Deduplication | None = None,
    name: str = "timerbus",
) -> Blueprint:
    """Return a blueprint with one route that receives callbacks.

    ``app.register_blueprint(receiver("/timers", handle, secrets=SECRET))``
    """
    verified = Receiver(secrets, deduplication=deduplication)
    blueprint = Blueprint(name, __name__)

    @blueprint.post(path)
    def receive() -> Response:
        reply = verified.receive(handler, dict(request.headers), request.get_data())
        return Response(reply.content, status=reply.status, headers=reply.headers)

    return blueprint
