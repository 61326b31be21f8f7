"""A team's server that receives notifications, and what tests do with its messages."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from monitoring.auth.service import create_team
from monitoring.backends.current import current_backends
from monitoring.notifications.announcing import announce
from monitoring.notifications.channels.sender import open_sender
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.routing import Announcement
from monitoring.notifications.service import create_channel
from monitoring.notifications.tasks import deliver_notification

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from monitoring.notifications.channels.sender import Sender

HAPPENED_AT = datetime(2026, 11, 20, 9, 40, 0, 183000, tzinfo=UTC)


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Addressee(ThreadingHTTPServer):
    """Listens on a free port of the loopback while it is entered; answers 204 unless told otherwise."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/hooks"
        self.received: list[Received] = []
        self.answers: deque[int | tuple[int, bytes]] = deque()
        self.retry_after = ""
        self.location = f"http://127.0.0.1:{self.server_port}/elsewhere"
        self.has_received = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.may_answer.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """Be silent about whoever hangs up."""


class _Handler(BaseHTTPRequestHandler):
    server: Addressee

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append(Received(self.command, self.path, headers, body))
        self.server.has_received.set()
        assert self.server.may_answer.wait(timeout=30)
        answer = self.server.answers.popleft() if self.server.answers else 204
        status, body = answer if isinstance(answer, tuple) else (answer, b"something")
        self.send_response(status)
        self.send_header("Location", self.server.location)
        self.send_header("Retry-After", self.server.retry_after)
        self.send_header("Content-Length", "0" if status == 204 else str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    do_GET = do_PUT = do_POST  # noqa: N815 - http.server's own

    def log_message(self, *_: object) -> None:
        """Be silent."""


async def register(url: str, **fields: Any) -> NotificationChannel:
    """Register a webhook of a team that no other test knows."""
    return await create({"type": "webhook", "url": url, **fields})


async def create(given: Mapping[str, Any]) -> NotificationChannel:
    """Create a channel of a team that no other test knows."""
    team = await create_team(f"Team {uuid4()}", "free", 10)
    return await create_channel(team.id, given)


async def announce_to(
    webhook: NotificationChannel, subject: Mapping[str, Any] | None = None, event: str = "incident.opened"
) -> NotificationDelivery:
    """Tell a channel's team of an event, and return the delivery to this channel."""
    delivery_ids = await announce([replace(opening(webhook.team_id, subject), event=event)])
    return await NotificationDelivery.get(id__in=delivery_ids, channel_id=webhook.id)


def opening(team_id: UUID, subject: Mapping[str, Any] | None = None) -> Announcement:
    return Announcement(
        team_id=team_id, event="incident.opened", happened_at=HAPPENED_AT, subject=subject or {}
    )


async def work(delivery: NotificationDelivery, sender: Sender | None = None) -> None:
    """Do what a worker does when it gets the delivery's message."""
    async with open_sender(current_backends().settings, sender):
        await deliver_notification.function(str(delivery.id))


async def deliver(delivery: NotificationDelivery, sender: Sender | None = None) -> NotificationDelivery:
    """Do that, and return what became of the delivery."""
    await work(delivery, sender)
    return await NotificationDelivery.get(id=delivery.id)


async def make_due(delivery_id: UUID) -> None:
    """Let time pass: leases run out, and waits are over."""
    past = datetime.now(UTC) - timedelta(seconds=1)
    await NotificationDelivery.filter(id=delivery_id).update(due_at=past)
