"""Calls a service's operations over HTTP, and returns the responses."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote

import httpx2

from monitoring.agents.input_schemas import argument_parameters
from monitoring.contract.document import Json, Operation

# A test of a notification channel takes up to ten seconds, and `examine_notification_channel` takes longer.
TIMEOUT_SECONDS = 60.0

# A token is renewed this long before it expires, so that it does not expire in transit.
EARLY_SECONDS = 60.0


class ServiceError(Exception):
    """The service did not respond, or refused a key. The message says which of the two happened."""


class UnusableArgumentsError(Exception):
    """The arguments do not make a valid request."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The service's response: its status, its unchanged body text, and whether it is from a sandbox."""

    status_code: int
    text: str
    is_test: bool

    @property
    def is_error(self) -> bool:
        """Whether the status is 400 or higher."""
        return self.status_code >= HTTPStatus.BAD_REQUEST


@dataclass(frozen=True, slots=True)
class Grant:
    """An access token with its scopes."""

    token: str
    scopes: frozenset[str]


class Service:
    """A running service at `url`. Redirects are not followed, so tokens are sent nowhere else."""

    def __init__(self, url: str, client: httpx2.AsyncClient) -> None:
        self.url = url.rstrip("/")
        self._client = client

    async def call(self, operation: Operation, arguments: Mapping[str, Json], token: str) -> Answer:
        """Call an operation with a token.

        Raises ServiceError if there is no response, and UnusableArgumentsError for a missing path argument.
        """
        path, query, body = _arrange(operation, arguments)
        request: dict[str, Json] = {"params": query} if query else {}
        if "requestBody" in operation.definition:
            request["json"] = body
        headers = {"Authorization": f"Bearer {token}"}
        response = await self._request(operation.method.upper(), path, headers=headers, **request)
        is_test = response.headers.get("monitoring-mode") == "test"
        return Answer(response.status_code, response.text, is_test)

    async def fetch_grant(self, client_id: str, client_secret: str) -> tuple[Grant, float]:
        """Exchange a key for a token, and return it with its lifetime in seconds. Raises ServiceError."""
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": client_secret}
        response = await self._request("POST", "/api/oauth/token", data=form)
        if response.status_code != HTTPStatus.OK:
            raise ServiceError(f"{self.url} refused the key with {response.status_code}: {response.text}")
        token = response.json()
        return Grant(token["access_token"], frozenset(token["scope"].split())), token["expires_in"]

    async def _request(self, method: str, path: str, **request: Json) -> httpx2.Response:
        try:
            return await self._client.request(method, self.url + path, timeout=TIMEOUT_SECONDS, **request)
        except httpx2.HTTPError as error:
            raise ServiceError(f"{self.url} did not respond: {type(error).__name__}") from error


class Key:
    """An API key, whose token is renewed before it expires."""

    def __init__(self, service: Service, client_id: str, client_secret: str) -> None:
        self._service = service
        self._credentials = (client_id, client_secret)
        self._grant: Grant | None = None
        self._renew_at = 0.0

    async def grant(self, *, is_refused: bool = False) -> Grant:
        """Return a valid token with its scopes. Raises ServiceError.

        The token is renewed if it expires soon, or if the service refused the current token (`is_refused`).
        """
        if self._grant is None or is_refused or time.monotonic() >= self._renew_at:
            self._grant, lifetime_seconds = await self._service.fetch_grant(*self._credentials)
            self._renew_at = time.monotonic() + lifetime_seconds - EARLY_SECONDS
        return self._grant


Arranged = tuple[str, dict[str, Json], dict[str, Json]]


def _arrange(operation: Operation, arguments: Mapping[str, Json]) -> Arranged:
    """Return the path, query and body that the arguments make. A query argument that is null is omitted.

    Undocumented arguments are sent too, because the service responds with an error message about them.
    """
    path = operation.path
    query: dict[str, Json] = {}
    body: dict[str, Json] = {}
    places = {parameter["name"]: parameter["in"] for parameter in argument_parameters(operation)}
    has_body = "requestBody" in operation.definition
    for name, value in arguments.items():
        place = places.get(name, "body" if has_body else "query")
        if place == "path":
            path = path.replace(f"{{{name}}}", _path_segment(value))
        elif place == "body":
            body[name] = value
        elif value is not None:
            query[name] = value
    if "{" in path:
        raise UnusableArgumentsError(f"{path[path.index('{') + 1 : path.index('}')]}: is required")
    return path, query, body


def _path_segment(value: Json) -> str:
    """Encode a value as one path segment. Dots are escaped too, which prevents path traversal."""
    return quote(str(value), safe="").replace(".", "%2E")
