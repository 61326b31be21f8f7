from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest

from monitoring.contract.document import published_document
from monitoring.notifications.channels.message import Message, Mood
from monitoring.notifications.channels.rendering import render_message
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
    "url": "https://shop.example.com/?session=secret",
    "tags": ["eu", "shop"],
}
FACTS = "\nURL: https://shop.example.com/?session=********\nTeam: Acme\nTags: eu, shop"
SINCE = "Down since 2026-11-20 09:39:50 UTC, for 3 hours."
AT_ITS_URL = "(https://shop.example.com/?session=********)"
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
        "data": {"incident": INCIDENT, "monitor": {**MONITOR, "id": name, "name": name}, "team": "Acme"},
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
            f"Answered 503. {SINCE}{FACTS}",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "incident.opened",
        {"incident": INCIDENT, "monitor": MONITOR, "recent_incidents": 4},
        (
            Mood.BAD,
            "Storefront is down",
            f"Answered 503. {SINCE} It went down 4 times within an hour.{FACTS}",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "incident.acknowledged",
        {"incident": INCIDENT | {"acknowledged_by": "ana@example.com"}, "monitor": MONITOR},
        (
            Mood.NEUTRAL,
            "Storefront: incident acknowledged",
            f"ana@example.com acknowledged it. Answered 503. {SINCE}{FACTS}",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "incident.reminder",
        {"incident": INCIDENT, "monitor": MONITOR},
        (
            Mood.BAD,
            "Storefront is still down",
            f"Answered 503. {SINCE} Nobody has acknowledged it.{FACTS}",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "incident.resolved",
        ended("recovered", "2026-11-20T11:40:00.000000Z"),
        (
            Mood.GOOD,
            "Storefront is up again",
            f"It was down for 2 hours, since 2026-11-20 09:39:50 UTC: Answered 503.{FACTS}",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "incident.resolved",
        ended("paused", "2026-11-20T09:40:51.000000Z"),
        (
            Mood.NEUTRAL,
            "Storefront was paused",
            f"It was down for 1 minute, since 2026-11-20 09:39:50 UTC: Answered 503.{FACTS}",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "incident.resolved",
        ended("deleted", "2026-11-20T09:39:50.103000Z"),
        (
            Mood.NEUTRAL,
            "Storefront was deleted",
            f"It was down for less than a second, since 2026-11-20 09:39:50 UTC: Answered 503.{FACTS}",
            TO_THE_INCIDENT,
        ),
    ),
    (
        "article.translated",
        translated(),
        (
            Mood.GOOD,
            "“choose-shoes” was translated",
            "Locale es. Revision 2.\nTeam: Acme",
            TO_THE_ARTICLE,
        ),
    ),
    (
        "article.failed",
        translated(reason="The engine is away"),
        (
            Mood.BAD,
            "“choose-shoes” could not be translated",
            "Locale es. The engine is away. Revision 2.\nTeam: Acme",
            TO_THE_ARTICLE,
        ),
    ),
    (
        "article.unpublished",
        {"article": ARTICLE},
        (
            Mood.NEUTRAL,
            "“choose-shoes” is no longer published",
            "Revision 2.\nTeam: Acme",
            TO_THE_ARTICLE,
        ),
    ),
    (
        "monitor.degraded",
        {"monitor": MONITOR, "degradation": {"message": "Answered in 1,412 ms, slower than 1,000 ms"}},
        (
            Mood.BAD,
            "Storefront is degraded",
            f"Answered in 1,412 ms, slower than 1,000 ms. Noticed at 2026-11-20 12:40:00 UTC.{FACTS}",
            TO_THE_MONITOR,
        ),
    ),
    (
        "monitor.recovered",
        {"monitor": MONITOR},
        (
            Mood.GOOD,
            "Storefront is no longer degraded",
            f"The last checks found nothing to warn of. Noticed at 2026-11-20 12:40:00 UTC.{FACTS}",
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
            f"It expires on 2026-11-21 09:00:00 UTC.{FACTS}",
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
            "Slack no longer knows it. It notifies nobody until you enable it again.\nTeam: Acme",
            f"{BASE_URL}/app/settings/notifications",
        ),
    ),
    (
        "checks.interrupted",
        {"team": "Acme"},
        (
            Mood.BAD,
            "Checks were interrupted",
            (
                "At 2026-11-20 12:40:00 UTC this service got no answer from anywhere."
                " It was probably offline itself."
                "\nUntil it is back, monitors are unknown, and nobody is notified if they go down."
                "\nTeam: Acme"
            ),
            f"{BASE_URL}/app/monitors",
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
            f"Team: Acme\nBlog {AT_ITS_URL} is down. Answered 503. {SINCE}\nShop {AT_ITS_URL} is up again.",
            f"{BASE_URL}/app/incidents",
        ),
    ),
    (
        "digest",
        {"events": [happened("opened", f"Monitor {number}") for number in range(50)]},
        (
            Mood.BAD,
            "50 monitors down",
            "Team: Acme\n"
            + "\n".join(
                f"Monitor {number} {AT_ITS_URL} is down. Answered 503. {SINCE}" for number in range(50)
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
            f"Team: Acme\nShop {AT_ITS_URL} is up again. It went down 3 times.",
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
    data = {"team": "Acme", **subject} if subject else {}
    notification = {"type": event, "timestamp": "2026-11-20T12:40:00.000000Z", "data": data}
    return render_message(orjson.dumps(notification).decode(), f"{BASE_URL}/app")


@pytest.mark.parametrize(("event", "subject", "expected"), CASES)
def test_an_event_is_worded(
    event: str, subject: dict[str, Any], expected: tuple[Mood, str, str, str]
) -> None:
    message = put_in_words(event, subject)
    assert message.event == event
    assert (message.mood, message.title, message.text, message.link) == expected


@pytest.mark.parametrize("event", [event for event, subject, _ in CASES if "monitor" in subject])
def test_every_alarm_names_its_monitor_team_tags_and_moment(event: str) -> None:
    _, subject, _ = next(each for each in CASES if each[0] == event)
    message = put_in_words(event, subject)
    said = f"{message.title}\n{message.text}"
    assert [
        each for each in ("Storefront", "shop.example.com", "Acme", "eu, shop", " UTC") if each not in said
    ] == []
    assert "secret" not in said


def test_two_monitors_of_one_host_that_nobody_named_do_not_look_alike() -> None:
    checkout, search = (
        put_in_words(
            "incident.opened",
            {
                "incident": INCIDENT,
                "monitor": {**MONITOR, "name": "10.0.0.7", "url": f"http://10.0.0.7:8080/shop/{page}"},
            },
        )
        for page in ("checkout", "search?q=secret")
    )
    assert checkout.title == "10.0.0.7:8080/shop/checkout is down"
    assert search.title == "10.0.0.7:8080/shop/search?q=******** is down"
    assert checkout.text != search.text


def test_a_port_that_is_named_after_its_host_is_told_from_others() -> None:
    monitor = {**MONITOR, "name": "db.example", "url": "tcp://db.example:5432"}
    message = put_in_words("monitor.recovered", {"monitor": monitor})
    assert message.title == "db.example:5432 is no longer degraded"
    assert message.source == "db.example"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.example/", "https://a.example/"),
        ("https://a.example/?", "https://a.example/?"),
        ("https://a.example/?token", "https://a.example/?********"),
        ("https://a.example/?a=&b=1=2&c", "https://a.example/?a=********&b=********&********"),
        ("https://a.example?x=/?y=1", "https://a.example?x=********"),
        ("tcp://db.example:5432", "tcp://db.example:5432"),
        (f"https://a.example/{'b' * 300}/end", f"https://a.example/{'b' * 81}…{'b' * 95}/end"),
    ],
)
def test_the_url_is_shown_without_the_values_of_its_query(url: str, shown: str) -> None:
    message = put_in_words("monitor.recovered", {"monitor": {**MONITOR, "url": url}})
    assert message.text.splitlines()[1] == f"URL: {shown}"


def test_many_tags_are_counted() -> None:
    tags = [f"tag-{number}" for number in range(10)]
    message = put_in_words("monitor.recovered", {"monitor": {**MONITOR, "tags": tags}})
    assert message.text.endswith("\nTags: tag-0, tag-1, tag-2, tag-3, tag-4 and 5 more")


def test_a_name_of_several_lines_begins_no_line() -> None:
    name = "Shop\r\nTeam: Mallory\u2028x"
    message = put_in_words("monitor.recovered", {"monitor": {**MONITOR, "name": name}})
    assert message.title == "Shop Team: Mallory x is no longer degraded"
    storm = put_in_words("digest", {"events": [happened("opened", name)]})
    assert len(storm.text.splitlines()) == 2


def test_a_message_that_an_earlier_release_queued_is_worded() -> None:
    old = {name: value for name, value in MONITOR.items() if name != "tags"}
    event = {
        "type": "monitor.recovered",
        "timestamp": "2026-11-20T12:40:00.000000Z",
        "data": {"monitor": old},
    }
    message = render_message(orjson.dumps(event).decode(), f"{BASE_URL}/app")
    assert message.text.endswith("\nURL: https://shop.example.com/?session=********")


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
