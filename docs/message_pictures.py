"""Draws messages as their readers see them: email in a browser, cards with Microsoft's own renderer."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson

from monitoring.notifications.channels import microsoft_teams
from monitoring.notifications.channels.mail_message import Mail, write_mail
from monitoring.notifications.channels.wording import word
from monitoring.settings.mail_server import read_sender

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from monitoring.notifications.channels.message import Message

CARDS = Path(__file__).parent.parent / "tests" / "notifications" / "channels" / "cards"
RENDERER = CARDS / "node_modules" / "adaptivecards" / "dist" / "adaptivecards.js"

BASE_URL = "https://monitoring.acme.example"
DELIVERY_ID = UUID("019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70")
MONITOR = {"id": str(DELIVERY_ID), "name": "Newsletter sign-up", "url": "https://mail.acme.example/subscribe"}
SHOP = {"id": "2", "name": "Web shop", "url": "https://shop.acme.example/"}
INCIDENT = {
    "id": "019a9c41-0c2e-7f55-8a3b-6d1f9e4b7a12",
    "started_at": "2026-11-20T09:39:50.003000Z",
    "confirmed_at": "2026-11-20T09:40:00.183000Z",
    "error_message": "Answered 503 instead of 2xx",
    "acknowledged_at": "2026-11-20T09:44:00.000000Z",
    "acknowledged_by": "Alice Almeida",
    "resolved_at": "2026-11-20T10:12:00.000000Z",
    "resolution": "recovered",
}
HOUR_LATER = "2026-11-20T10:40:00.000000Z"

_PAGE = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 16px; width: 560px; font: 15px/1.5 system-ui, sans-serif; background: #f3f4f6 }
.message { margin: 0 0 14px; padding: 12px 16px; background: #fff; border: 1px solid #dfe5ee }
.subject { margin: 0 0 8px; padding: 0 0 8px; border-bottom: 1px solid #dfe5ee; font-weight: 600 }
.ac-pushButton { padding: 5px 12px; font: inherit; background: #fff; border: 1px solid #8390a8 }
</style>"""


def take_messages(browser: Browser, folder: Path) -> None:
    """Write a picture of each way in which messages look."""
    # Node.js comes with the packages where the machine has none.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run([CARDS / "install"], env=environment, check=True)  # noqa: S603 - of our own choice
    messages = list(_word_messages())
    page = browser.new_page()
    page.set_content(_PAGE + "".join(map(_show_email, messages)))
    page.locator("body").screenshot(path=folder / "messages-email.png")
    page.set_content(_PAGE)
    page.add_script_tag(path=RENDERER)
    for message in messages:
        page.evaluate(
            _SHOW_CARD, microsoft_teams.write(message, {"url": BASE_URL}).body["attachments"][0]["content"]
        )
    page.locator("body").screenshot(path=folder / "messages-teams.png")
    page.close()


_SHOW_CARD = """content => {
  const card = new AdaptiveCards.AdaptiveCard();
  card.parse(content);
  const shown = document.createElement("div");
  shown.className = "message";
  shown.append(card.render());
  document.body.append(shown);
}"""


def _word_messages() -> list[Message]:
    about = {"incident": INCIDENT, "monitor": MONITOR}
    opened = _word("incident.opened", about)
    reminder = _word("incident.reminder", about)
    storm = {
        "events": [_event("incident.opened", about), _event("incident.opened", about | {"monitor": SHOP})]
    }
    return [
        replace(opened, acknowledge_link=f"{BASE_URL}/app/acknowledge?token=0"),
        _word("incident.acknowledged", about),
        replace(reminder, acknowledge_link=f"{BASE_URL}/app/acknowledge?token=0"),
        _word("incident.resolved", about),
        _word("digest", storm),
    ]


def _word(event: str, data: dict[str, Any]) -> Message:
    return word(orjson.dumps(_event(event, data)).decode(), BASE_URL)


def _event(event: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"type": event, "timestamp": HOUR_LATER, "data": data}


def _show_email(message: Message) -> str:
    mail = Mail(
        id=DELIVERY_ID,
        sender=read_sender("Monitoring <monitoring@acme.example>"),
        recipient="ops@acme.example",
        written_at=datetime(2026, 11, 20, 9, 40, tzinfo=UTC),
        message=message,
        links=message.links,
        footer="Sent by monitoring.acme.example, because a reader of this address confirmed it.",
        unsubscribe_link=f"{BASE_URL}/app/unsubscribe?token=0",
    )
    written = message_from_bytes(write_mail(mail), policy=default)
    _, html = written.iter_parts()
    return f'<div class="message"><p class="subject">{written["Subject"]}</p>{html.get_content()}</div>'
