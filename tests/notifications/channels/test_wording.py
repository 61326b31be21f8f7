from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest

from monitoring.contract.document import published_document
from monitoring.notifications.channels.message import Message, Mood
from monitoring.notifications.channels.wording import word
from notifications.every_message import EVERY_MESSAGE

BASE_URL = "https://monitoring.example.com"
INCIDENT = {
    "id": "019a9c47-1e88-7b0a-a1c6-52f0d9b7e334",
    "started_at": "2026-11-20T09:39:50.003000Z",
    "resolved_at": None,
    "resolution": None,
    "error_message": "Answered 503",
}
MONITOR = {
    "id": "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70",
    "name": "Storefront",
    "url": "https://shop.example.com/",
}
ARTICLE = {"id": "019a9c41-0c2e-7f55-8a3b-6d1f9e4b7a12", "slug": "choose-shoes", "revision": 2}
TO_THE_MONITOR = f"{BASE_URL}/app/monitors/{MONITOR['id']}"
TO_THE_INCIDENT = f"{BASE_URL}/app/incidents/{INCIDENT['id']}"
TO_THE_ARTICLE = f"{BASE_URL}/app/articles/{ARTICLE['id']}"


def ended(resolution: str, at: str) -> dict[str, Any]:
    return {"incident": INCIDENT | {"resolution": resolution, "resolved_at": at}, "monitor": MONITOR}


def happened(kind: str, name: str) -> dict[str, Any]:
    """Write an event of a digest; the name stands for the monitor's id too."""
    return {
        "type": f"incident.{kind}",
        "data": {"incident": INCIDENT, "monitor": {**MONITOR, "id": name, "name": name}},
    }


def translated(**fields: Any) -> dict[str, Any]:
    return {"article": ARTICLE, "translation": {"locale": "es", "reason": None, **fields}}


