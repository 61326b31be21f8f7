"""Every message of every kind is one that its provider takes, whatever monitors and teams are called."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from email.headerregistry import Address
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.contract.document import published_document
from monitoring.notifications.channels import CHANNELS
from monitoring.notifications.channels.limits import BODY, LIMITS, Limit, Unit, cut, fit
from monitoring.notifications.channels.mail_message import Mail, write_mail
from monitoring.notifications.channels.message import Message, Mood
from monitoring.notifications.channels.rendering import render_message
from monitoring.notifications.channels.services import ProviderChannel
from notifications.channels.test_provider_channel import ADDRESSES, GIVEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BASE_URL = "https://monitoring.example.com"
ACKNOWLEDGE = f"{BASE_URL}/app/acknowledge?token={'a' * 300}"
AT = "2026-11-20T09:40:00.000000Z"
LATER = "2026-11-20T12:00:00.000000Z"

# What channels escape and providers count in another way than Python does.
HOSTILE = "*_~`|<>[]()#@:-\\&'\"\x01\x1f\u2028\u200b\u202e\n éß日👩‍💻🏴‍☠️a1."

hostile = st.text(st.sampled_from(HOSTILE) | st.characters(exclude_categories=["Cs"]), min_size=1)


def names(most: int) -> st.SearchStrategy[str]:
    """Make names, and often the longest of one hostile character."""
    longest = st.sampled_from(HOSTILE).map(lambda each: each * most)
    return st.one_of(longest, hostile.map(lambda text: (text * most)[:most]), hostile.map(lambda t: t[:most]))


urls = st.one_of(
    st.integers(1, 2020).map(lambda length: f"https://shop.example.com/{'a' * length}"),
    st.integers(1, 63).map(lambda length: f"https://{'.'.join(['a' * length] * 3)}.example/"),
    st.text(st.sampled_from("a*_'&<=?%~"), max_size=2000).map(lambda end: f"https://127.0.0.1:8080/?{end}"),
)
monitors = st.fixed_dictionaries(
    {
        "id": st.uuids().map(str),
        "name": names(100),
        "url": urls,
        "tags": st.lists(st.just("a" * 40), max_size=10),
    }
)
incidents = st.fixed_dictionaries(
    {
        "id": st.just(str(uuid4())),
        "started_at": st.just(AT),
        "resolved_at": st.just(LATER),
        "resolution": st.sampled_from(["recovered", "paused", "deleted"]),
        "error_message": names(255),
        "acknowledged_by": names(255),
    }
)
articles = st.fixed_dictionaries({"id": st.just(str(uuid4())), "slug": names(255), "revision": st.just(1)})


def event(kind: str, **data: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    subject = st.fixed_dictionaries({**data, "team": names(100)})
    return st.fixed_dictionaries({"type": st.just(kind), "timestamp": st.just(LATER), "data": subject})


of_incidents = [
    event(f"incident.{what}", incident=incidents, monitor=monitors)
    for what in ("opened", "acknowledged", "reminder", "resolved")
]
degraded = event(
    "monitor.degraded", monitor=monitors, degradation=st.fixed_dictionaries({"message": names(255)})
)
disabled = event(
    "channel.disabled",
    channel=st.fixed_dictionaries(
        {"id": st.just(str(uuid4())), "name": names(100), "disabled_reason": names(255)}
    ),
)
others = [
    degraded,
    disabled,
    event("monitor.recovered", monitor=monitors),
    event(
        "certificate.expiring",
        monitor=monitors,
        certificate=st.just({"expires_at": LATER, "expires_in_days": 30}),
    ),
    *(
        event(
            f"article.{what}",
            article=articles,
            translation=st.fixed_dictionaries({"locale": st.just("pt-BR"), "reason": names(255)}),
        )
        for what in ("translated", "failed")
    ),
    event("article.unpublished", article=articles),
    event("channel.confirmation"),
    event("checks.interrupted"),
    event("test"),
]
storms = event(
    "digest", events=st.lists(st.one_of(*of_incidents, degraded, disabled), min_size=1, max_size=60)
)
messages = st.one_of(storms, *of_incidents, *others)


def write_in_words(said: dict[str, Any]) -> Message:
    """Put an event in words, with the longest link if its readers can answer it."""
    message = render_message(orjson.dumps(said).decode(), f"{BASE_URL}/app")
    answers = said["type"] in {"incident.opened", "incident.reminder"}
    return replace(message, acknowledge_link=ACKNOWLEDGE if answers else None)


def body_for(channel_type: str, message: Message) -> Any:
    service = CHANNELS[channel_type]
    assert isinstance(service, ProviderChannel)
    given = {"url": ADDRESSES.get(channel_type), **GIVEN.get(channel_type, {})}
    return service.write(message, given).body


def texts_in(body: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text of a body with the name of its field."""
    if isinstance(body, dict):
        for key, value in body.items():
            yield from texts_in(value, key)
    elif isinstance(body, list):
        for value in body:
            yield from texts_in(value, name)
    elif isinstance(body, str):
        yield name, body


def utf_16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


