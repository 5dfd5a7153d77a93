"""Executes the conformance scripts with both clients."""

from __future__ import annotations

import inspect
import json
import os
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import httpx
import pytest
import scripts
from anyio.from_thread import start_blocking_portal

from timerbus import AsyncTimerbus, Timerbus, TimerbusError
from timerbus._wire import parse_duration

Call = Callable[[dict[str, Any], dict[str, Any]], Any]

PROXY = os.environ.get("TIMERBUS_CONFORMANCE_URL", "")


def control(method: str, path: str, body: Any = None) -> Any:
    """Call the proxy itself; it may be refusing connections."""
    data = None if body is None else json.dumps(body).encode()
    end = time.monotonic() + 10
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{PROXY}/conformance/{path}", data, method=method), timeout=10) as response:
                text = response.read()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
            continue
        return json.loads(text) if text else None


def options(step: dict[str, Any]) -> dict[str, Any]:
    given = step.get("client", {})
    return {
        "token": "conformance",
        "tries": given.get("tries", 4),
        "longest_pause": parse_duration(given.get("longest", "50ms")),
        "timeout": parse_duration(given.get("timeout", "30s")),
    }


def called(client: Any, step: dict[str, Any], request: dict[str, Any]) -> Any:
    resource, method = scripts.METHODS[step["call"]].split(".")
    positional, named = scripts.arguments(step["call"], request)
    return getattr(getattr(client, resource), method)(*positional, **named)


@contextmanager
def synchronous() -> Iterator[Call]:
    with httpx.Client() as http:

        def call(step: dict[str, Any], request: dict[str, Any]) -> Any:
            answer = called(Timerbus(PROXY, http_client=http, **options(step)), step, request)
            return list(answer) if inspect.isgenerator(answer) else answer

        yield call


@contextmanager
def asynchronous() -> Iterator[Call]:
    with start_blocking_portal() as portal:
        http = httpx.AsyncClient()

        async def answered(step: dict[str, Any], request: dict[str, Any]) -> Any:
            answer = called(AsyncTimerbus(PROXY, http_client=http, **options(step)), step, request)
            return [one async for one in answer] if inspect.isasyncgen(answer) else await answer

        yield lambda step, request: portal.call(answered, step, request)
        portal.call(http.aclose)


def attempt(call: Call, step: dict[str, Any], variables: dict[str, str]) -> None:
    control("POST", "faults", step.get("faults", []))
    request = scripts.replaced(step.get("request", {}), variables)
    begin = time.monotonic()
    try:
        answer = call(step, request)
    except TimerbusError as error:
        if "error" not in step:
            raise
        scripts.check(scripts.replaced(step["error"], variables), scripts.described(error), "error")
    else:
        assert "error" not in step, f"the answer is {answer!r}, want {step['error']}"
        if step["call"] != "RevokeKey":
            scripts.check(scripts.replaced(step["expect"], variables), answer, "answer")
        for name, field in step.get("save", {}).items():
            variables[name] = scripts.field(answer, field)
    if "atLeast" in step:
        assert time.monotonic() - begin >= parse_duration(step["atLeast"]).total_seconds()
    if "tries" in step:
        assert control("GET", "tries")["tries"] == step["tries"]


def run(call: Call, step: dict[str, Any], variables: dict[str, str]) -> None:
    end = time.monotonic() + 20
    while True:
        try:
            return attempt(call, step, variables)
        except AssertionError:
            if not step.get("until") or time.monotonic() > end:
                raise
            time.sleep(0.05)


def renamed(value: Any, suffix: str) -> Any:
    """Both clients run on the same service, so namespaces and keys of one have other names."""
    if isinstance(value, dict):
        return {k: renamed(v, suffix) if k not in ("namespace", "name") or not isinstance(v, str) else v + suffix for k, v in value.items()}
    return [renamed(one, suffix) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("script", [name for name, _ in scripts.load()])
@pytest.mark.parametrize("client", [synchronous, asynchronous])
def test_script(script: str, client: Callable[[], AbstractContextManager[Call]]) -> None:
    assert PROXY, "TIMERBUS_CONFORMANCE_URL is not set: run `make sdk-test-python`"
    steps = dict(scripts.load())[script]
    variables = {"proxy": PROXY}
    with client() as call:
        for step in steps:
            if client is asynchronous:
                step = {k: renamed(v, "-async") if k in ("request", "expect", "error") else v for k, v in step.items()}
                if step["call"] == "ListKeys":
                    continue
            try:
                run(call, step, variables)
            except Exception as error:
                raise AssertionError(f"{script}: {step['name']}: {error}") from error
