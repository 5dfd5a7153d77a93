"""A receiver for FastAPI and Starlette."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from .webhook import AsyncHandler, Deduplication, Receiver


def receiver(path: str, handler: AsyncHandler, *, secrets: str | list[str] | None, deduplication: Deduplication | None = None) -> APIRouter:
    """Return a router with one route that receives callbacks. The handler may be asynchronous.

    ``app.include_router(receiver("/timers", handle, secrets=SECRET))``
    """
    verified = Receiver(secrets, deduplication=deduplication)
    router = APIRouter()

    async def receive(request: Request) -> Response:
        reply = await verified.areceive(handler, request.headers, await request.body())
        return Response(reply.content, status_code=reply.status, headers=reply.headers)

    router.add_route(path, receive, methods=["POST"], include_in_schema=False)
    return router
