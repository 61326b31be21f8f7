"""Create a monitor and show the state of all, with a token that stays fresh and retries that never act twice.

$ openapi-python-client generate --path openapi.yaml --meta none --output-path monitoring_client
$ pip install attrs httpx
$ BASE_URL=https://monitoring.example.com CLIENT_ID=mon_live_… CLIENT_SECRET=mon_secret_… python monitors.py
"""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
from monitoring_client import AuthenticatedClient
from monitoring_client.api.checks import get_uptime
from monitoring_client.api.incidents import list_incidents
from monitoring_client.api.monitors import create_monitor, list_monitors
from monitoring_client.models import (
    AccessToken,
    IncidentList,
    IncidentState,
    Monitor,
    MonitorCreate,
    MonitorList,
    Uptime,
)
from monitoring_client.types import UNSET

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

BASE_URL = os.environ["BASE_URL"]
ATTEMPTS = 6
RENEW_EARLY_SECONDS = 300


def main() -> None:
    client = AuthenticatedClient(
        base_url=BASE_URL,
        token="",  # FreshToken sends its own
        timeout=httpx.Timeout(30),
        httpx_args={
            "auth": FreshToken(os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]),
            "transport": RetryingTransport(),
        },
    )
    # One key per write, not per attempt: it lets the service recognise a repetition.
    created = create_monitor.sync(
        client=client,
        body=MonitorCreate(url="https://shop.example.com/health", interval_seconds=60),
        idempotency_key=str(uuid4()),
    )
    if not isinstance(created, Monitor):
        raise SystemExit(f"not created: {created}")
    for monitor in list_all_monitors(client):
        print(monitor.status, monitor.name, monitor.url)

    uptime = get_uptime.sync(created.id, client=client)
    if not isinstance(uptime, Uptime):
        raise SystemExit(f"no uptime: {uptime}")
    ratio = uptime.uptime_ratio
    print("uptime of 30 days:", "not known yet" if ratio is None else f"{ratio:.3%}")
    open_incidents = list_incidents.sync(client=client, state=IncidentState.OPEN)
    if not isinstance(open_incidents, IncidentList):
        raise SystemExit(f"no incidents: {open_incidents}")
    for incident in open_incidents.incidents:  # the newest 50
        print("down:", incident.error_message)


def list_all_monitors(client: AuthenticatedClient) -> Iterator[Monitor]:
    cursor: str | None = None
    while True:
        page = list_monitors.sync(client=client, cursor=cursor or UNSET)
        if not isinstance(page, MonitorList):
            raise SystemExit(f"not listed: {page}")
        yield from page.monitors
        cursor = page.next_cursor
        if cursor is None:
            return


class FreshToken(httpx.Auth):
    """Gets a new token if there is none, or if it expires soon or is refused."""

    requires_response_body = True

    def __init__(self, client_id: str, client_secret: str) -> None:
        self._credentials = {"client_id": client_id, "client_secret": client_secret}
        self._token = ""
        self._renew_at = 0.0

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        if time.monotonic() >= self._renew_at:
            yield from self._renew()
        request.headers["Authorization"] = f"Bearer {self._token}"
        response = yield request
        if response.status_code == httpx.codes.UNAUTHORIZED:
            yield from self._renew()
            request.headers["Authorization"] = f"Bearer {self._token}"
            yield request

    def _renew(self) -> Generator[httpx.Request, httpx.Response]:
        response = yield httpx.Request("POST", f"{BASE_URL}/api/oauth/token", data=self._credentials)
        response.raise_for_status()
        token = AccessToken.from_dict(response.json())
        self._token = token.access_token
        self._renew_at = time.monotonic() + token.expires_in - RENEW_EARLY_SECONDS


class RetryingTransport(httpx.HTTPTransport):
    """Sends again after 429, 5xx and a broken connection: when the service says, else with growing pauses."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for attempt in range(1, ATTEMPTS):
            try:
                response = super().handle_request(request)
            except httpx.TransportError:
                time.sleep(pause_seconds(attempt, None))
                continue
            if response.status_code != httpx.codes.TOO_MANY_REQUESTS and not response.is_server_error:
                return response
            response.read()
            time.sleep(pause_seconds(attempt, response))
        return super().handle_request(request)


def pause_seconds(attempt: int, response: httpx.Response | None) -> float:
    """Return at least Retry-After, and different values for clients that failed together."""
    if response is not None and "Retry-After" in response.headers:
        return int(response.headers["Retry-After"]) + random.uniform(0, 0.5)
    if response is not None and response.status_code == httpx.codes.TOO_MANY_REQUESTS:
        return 60 + random.uniform(0, 0.5)
    return 2.0 ** (attempt - 1) * random.uniform(0.5, 1)


if __name__ == "__main__":
    main()
