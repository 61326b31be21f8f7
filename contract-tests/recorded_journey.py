"""Sends valid requests to most of the API, for tools that inspect the traffic."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from running_service import WEBHOOK_SECRET
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cast import Player
    from unsteady_server import UnsteadyServer

NOBODYS = "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70"
ARTICLE = {
    "article": {"id": "art_1", "title": "Running shoes", "content": "# Fit first", "format": "markdown"}
}
PUBLISHER = {"X-Webhook-Secret": WEBHOOK_SECRET}


class Recorder:
    """Sends requests to a URL, and keeps every exchange as JSON."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.exchanges: list[dict[str, Any]] = []
        client.event_hooks = {"response": [self._keep]}

    def expect(self, status: int, method: str, path: str, **options: Any) -> Any:
        """Send a request, assert its status, and return the body of the response."""
        answer = self.client.request(method, path, **options)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def _keep(self, answer: httpx.Response) -> None:
        self.exchanges.append(
            {
                "method": answer.request.method,
                "url": str(answer.request.url),
                "request_headers": dict(answer.request.headers),
                "request_body": answer.request.content.decode(),
                "status": answer.status_code,
                "headers": dict(answer.headers),
                "body": answer.read().decode(),
            }
        )


@contextmanager
def recorder_at(address: str) -> Iterator[Recorder]:
    """Record what is sent to a base URL until the block ends."""
    with httpx.Client(base_url=address, timeout=30) as client:
        yield Recorder(client)


def travel(recorder: Recorder, owner: Player, reader: Player, server: UnsteadyServer) -> None:
    """Use the API: fetch a token, break a monitor, create channels and an article, and send bad requests."""
    use_tokens(recorder, owner)
    watch_a_monitor(recorder, server)
    rest_for_a_deployment(recorder)
    make_channels(recorder, server)
    submit_an_article(recorder)
    be_refused(recorder, reader)
    read_about_the_service(recorder)


def use_tokens(recorder: Recorder, owner: Player) -> None:
    credentials = {"client_id": owner.client_id, "client_secret": owner.client_secret}
    token = recorder.expect(200, "POST", "/api/oauth/token", data=credentials)["access_token"]
    spare = recorder.expect(200, "POST", "/api/oauth/token", auth=(owner.client_id, owner.client_secret))
    asked = credentials | {"token": spare["access_token"]}
    recorder.expect(200, "POST", "/api/oauth/introspect", data=asked)
    recorder.expect(200, "POST", "/api/oauth/revoke", data=asked)
    recorder.expect(401, "POST", "/api/oauth/token", data=credentials | {"client_secret": "wrong"})
    recorder.expect(400, "POST", "/api/oauth/token", data=credentials | {"scope": "unknown"})
    recorder.client.headers["Authorization"] = f"Bearer {token}"


def watch_what_is_down(recorder: Recorder, server: UnsteadyServer) -> str:
    """Create a monitor that goes down immediately, and return its id."""
    server.is_broken = True
    body = {"url": server.url, "interval_seconds": 86_400, "failure_threshold": 1, "tags": ["shop"]}
    monitor_id: str = recorder.expect(201, "POST", "/api/monitors", json=body)["id"]
    wait_until(lambda: recorder.expect(200, "GET", f"/api/monitors/{monitor_id}")["status"] == "down")
    return monitor_id


def watch_a_monitor(recorder: Recorder, server: UnsteadyServer) -> None:
    monitor_id = watch_what_is_down(recorder, server)
    path = f"/api/monitors/{monitor_id}"
    [incident] = recorder.expect(200, "GET", "/api/incidents", params={"monitor_id": monitor_id})["incidents"]
    recorder.expect(200, "GET", f"/api/incidents/{incident['id']}")
    recorder.expect(202, "POST", f"{path}/check")
    recorder.expect(200, "GET", "/api/monitors", params={"limit": 1, "tag": "shop", "paused": "false"})
    recorder.expect(200, "GET", f"{path}/checks", params={"outcome": "down"})
    recorder.expect(200, "GET", f"{path}/uptime", params={"window": "day"})
    recorder.expect(200, "GET", f"{path}/response-times", params={"window": "hour"})
    recorder.expect(200, "PATCH", path, json={"paused": True, "slow_threshold_ms": None})
    recorder.expect(409, "POST", f"{path}/check")
    recorder.expect(412, "PATCH", path, json={"name": "Late"}, headers={"If-Match": '"0"'})
    key = {"Idempotency-Key": "journey-1"}
    recorder.expect(200, "PATCH", path, json={"name": "Shop"}, headers=key)
    recorder.expect(422, "PATCH", path, json={"name": "Another"}, headers=key)
    recorder.expect(204, "DELETE", path)
    recorder.expect(404, "GET", path)


