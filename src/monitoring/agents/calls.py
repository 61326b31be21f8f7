"""Calls operations of a service over HTTP, and returns the answers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote

import httpx2

from monitoring.agents.input_schemas import argument_parameters
from monitoring.contract.document import Json, Operation

# Testing a channel takes up to ten seconds, and its exam longer.
TIMEOUT_SECONDS = 60.0

# Seconds before its end at which a token is no longer used, so that it does not expire on the way.
EARLY_SECONDS = 60.0


class ServiceError(Exception):
    """The service did not answer, or refused a key: the sentence says which."""


class UnusableArgumentsError(Exception):
    """Arguments from which no request can be made."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service answered: a status, the body's text as it came, and whether it is of a sandbox."""

    status_code: int
    text: str
    is_test: bool

    @property
    def is_error(self) -> bool:
        """Whether the service did not do what it was asked to."""
        return self.status_code >= HTTPStatus.BAD_REQUEST


@dataclass(frozen=True, slots=True)
class Grant:
    """An access token, and the scopes that it has."""

    token: str
    scopes: frozenset[str]


class Service:
    """A running service at `url`. No redirect is followed, so a token goes nowhere else."""

    def __init__(self, url: str, client: httpx2.AsyncClient) -> None:
        self.url = url.rstrip("/")
        self._client = client

    async def call(self, operation: Operation, arguments: Mapping[str, Json], token: str) -> Answer:
        """Call an operation for the owner of a token.

        Raises ServiceError if there is no answer, and UnusableArgumentsError if no request can be made.
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
            raise ServiceError(f"{self.url} did not answer: {type(error).__name__}") from error


class Key:
    """An API key, whose token is renewed before it expires."""

    def __init__(self, service: Service, client_id: str, client_secret: str) -> None:
        self._service = service
        self._credentials = (client_id, client_secret)
        self._grant: Grant | None = None
        self._renew_at = 0.0

    async def grant(self, *, is_refused: bool = False) -> Grant:
        """Return a token that is valid for a while, a new one if the last was refused.

        Raises ServiceError.
        """
        if self._grant is None or is_refused or time.monotonic() >= self._renew_at:
            self._grant, lifetime_seconds = await self._service.fetch_grant(*self._credentials)
            self._renew_at = time.monotonic() + lifetime_seconds - EARLY_SECONDS
        return self._grant


Arranged = tuple[str, dict[str, Json], dict[str, Json]]


def _arrange(operation: Operation, arguments: Mapping[str, Json]) -> Arranged:
    """Put arguments where they belong: path, query and body. What the document does not know is sent too.

    The service says what is wrong with that, in its own words. A null in the query is left out.
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
    """Write a value as one segment of a path. Dots are escaped too, so that it leads nowhere else."""
    return quote(str(value), safe="").replace(".", "%2E")
