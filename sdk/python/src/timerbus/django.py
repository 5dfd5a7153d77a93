"""A receiver for Django."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from .webhook import Deduplication, Handler, Receiver


def receiver(
    handler: Handler, *, secrets: str | list[str] | None, deduplication: Deduplication | None = None
) -> Callable[[HttpRequest], HttpResponse]:
    """Return a view that receives callbacks.

    ``urlpatterns = [path("timers", receiver(handle, secrets=SECRET))]``
    """
    verified = Receiver(secrets, deduplication=deduplication)

    def receive(request: HttpRequest) -> HttpResponse:
        if request.method != "POST":
            return HttpResponse(status=405, headers={"Allow": "POST"})
        reply = verified.receive(handler, dict(request.headers), request.body)
        return HttpResponse(reply.content, status=reply.status, headers=reply.headers)

    return cast(Callable[[HttpRequest], HttpResponse], csrf_exempt(receive))
