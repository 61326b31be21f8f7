"""What can go wrong with a program's requests and their answers."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

import httpx

from proxy import forward

if TYPE_CHECKING:
    from collections.abc import Callable

ISSUE_TOKEN = "POST /api/oauth/token"
CREATE_MONITOR = "POST /api/monitors"
LIST_MONITORS = "GET /api/monitors"
LIST_INCIDENTS = "GET /api/incidents"
LOST = "connection closed"
RETRY_AFTER_SECONDS = 1
SHORT_LIFE_SECONDS = 60


class Outcomes:
    """Records the outcome of each operation, and lets everything pass."""

    def __init__(self) -> None:
        self.by_operation: dict[str, list[int | str]] = defaultdict(list)

    def answer(self, request: httpx.Request) -> httpx.Response | None:
        operation = f"{request.method} {request.url.path}"
        response = self.happen(operation, request)
        self.by_operation[operation].append(response.status_code if response else LOST)
        return response

    def happen(self, _operation: str, request: httpx.Request) -> httpx.Response | None:
        return forward(request)


class PagesOfTwo(Outcomes):
    """Asks for two rows a page, whatever the program asks for."""

    def happen(self, operation: str, request: httpx.Request) -> httpx.Response | None:
        request.url = request.url.copy_set_param("limit", 2)
        return super().happen(operation, request)


class EveryFailure(Outcomes):
    """Fails once in every way that the document tells a client to handle.

    The first token is about to expire. A monitor is created and the answer is lost; the next attempt finds
    the service away. The list is rate limited for the time it names, then refuses the token, then breaks.
    """

    def __init__(self) -> None:
        super().__init__()
        self._limited_until = 0.0
        self._failures: dict[str, deque[Callable[[httpx.Request], httpx.Response | None]]] = {
            ISSUE_TOKEN: deque([_shorten_the_token]),
            CREATE_MONITOR: deque([_lose_the_answer, _be_away]),
            LIST_MONITORS: deque([self._limit_the_rate, _refuse_the_token, _break]),
        }

    def happen(self, operation: str, request: httpx.Request) -> httpx.Response | None:
        if operation == LIST_MONITORS and time.monotonic() < self._limited_until:
            return self._limit_the_rate(request)
        failures = self._failures.get(operation)
        return failures.popleft()(request) if failures else forward(request)

    def _limit_the_rate(self, _: httpx.Request) -> httpx.Response:
        self._limited_until = time.monotonic() + RETRY_AFTER_SECONDS
        body = {"error": "Too many requests", "retry_after_seconds": RETRY_AFTER_SECONDS}
        return httpx.Response(429, json=body, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def _shorten_the_token(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json=forward(request).json() | {"expires_in": SHORT_LIFE_SECONDS})


def _lose_the_answer(request: httpx.Request) -> None:
    forward(request).raise_for_status()


def _be_away(_: httpx.Request) -> httpx.Response:
    body = {"error": "Service unavailable"}
    return httpx.Response(503, json=body, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def _refuse_the_token(_: httpx.Request) -> httpx.Response:
    challenge = 'Bearer realm="monitoring", error="invalid_token"'
    body = {"error": "Invalid or expired token"}
    return httpx.Response(401, json=body, headers={"WWW-Authenticate": challenge})


def _break(_: httpx.Request) -> httpx.Response:
    return httpx.Response(500, json={"error": "Internal server error"})


def answer_as_of_an_old_monitor(request: httpx.Request) -> httpx.Response:
    """Answer with the uptime of a monitor that has been watched for a month."""
    response = forward(request)
    if not request.url.path.endswith("/uptime"):
        return response
    return httpx.Response(response.status_code, json=response.json() | {"uptime_ratio": 0.99953})


def answer_with_more_fields(request: httpx.Request) -> httpx.Response:
    """Answer as a later version may: every object has a field that this document does not define."""
    response = forward(request)
    if not response.content:
        return response
    headers = {name: value for name, value in response.headers.items() if name != "content-length"}
    return httpx.Response(response.status_code, json=_with_more_fields(response.json()), headers=headers)


def _with_more_fields(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_more_fields(entry) for entry in value]
    if isinstance(value, dict) and value:  # request_headers is a map, and empty in the journey
        grown = {name: _with_more_fields(entry) for name, entry in value.items()}
        return grown | {"added_later": {"is": "unknown"}}
    return value
