"""Calls the service's API. Before a retry, the client waits for the time that the response specifies."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import httpx2

from monitoring.as_code.kinds import Kind

ATTEMPTS = 6  # if a request may succeed on a retry; all attempts together take about half a minute
TIMEOUT_SECONDS = 60
_READS = frozenset({"GET"})


class RefusedError(Exception):
    """The service refused a request or did not respond. The exception has the service's message, if any."""

    def __init__(self, sentence: str, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status


class Client:
    """An API client for one team. Its methods raise `RefusedError` if the service refuses a request."""

    def __init__(self, url: str, credentials: tuple[str, str]) -> None:
        self._credentials = credentials
        self._http = httpx2.Client(base_url=url, timeout=TIMEOUT_SECONDS, headers={"Accept-Language": "en"})
        self._token = ""

    def list(self, kind: Kind) -> Iterator[dict[str, Any]]:
        """Yield all resources of a kind, newest first."""
        cursor: str | None = None
        while True:
            query = {"limit": 100, **({"cursor": cursor} if cursor else {})}
            page = self.ask("GET", kind.path, params=query).json()
            yield from page[kind.section]
            if (cursor := page["next_cursor"]) is None:
                return

    def read(self, kind: Kind, row_id: str) -> tuple[dict[str, Any], str]:
        """Return a resource and its ETag."""
        answer = self.ask("GET", f"{kind.path}/{row_id}")
        return answer.json(), answer.headers["ETag"]

    def ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        **request: Any,  # noqa: ANN401 - what httpx2 takes
    ) -> httpx2.Response:
        """Send a request and return the response. Temporary failures are retried, up to `ATTEMPTS` attempts.

        The header Idempotency-Key ensures that a retried write takes effect only once.
        """
        own = {} if method in _READS else {"Idempotency-Key": str(uuid4())}
        for attempt in range(ATTEMPTS):
            try:
                answer = self._http.request(
                    method, path, headers={**own, **(headers or {}), **self._authorization()}, **request
                )
            except httpx2.HTTPError as error:
                problem, wait_seconds = f"{self._http.base_url} does not respond: {error}", 2**attempt
            else:
                if answer.is_success:
                    return answer
                if answer.status_code == HTTPStatus.UNAUTHORIZED and self._token and attempt == 0:
                    self._token = ""  # the token may have expired
                    continue
                if answer.status_code != HTTPStatus.TOO_MANY_REQUESTS and not answer.is_server_error:
                    raise RefusedError(_sentence_of(answer), answer.status_code)
                problem, wait_seconds = _sentence_of(answer), _wait_of(answer, attempt)
            if attempt + 1 < ATTEMPTS:
                print(f"{problem}; trying again in {wait_seconds} s", file=sys.stderr)  # noqa: T201 - a terminal
                time.sleep(wait_seconds)
        raise RefusedError(problem)

    def _authorization(self) -> dict[str, str]:
        if not self._token:
            answer = self._http.post(
                "/api/oauth/token", auth=self._credentials, data={"grant_type": "client_credentials"}
            )
            if answer.status_code == HTTPStatus.UNAUTHORIZED:
                raise RefusedError("MONITORING_API_KEY is not a key of this service", answer.status_code)
            if not answer.is_success:
                raise RefusedError(_sentence_of(answer), answer.status_code)
            self._token = answer.json()["access_token"]
        return {"Authorization": f"Bearer {self._token}"}


def _sentence_of(answer: httpx2.Response) -> str:
    try:
        return str(answer.json()["error"])
    except (ValueError, KeyError, TypeError):
        return f"{answer.url} returned {answer.status_code}"


def _wait_of(answer: httpx2.Response, attempt: int) -> int:
    given = answer.headers.get("Retry-After", "")
    return int(given) if given.isdigit() else 2**attempt
