"""Draws every message: as an email in a browser, as a card with Microsoft's own renderer, and as data.

Nothing here looks like an app of somebody else, because nobody here has seen how that app shows it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import orjson

from monitoring.notifications.acknowledge_links import ANSWERABLE
from monitoring.notifications.channels import CHANNELS, microsoft_teams
from monitoring.notifications.channels.mail_message import Mail, write_mail
from monitoring.notifications.channels.rendering import render_message
from monitoring.notifications.channels.services import ProviderChannel
from monitoring.settings.mail_server import read_sender
from notifications.every_message import BASE_URL, EVERY_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from monitoring.contract.document import Json
    from monitoring.notifications.channels.message import Message

CARDS = Path(__file__).parent.parent / "tests" / "notifications" / "channels" / "cards"
RENDERER = CARDS / "node_modules" / "adaptivecards" / "dist" / "adaptivecards.js"

DELIVERY_ID = UUID("019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70")
ASKS_ITS_READER = "channel.confirmation"

# What channels have of their team, which no picture shows.
FIELDS: dict[str, Json] = {
    "url": "https://chat.acme.example/hooks",
    "chat_id": "-1001234567890",
    "bot_token": "…",
    "routing_key": "…",
    "api_key": "…",
    "topic": "ops",
    "app_token": "…",
    "user_key": "…",
    "region": "eu",
    "method": "POST",
    "headers": [],
    "body": {"summary": "{{title}}", "details": "{{text}} {{link}}", "take": "{{acknowledge_link}}"},
}

_PAGE = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 12px; width: max-content; background: #f3f4f6 }
body { font: 15px/1.5 system-ui, sans-serif }
.pair { display: flex; gap: 12px; align-items: start }
.message { box-sizing: border-box; width: 440px; padding: 12px 16px }
.message { background: #fff; border: 1px solid #dfe5ee }
.subject { margin: 0 0 8px; padding: 0 0 8px; border-bottom: 1px solid #dfe5ee; font-weight: 600 }
.ac-pushButton { padding: 5px 12px; font: inherit; background: #fff; border: 1px solid #8390a8 }
dl { margin: 0; font-size: 13px; overflow-wrap: anywhere }
dt { color: #5f6b7a }
dd { margin: 0 0 4px; white-space: pre-line }
</style>"""

_SHOW_CARD = """content => {
  const card = new AdaptiveCards.AdaptiveCard();
  card.parse(content);
  const shown = document.createElement("div");
  shown.className = "message";
  shown.append(card.render());
  document.querySelector(".pair").append(shown);
}"""


def take_messages(browser: Browser, folder: Path) -> None:
    """Write a picture of each message, and one of what each service is sent."""
    # Node.js comes with the packages where the machine has none.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run([CARDS / "install"], env=environment, check=True)  # noqa: S603 - of our own choice
    page = browser.new_page()
    for name, event in EVERY_MESSAGE.items():
        _show(page, _render(event))
        page.locator("body").screenshot(path=folder / f"message-{name}.png")
    opened = _render(EVERY_MESSAGE["opened"])
    for channel_type, channel in CHANNELS.items():
        if isinstance(channel, ProviderChannel) and channel_type != "microsoft_teams":
            page.set_content(_PAGE + _list_fields(channel, opened))
            page.locator("body").screenshot(path=folder / f"message-to-{channel_type.replace('_', '-')}.png")
    page.close()


def _show(page: Page, message: Message) -> None:
    page.set_content(f'{_PAGE}<div class="pair">{_show_email(message)}</div>')
    if message.event != ASKS_ITS_READER:
        page.add_script_tag(path=RENDERER)
        card = microsoft_teams.write(message, FIELDS).body["attachments"][0]["content"]
        page.evaluate(_SHOW_CARD, card)


def _render(event: dict[str, Json]) -> Message:
    message = render_message(orjson.dumps(event).decode(), f"{BASE_URL}/app")
    if message.event in ANSWERABLE:
        return replace(message, acknowledge_link=f"{BASE_URL}/app/acknowledge?token=0")
    return message


def _show_email(message: Message) -> str:
    asks = message.event == ASKS_ITS_READER
    mail = Mail(
        id=DELIVERY_ID,
        sender=read_sender("Monitoring <monitoring@acme.example>"),
        recipient="ops@acme.example",
        written_at=datetime(2026, 11, 20, 9, 40, tzinfo=UTC),
        message=message,
        links={"Confirm this address": f"{BASE_URL}/app/confirm-email?token=0"} if asks else message.links,
        footer="Sent by monitoring.acme.example, "
        + (
            "once, because somebody gave it this address."
            if asks
            else "because a reader of this address confirmed it."
        ),
        unsubscribe_link=None if asks else f"{BASE_URL}/app/unsubscribe?token=0",
    )
    written = message_from_bytes(write_mail(mail), policy=default)
    _, html = written.iter_parts()
    return f'<div class="message"><p class="subject">{written["Subject"]}</p>{html.get_content()}</div>'


def _list_fields(service: ProviderChannel, message: Message) -> str:
    """Show what a service is sent, field by field, as it is written."""
    body = service.write(message, FIELDS).body
    rows = "".join(f"<dt>{escape(path)}</dt><dd>{escape(text)}</dd>" for path, text in _leaves(body))
    return f'<div class="message"><dl>{rows}</dl></div>'


def _leaves(value: Json, path: str = "") -> Iterator[tuple[str, str]]:
    """Return each text and number in a body with its path, without the team's keys."""
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for name, each in inner:
            yield from _leaves(each, f"{path}.{name}" if path else str(name))
    elif value not in (None, "…", ""):
        yield path, str(value)
