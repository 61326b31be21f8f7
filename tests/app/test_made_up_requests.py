"""No page of the app is broken by what somebody types into an address or a form, on any backend."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.visitor import Visitor, read_forms
from browser.possessions import fill_in, list_addresses
from cast import form_readers
from incidents.breakdowns import break_down
from monitoring.articles.translation.translated_segments import segment_hash
from monitoring.audit.actors import COMMAND_LINE
from monitoring.auth.scopes import DEFAULT_SCOPES
from monitoring.auth.service import create_key
from monitoring.incidents.models import Incident
from monitoring.members.invitations import invite
from monitoring.members.models import Session
from monitoring.monitors.deleting import list_deletions, schedule_deletion
from monitoring.monitors.maintenance.service import create_window
from monitoring.monitors.service import create_monitor
from monitoring.notifications import deliveries
from monitoring.notifications.deliveries import queue_test
from monitoring.notifications.service import create_channel

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from running_service import RunningService

# The names that pages read from their addresses.
QUERY_NAMES = (
    *("about", "answer", "by", "cursor", "density", "form", "from", "group", "kind", "month", "monitor"),
    *(
        "new",
        "next",
        "old",
        "page",
        "range",
        "search",
        "show",
        "sort",
        "state",
        "status",
        "tag",
        "to",
        "token",
    ),
    *("type", "who"),
)
# Those of forms that no page shows as it is opened first.
FIELD_NAMES = (
    *("act", "all", "code", "events", "form_id", "forgets_memory", "kept", "locale", "monitor"),
    *("monitor_ids", "mute_hours", "new_tag", "next", "routing_monitor_ids", "takes_back", "text"),
    *("token", "try", "version"),
)
TEXTS = (
    *("", "\0", "a\0b", "%", "\ud800", "\uffff", "²", "٣", "-1", "0", "1e309", "9" * 18, "9" * 400),
    *("0001-01-01", "1969-12-31", "1970-01-01", "9999-12-29", "9999-12-31", "0001-01-01T00:00"),
    *("1970-01-01T00:00", "9999-12-31T23:59", "2026-02-30", "0001-01", "9999-12", "24h", "30d"),
    *("FREQ=DAILY;UNTIL=00010101", "FREQ=DAILY;UNTIL=99991231T235959Z", "FREQ=YEARLY;INTERVAL=999"),
    *("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    *(
        "A" * 22,
        "_" * 22,
        "a.b.c",
        "//evil.example",
        "/monitors",
        "http://[",
        "http://\0/",
        "https://é.example/",
    ),
    *("up", "down", "name", "on", "tag", "a,b", "Europe/Berlin", "Pacific/Kiritimati", "../etc/passwd"),
    *("ops@example.com", "x" * 300, "e\N{COMBINING ACUTE ACCENT}" * 100, "\N{RIGHT-TO-LEFT OVERRIDE}"),
)
ZONES = ("", "UTC", "Pacific/Kiritimati", "America/Adak", "Nowhere/At_All", "\0")

made_up = st.sampled_from(TEXTS) | st.text(max_size=30)
over_http = settings(
    max_examples=settings().max_examples // 4,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
few_over_http = settings(over_http, max_examples=settings().max_examples // 12)


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages wait for no answer to a test notification."""
    monkeypatch.setattr(deliveries, "TEST_PATIENCE", timedelta(0))