def rest_for_a_deployment(recorder: Recorder) -> None:
    windows = "/api/maintenance-windows"
    created = recorder.expect(201, "POST", windows, json={"duration_seconds": 600, "tags": ["shop"]})
    path = f"{windows}/{created['id']}"
    weekly = {"duration_seconds": 3600, "recurrence": "FREQ=WEEKLY", "time_zone": "Europe/Berlin"}
    recorder.expect(201, "POST", windows, json=weekly)
    recorder.expect(422, "POST", windows, json=weekly | {"recurrence": "FREQ=SECONDLY"})
    recorder.expect(200, "GET", windows)
    recorder.expect(200, "GET", path)
    recorder.expect(200, "PATCH", path, json={"duration_seconds": 900, "tags": None})
    recorder.expect(200, "POST", f"{path}/end")
    recorder.expect(409, "PATCH", path, json={"duration_seconds": 1200})
    recorder.expect(204, "DELETE", path)
    recorder.expect(404, "GET", path)


def make_channels(recorder: Recorder, server: UnsteadyServer) -> None:
    channels = "/api/notification-channels"
    created = recorder.expect(
        201, "POST", channels, json={"type": "webhook", "url": server.url, "events": ["incident.opened"]}
    )
    path = f"{channels}/{created['id']}"
    recorder.expect(201, "POST", channels, json={"type": "slack", "url": f"{server.url}/a-secret"})
    recorder.expect(200, "GET", channels)
    recorder.expect(200, "GET", path)
    delivery = recorder.expect(200, "POST", f"{path}/test")
    wait_until(lambda: recorder.expect(200, "GET", f"{path}/deliveries")["deliveries"][0]["delivered_at"])
    recorder.expect(202, "POST", f"{path}/deliveries/{delivery['id']}/redeliver")
    recorder.expect(200, "PATCH", path, json={"type": "webhook", "enabled": False})
    recorder.expect(409, "POST", f"{path}/test")
    recorder.expect(204, "DELETE", path)
    recorder.expect(404, "GET", path)


def submit_an_article(recorder: Recorder) -> None:
    webhook = "/api/webhooks/publisher"
    accepted = recorder.expect(202, "POST", webhook, json=ARTICLE, headers=PUBLISHER)
    recorder.expect(202, "POST", webhook, json={"event": "test"} | ARTICLE, headers=PUBLISHER)
    path = f"/api/articles/{accepted['article_id']}"
    wait_until(
        lambda: all(
            each["status"] == "translated"
            for each in recorder.expect(200, "GET", path, headers=PUBLISHER)["translations"]
        )
    )
    recorder.expect(404, "GET", f"/api/articles/{NOBODYS}", headers=PUBLISHER)
    recorder.expect(401, "GET", path, headers={"X-Webhook-Secret": "wrong"})


def be_refused(recorder: Recorder, reader: Player) -> None:
    not_ours = {"Authorization": "Bearer not-a-token"}
    recorder.expect(401, "GET", "/api/monitors", headers=not_ours)
    may_read = {"Authorization": reader.headers["Authorization"]}
    recorder.expect(403, "DELETE", f"/api/monitors/{NOBODYS}", headers=may_read)
    recorder.expect(404, "GET", f"/api/monitors/{NOBODYS}/uptime")


def read_about_the_service(recorder: Recorder) -> None:
    for path in ("/health", "/ready", "/.well-known/jwks.json", "/.well-known/oauth-authorization-server"):
        recorder.expect(200, "GET", path)
    recorder.expect(200, "GET", "/openapi.json")
