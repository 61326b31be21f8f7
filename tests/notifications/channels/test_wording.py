from __future__ import annotations

from typing import Any
from uuid import UUID

import orjson
import pytest

from monitoring.contract.document import published_document
from monitoring.notifications.channels.wording import Message, Mood, word

BASE_URL = "https://monitoring.example.com"
INCIDENT = {
    "id": "019a9c47-1e88-7b0a-a1c6-52f0d9b7e334",
    "started_at": "2026-11-20T09:39:50.003000Z",
    "resolved_at": None,
    "resolution": None,
    "error_message": "Answered 503 instead of 2xx",
}
MONITOR = {
    "id": "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70",
    "name": "Storefront",
    "url": "https://shop.example.com/",
}
ARTICLE = {"id": "019a9c41-0c2e-7f55-8a3b-6d1f9e4b7a12", "title": "Choose shoes", "revision": 2}
TO_THE_MONITOR = f"{BASE_URL}/app/monitors/{MONITOR['id']}"
TO_THE_ARTICLE = f"{BASE_URL}/app/articles/{ARTICLE['id']}"


def ended(resolution: str, at: str) -> dict[str, Any]:
    return {"incident": INCIDENT | {"resolution": resolution, "resolved_at": at}, "monitor": MONITOR}


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
            "Answered 503 instead of 2xx. Down since 2026-11-20 09:39:50 UTC.",
            TO_THE_MONITOR,
        ),
    ),
    (
        "incident.resolved",
        ended("recovered", "2026-11-20T11:40:00.000000Z"),
        (
            Mood.GOOD,
            "Storefront is up again",
            "It was down for 2 hours, since 2026-11-20 09:39:50 UTC.",
            TO_THE_MONITOR,
        ),
    ),
    (
        "incident.resolved",
        ended("paused", "2026-11-20T09:40:51.000000Z"),
        (
            Mood.NEUTRAL,
            "Storefront was paused",
            "It was down for 1 minute, since 2026-11-20 09:39:50 UTC.",
            TO_THE_MONITOR,
        ),
    ),
    (
        "incident.resolved",
        ended("deleted", "2026-11-20T09:39:50.103000Z"),
        (
            Mood.NEUTRAL,
            "Storefront was deleted",
            "It was down for less than a second, since 2026-11-20 09:39:50 UTC.",
            TO_THE_MONITOR,
        ),
    ),
    (
        "article.translated",
        translated(),
        (
            Mood.GOOD,
            "“Choose shoes” was translated",
            "Locale es. Revision 2.",
            TO_THE_ARTICLE,
        ),
    ),
    (
        "article.failed",
        translated(reason="The engine is away"),
        (
            Mood.BAD,
            "“Choose shoes” could not be translated",
            "Locale es. The engine is away. Revision 2.",
            TO_THE_ARTICLE,
        ),
    ),
    (
        "article.unpublished",
        {"article": ARTICLE},
        (
            Mood.NEUTRAL,
            "“Choose shoes” is no longer published",
            "Revision 2.",
            TO_THE_ARTICLE,
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
    return word(orjson.dumps({"type": event, "data": subject}).decode(), BASE_URL)


@pytest.mark.parametrize(("event", "subject", "expected"), CASES)
def test_an_event_is_worded(
    event: str, subject: dict[str, Any], expected: tuple[Mood, str, str, str]
) -> None:
    message = put_in_words(event, subject)
    assert message.event == event
    assert (message.mood, message.title, message.text, message.link) == expected


def test_the_end_of_an_incident_is_about_the_same_subject_as_its_opening() -> None:
    told = [put_in_words(event, subject) for event, subject, _ in CASES]
    assert [message.subject_id for message in told[:4]] == [UUID(INCIDENT["id"])] * 4
    assert told[-1].subject_id is None


def test_every_event_of_the_document_has_words() -> None:
    document = published_document().root["components"]["schemas"]
    assert {event for event, *_ in CASES} == set(document["NotificationType"]["enum"])