# The event, its subject, and what it looks like: mood, title, text and link.
CASES: list[tuple[str, dict[str, Any], tuple[Mood, str, str, str]]] = [
    (
        "incident.opened",
        {"incident": INCIDENT, "monitor": MONITOR},
        (
            Mood.BAD,
            "Storefront is down",
            "Answered 503. Down since 2026-11-20 09:39:50 UTC.",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "incident.opened",
        {"incident": INCIDENT, "monitor": MONITOR, "recent_incidents": 4},
        (
            Mood.BAD,
            "Storefront is down",
            "Answered 503. Down since 2026-11-20 09:39:50 UTC. It went down 4 times within an hour.",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "incident.acknowledged",
        {"incident": INCIDENT | {"acknowledged_by": "ana@example.com"}, "monitor": MONITOR},
        (
            Mood.NEUTRAL,
            "Storefront: somebody takes care",
            "ana@example.com acknowledged that it is down since 2026-11-20 09:39:50 UTC.",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "incident.reminder",
        {"incident": INCIDENT, "monitor": MONITOR},
        (
            Mood.BAD,
            "Storefront is still down",
            "Answered 503. Down for 3 hours, and nobody has acknowledged it.",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "incident.resolved",
        ended("recovered", "2026-11-20T11:40:00.000000Z"),
        (
            Mood.GOOD,
            "Storefront is up again",
            "It was down for 2 hours, since 2026-11-20 09:39:50 UTC.",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "incident.resolved",
        ended("paused", "2026-11-20T09:40:51.000000Z"),
        (
            Mood.NEUTRAL,
            "Storefront was paused",
            "It was down for 1 minute, since 2026-11-20 09:39:50 UTC.",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "incident.resolved",
        ended("deleted", "2026-11-20T09:39:50.103000Z"),
        (
            Mood.NEUTRAL,
            "Storefront was deleted",
            "It was down for less than a second, since 2026-11-20 09:39:50 UTC.",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "article.translated",
        translated(),
        (
            Mood.GOOD,
            "“choose-shoes” was translated",
            "Locale es. Revision 2.",
            TO_THE_ARTICLE,
        ),
    ),
    (
        "article.failed",
        translated(reason="The engine is away"),
        (
            Mood.BAD,
            "“choose-shoes” could not be translated",
            "Locale es. The engine is away. Revision 2.",
            TO_THE_ARTICLE,
        ),
    ),
    (
        "article.unpublished",
        {"article": ARTICLE},
        (
            Mood.NEUTRAL,
            "“choose-shoes” is no longer published",
            "Revision 2.",
            TO_THE_ARTICLE,
        ),
    ),
    (
        "monitor.degraded",
        {"monitor": MONITOR, "degradation": {"message": "Answered in 1,412 ms, slower than 1,000 ms"}},
        (
            Mood.BAD,
            "Storefront is degraded",
            "Answered in 1,412 ms, slower than 1,000 ms.",
            TO_THE_MONITOR,
        ),
    ),
    (
        "monitor.recovered",
        {"monitor": MONITOR},
        (
            Mood.GOOD,
            "Storefront is no longer degraded",
            "The last checks found nothing to warn of.",
            TO_THE_MONITOR,
        ),
    ),
    (
        "certificate.expiring",
        {
            "monitor": MONITOR,
            "certificate": {"expires_at": "2026-11-21T09:00:00.000000Z", "expires_in_days": 1},
        },
        (
            Mood.BAD,
            "Storefront has a certificate that expires within 1 day",
            "It expires on 2026-11-21 09:00:00 UTC.",
            TO_THE_MONITOR,
        ),
    ),
    (
        "channel.disabled",
        {
            "channel": {
                "id": "019a9c4a-77d0-7e4e-b2f8-0c6a1d9e5f21",
                "name": "Ops",
                "disabled_reason": "Slack no longer knows it",
            }
        },
        (
            Mood.BAD,
            "The notification channel Ops is disabled",
            "Slack no longer knows it. It tells nobody until you enable it again.",
            f"{BASE_URL}/app/settings/notifications",
        ),
    ),
    (
        "channel.confirmation",
        {"address": "ana@example.org", "team": "Acme"},
        (
            Mood.NEUTRAL,
            "Confirm this address for notifications",
            (
                "Acme wants to send notifications of monitoring.example.com to this address."
                " Nothing is sent before you confirm it. If you expect none, ignore this message."
            ),
            f"{BASE_URL}/app",
        ),
    ),
    (
        "digest",
        {"events": [happened("opened", "Shop"), happened("opened", "Blog"), happened("resolved", "Shop")]},
        (
            Mood.BAD,
            "1 monitor down, 1 up again",
            "Blog is down. Answered 503.\nShop is up again.",
            f"{BASE_URL}/app/incidents",
        ),
    ),
    (
        "digest",
        {"events": [happened("opened", f"Monitor {number}") for number in range(50)]},
        (
            Mood.BAD,
            "50 monitors down",
            "\n".join(
                [f"Monitor {number} is down. Answered 503." for number in range(20)] + ["And 30 others."]
            ),
            f"{BASE_URL}/app/incidents",
        ),
    ),
    (
        "digest",
        {"events": [happened(kind, "Shop") for kind in ("opened", "resolved") * 3]},
        (
            Mood.GOOD,
            "1 up again",
            "Shop is up again. It went down 3 times.",
            f"{BASE_URL}/app/incidents",
        ),
    ),
    (
        "test",
        {},
        (
            Mood.NEUTRAL,
            "A test notification",
            "Notifications of your team arrive here.",
            f"{BASE_URL}/app",
        ),
    ),
]


def put_in_words(event: str, subject: dict[str, Any]) -> Message:
    notification = {"type": event, "timestamp": "2026-11-20T12:40:00.000000Z", "data": subject}
    return word(orjson.dumps(notification).decode(), BASE_URL)


@pytest.mark.parametrize(("event", "subject", "expected"), CASES)
def test_an_event_is_worded(
    event: str, subject: dict[str, Any], expected: tuple[Mood, str, str, str]
) -> None:
    message = put_in_words(event, subject)
    assert message.event == event
    assert (message.mood, message.title, message.text, message.link) == expected


def test_the_end_of_an_incident_is_about_the_same_subject_as_its_opening() -> None:
    told = [put_in_words(event, subject) for event, subject, _ in CASES]
    assert [message.subject_id for message in told[:7]] == [UUID(INCIDENT["id"])] * 7
    assert told[-1].subject_id is None


def test_every_event_of_the_document_has_words() -> None:
    document = published_document().root["components"]["schemas"]
    assert {event for event, *_ in CASES} == set(document["NotificationType"]["enum"])


def test_a_page_shows_a_picture_of_every_event_of_the_document() -> None:
    document = published_document().root["components"]["schemas"]
    assert {event["type"] for event in EVERY_MESSAGE.values()} >= set(document["NotificationType"]["enum"])
    page = (Path(__file__).parents[3] / "docs" / "messages.md").read_text()
    assert [name for name in EVERY_MESSAGE if f"screenshots/message-{name}.png" not in page] == []
