"""Servers that are told of incidents. They refuse some messages, and keep every attempt."""

from __future__ import annotations

import html
import re
import time
from random import Random
from typing import TYPE_CHECKING, Any, cast

import httpx

from app.visitor import read_forms
from notifications.mail_server import MailCatcher
from telling_verdict import Arrival, Route

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from aiosmtpd.smtp import SMTP, Envelope, Session

    from replicas import Replicas
    from watching import Site

PROMPT, LATE = "prompt", "late"
DELAY_SECONDS = 20
PATIENCE_SECONDS = 60.0

REFUSED, HUNG_UP, TAKEN_AND_HUNG_UP = 0.1, 0.18, 0.24  # shares of the messages, each added to the one before
MESSAGE_ID = re.compile(rb"^Message-ID: <([^@>]+)@", re.MULTILINE | re.IGNORECASE)
CONFIRMATION = re.compile(r"https?://\S+?(/app/confirm-email\?token=[\w.-]+)")


class Mailbox(MailCatcher):
    """The operator's mail server, over STARTTLS."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.arrivals: list[Arrival] = []
        self.is_moody = False
        self._chance = Random(1)

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Put off some recipients."""
        if self.is_moody and self._chance.random() < REFUSED:
            return "450 4.2.1 Later, please"
        return await super().handle_RCPT(server, session, envelope, address, options)

    async def handle_DATA(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        """Put off some messages, and hang up before or after others are taken."""
        fate = self._chance.random() if self.is_moody else 1.0
        content = cast("bytes", envelope.original_content)
        found = MESSAGE_ID.search(content)
        message_id = found[1].decode() if found else "without an id"
        route = envelope.rcpt_tos[0].partition("@")[0]
        was_taken = fate >= TAKEN_AND_HUNG_UP
        self.arrivals.append(Arrival(f"email {route}", message_id, time.time(), was_taken, content))
        if fate < REFUSED:
            return "451 4.3.0 Later, please"
        if fate < TAKEN_AND_HUNG_UP:
            cast("asyncio.Transport", server.transport).abort()
        return await super().handle_DATA(server, session, envelope)

    def find_confirmation(self, route: str) -> str | None:
        """Return path and query of the link in the question to a route's address, once it has come."""
        for each in self.accepted:
            text = each.parse().get_body(("plain",))
            found = CONFIRMATION.search(text.get_content()) if text else None
            if found and each.recipient.startswith(f"{route}@"):
                return html.unescape(found[1])
        return None


class Team:
    """Has channels of both kinds: one is told at once, the other only of what lasts."""

    def __init__(self, replicas: Replicas, site: Site, mailbox: Mailbox, headers: dict[str, str]) -> None:
        self._replicas = replicas
        self._site = site
        self._mailbox = mailbox
        self._headers = headers
        self.routes: list[Route] = []

    def begin(self) -> None:
        """Create the channels, and confirm the addresses. From then on the servers have moods."""
        for name, seconds in {PROMPT: 0, LATE: DELAY_SECONDS}.items():
            routing = {"routing": {"delay_seconds": seconds}}
            self._create(name, {"type": "webhook", "url": f"{self._site.url}/{name}", **routing})
            self._create(name, {"type": "email", "address": f"{name}@example.com", **routing})
        for name in (PROMPT, LATE):
            self._confirm(name)
        self._site.is_moody = self._mailbox.is_moody = True

    def calm_down(self) -> None:
        """Take every message from now on."""
        self._site.is_moody = self._mailbox.is_moody = False

    def _create(self, name: str, body: Mapping[str, Any]) -> None:
        headers = self._headers | {"Idempotency-Key": f"{body['type']}-{name}"}
        created = self._replicas.insist(
            "create_notification_channel", "201", headers=headers, json=body
        ).json()
        delay = body["routing"]["delay_seconds"]
        self.routes.append(Route(f"{body['type']} {name}", created["id"], delay))

    def _confirm(self, name: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (link := self._mailbox.find_confirmation(name)) is None:
            if time.monotonic() > deadline:
                raise RuntimeError(f"nobody was asked to confirm {name}@example.com")
            time.sleep(0.1)
        base_url = self._replicas.all[0].base_url
        with httpx.Client(base_url=base_url, trust_env=False, follow_redirects=True) as browser:
            form = read_forms(browser.get(link).raise_for_status().text)["/app/confirm-email"]
            browser.post("/app/confirm-email", data=form).raise_for_status()