# What these providers refuse, in the words of their pages and not in those of the table.
TAKEN: dict[str, Callable[[Any], bool]] = {
    "discord": lambda body: (
        utf_16(body["embeds"][0]["title"]) <= 256 and utf_16(body["embeds"][0]["description"]) <= 4096
    ),
    "telegram": lambda body: 1 <= utf_16(body["text"]) <= 4096,
    "pagerduty": lambda body: (
        1 <= len(body["payload"]["summary"]) <= 1024 and len(orjson.dumps(body)) <= 512_000
    ),
    "opsgenie": lambda body: (
        len(body.get("message", "")) <= 130
        and len(body["source"]) <= 100
        and len(body.get("description", "")) <= 15_000
        and len(body.get("note", "")) <= 25_000
    ),
    "ntfy": lambda body: len(body["message"].encode()) <= 4096 and len(orjson.dumps(body)) <= 8192,
    "pushover": lambda body: (
        1 <= len(body["message"]) <= 1024 and len(body["title"]) <= 250 and len(body["url"]) <= 512
    ),
    "google_chat": lambda body: len(orjson.dumps(body)) <= 32_000,
    "microsoft_teams": lambda body: 2 * utf_16(orjson.dumps(body).decode()) <= 28 * 1024,
    "slack": lambda body: len(body["attachments"][0]["text"]) <= 4000,
    "mattermost": lambda body: len(orjson.dumps(body["attachments"]).decode()) <= 7900,
}


def test_every_type_declares_its_limits_and_where_it_has_them_from() -> None:
    assert LIMITS.keys() == CHANNELS.keys()
    assert all(limit.source.startswith("https://") for limits in LIMITS.values() for limit in limits.values())


def test_every_event_of_the_document_is_tried() -> None:
    kinds = [*of_incidents, *others, storms]
    document = published_document().root["components"]["schemas"]
    assert len(kinds) == len(document["NotificationType"]["enum"])


@pytest.mark.parametrize("channel_type", TAKEN)
@given(said=messages)
def test_every_message_is_one_that_its_provider_takes(channel_type: str, said: dict[str, Any]) -> None:
    body = body_for(channel_type, write_in_words(said))
    assert TAKEN[channel_type](body)
    limits = LIMITS[channel_type]
    assert [name for name, text in texts_in(body) if name in limits and not limits[name].takes(text)] == []
    assert BODY not in limits or limits[BODY].takes(orjson.dumps(body).decode())


@given(said=messages)
def test_every_email_is_one_that_every_server_takes(said: dict[str, Any]) -> None:
    message = write_in_words(said)
    mail = Mail(
        id=UUID(int=1),
        sender=Address("", "monitoring", "example.com"),
        recipient="ana@example.org",
        written_at=datetime(2026, 11, 20, tzinfo=UTC),
        message=message,
        links=message.links,
        footer="Because you asked.",
        unsubscribe_link=f"{BASE_URL}/app/unsubscribe?token={'a' * 300}",
    )
    written = write_mail(mail)
    assert len(written) <= 65_536
    assert all(len(line) <= 998 for line in written.split(b"\r\n"))


def storm(count: int, name: str = "Shop") -> dict[str, Any]:
    incident = {"started_at": AT, "error_message": "Answered 503"}
    opened = [
        {
            "type": "incident.opened",
            "data": {
                "team": "Acme",
                "incident": incident,
                "monitor": {"id": str(number), "name": f"{name} {number}.", "url": "https://shop.example/"},
            },
        }
        for number in range(count)
    ]
    return {"type": "digest", "timestamp": LATER, "data": {"events": opened}}


@pytest.mark.parametrize("channel_type", [each for each in TAKEN if each not in {"pagerduty", "opsgenie"}])
@pytest.mark.parametrize(
    "name", ["Shop", "*" * 90, "日" * 90, "👩" * 90], ids=["plain", "escaped", "three bytes", "two units"]
)
def test_a_storm_tells_whole_monitors_and_counts_the_others(channel_type: str, name: str) -> None:
    texts = [text for _, text in texts_in(body_for(channel_type, write_in_words(storm(60, name))))]
    said = max(texts, key=len)
    told = [line for line in said.splitlines() if "Answered 503" in line]
    assert 1 <= len(told) < 22
    assert all(line.replace("\\", "").endswith("for 2 hours.") for line in told)
    assert f"And {60 - len(told)} more." in said.replace("\\", "").splitlines()


def test_a_small_storm_is_told_whole() -> None:
    assert "more" not in body_for("telegram", write_in_words(storm(20)))["text"]


TEN = Limit(10, Unit.CHARACTERS, "https://example.com")


def test_nothing_that_was_escaped_is_taken_apart() -> None:
    assert cut("&&&", TEN, lambda text: text.replace("&", "&amp;")) == "&amp;…"


def test_a_line_that_is_too_long_by_itself_is_cut() -> None:
    assert fit("abcdefghijklm\nn", TEN) == "abcdefghi…"


def test_an_emoji_counts_as_its_provider_counts_it() -> None:
    assert [
        cut("👩" * 9, replace(TEN, unit=unit)) for unit in (Unit.CHARACTERS, Unit.UTF_16, Unit.BYTES)
    ] == [
        "👩" * 9,
        "👩" * 4 + "…",
        "👩…",
    ]


def test_a_title_of_nothing_else_is_cut_for_a_pager() -> None:
    message = Message(
        event="incident.opened",
        mood=Mood.BAD,
        title="é" * 3000,
        text="Down.",
        link=BASE_URL,
        source=f"{'a' * 63}.{'b' * 63}.{'c' * 63}.example",
        subject_id=uuid4(),
    )
    assert TAKEN["pagerduty"](body_for("pagerduty", message))
    assert TAKEN["opsgenie"](body_for("opsgenie", message))