class Household:
    """An owner, and the ids of things of their team, by the names that paths have for them."""

    def __init__(self, service: RunningService, owner: Visitor, publisher: httpx.Client) -> None:
        self.owner = owner
        article = {"article": {"id": str(uuid4()), "title": "Shoes", "content": "Shoes for rain."}}
        accepted = publisher.post("/api/webhooks/publisher", json=article).raise_for_status()
        self.ids: dict[str, object] = {
            "article_id": accepted.json()["article_id"],
            "locale": "es",
            "segment_id": segment_hash("Shoes"),
            **service.run(self._furnish()),
        }
        self.csrf_token = str(read_forms(owner.open("/settings/plan").text)["/app/sign-out"]["csrf_token"])

    async def _furnish(self) -> dict[str, object]:
        team, ours = self.owner.team, {"url": "https://shop.example.com/", "tags": ["shop"]}
        monitor, gone = await create_monitor(team.id, ours), await create_monitor(team.id, ours)
        await break_down(monitor)
        channel = await create_channel(team.id, {"type": "webhook", "url": "https://hooks.example.com/"})
        in_an_hour = datetime.now(UTC) + timedelta(hours=1)
        await schedule_deletion(team.id, [gone.id], datetime.now(UTC), by=COMMAND_LINE)
        (deletion,) = await list_deletions(team.id)
        planned = {"starts_at": in_an_hour.isoformat(), "duration_seconds": 600}
        invited = await invite(team.id, "dora@example.com", "member", by=COMMAND_LINE)
        return {
            "monitor_id": monitor.id,
            "deletion_id": deletion.deletion_id,
            "incident_id": (await Incident.get(monitor_id=monitor.id)).id,
            "channel_id": channel.id,
            "delivery_id": (await queue_test(team.id, channel.id)).id,
            "window_id": (await create_window(team.id, planned)).id,
            "client_id": (await create_key(team, "Deploy", DEFAULT_SCOPES)).key.client_id,
            "session_id": (await Session.get(user_id=self.owner.user.id)).id,
            "user_id": self.owner.user.id,
            "invitation_id": invited.invitation.id,
        }

    def read_form(self, path: str) -> dict[str, str | list[str]]:
        """Return the fields of the form that a page shows, or of none."""
        return read_forms(self.owner.open(path).text).get(f"/app{path}", {})


@pytest.fixture
def household(service: RunningService, publisher: httpx.Client) -> Iterator[Household]:
    with Visitor(service, form_readers(service)) as owner:
        owner.follow_redirects = False
        yield Household(service, owner, publisher)


def write(fields: dict[str, str | list[str]]) -> bytes:
    """Write fields as they are sent, with what is no text, too."""
    pairs = [
        (name, text)
        for name, texts in fields.items()
        for text in ([texts] if isinstance(texts, str) else texts)
    ]
    return "&".join(f"{name}={quote(text.encode('utf-8', 'surrogatepass'))}" for name, text in pairs).encode()


def is_answered(answer: httpx.Response) -> bool:
    return answer.status_code < 500


@pytest.mark.parametrize("path", list_addresses("GET"))
@over_http
@given(
    query=st.dictionaries(st.sampled_from(QUERY_NAMES), made_up | st.lists(made_up), max_size=4),
    zone=st.sampled_from(ZONES),
)
def test_a_page_answers_whatever_stands_in_its_address(
    path: str, household: Household, query: dict[str, str | list[str]], zone: str
) -> None:
    address = f"{fill_in(path, household.ids)}?{write(query).decode()}"
    answer = household.owner.get(address, headers={"Cookie": write_cookies(household.owner, zone)})
    assert is_answered(answer), answer.url


@pytest.mark.parametrize("path", list_addresses("POST"))
@few_over_http
@given(typed=st.dictionaries(st.integers(0, 999), made_up | st.lists(made_up, max_size=3), max_size=4))
def test_a_form_is_judged_whatever_is_typed(
    path: str, household: Household, typed: dict[int, str | list[str]]
) -> None:
    path = fill_in(path, household.ids)
    form = household.read_form(path)
    names = sorted({*form, *FIELD_NAMES})  # a page may have another form after the last one
    changed = {names[number % len(names)]: text for number, text in typed.items()}
    sent = write({**form, **changed, "csrf_token": household.csrf_token})
    answer = household.owner.post(
        path, content=sent, headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert is_answered(answer), sent


def write_cookies(visitor: Visitor, zone: str) -> str:
    kept = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items() if name != "zone")
    return f"{kept}; zone={quote(zone)}" if re.fullmatch(r"[\w/]+", zone) else kept
