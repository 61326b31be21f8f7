"""Tests lists other than the list of monitors: each row appears once, and filters work."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from incidents.breakdowns import open_incident
from monitoring.articles.models import Article, Translation
from monitoring.backends.database import transaction
from monitoring.contract.timestamps import write_timestamp
from monitoring.history.models import CheckResult
from monitoring.history.queries import insert_results
from monitoring.incidents.models import Resolution
from monitoring.incidents.service import resolve_incident
from monitoring.monitors.models import Monitor
from monitoring.notifications.models import NotificationDelivery
from promises import OPERATIONS, Answer
from traveller import Traveller, setting_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from uuid import UUID

    from running_service import RunningService

# Maps each operation to the field that contains its list, and to the field that identifies a row.
LISTS = {
    "list_checks": ("checks", "checked_at"),
    "list_incidents": ("incidents", "id"),
    "list_incident_notes": ("notes", "id"),
    "list_maintenance_windows": ("maintenance_windows", "id"),
    "list_notification_channels": ("notification_channels", "id"),
    "list_notification_deliveries": ("deliveries", "id"),
    "list_articles": ("articles", "id"),
    "list_translation_segments": ("segments", "source"),
}

ROWS = 5
FIRST_MOMENT = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
MOMENTS = [FIRST_MOMENT + timedelta(minutes=number) for number in range(ROWS)]

# Filters that match only the newest row, and filters that match all other rows. {words} are replaced.
NEWEST = [
    ("list_checks", "outcome", "down"),
    ("list_checks", "from", "{newest_moment}"),
    ("list_incidents", "monitor_id", "{other_monitor_id}"),
    ("list_incidents", "state", "open"),
    ("list_notification_deliveries", "status", "failed"),
    ("list_articles", "locale", "es"),
    ("list_articles", "tag", "{newest_tag}"),
    ("list_articles", "updated_since", "{newest_moment}"),
]
OTHERS = [
    ("list_checks", "outcome", "up"),
    ("list_checks", "to", "{newest_moment}"),
    ("list_incidents", "monitor_id", "{monitor_id}"),
    ("list_incidents", "state", "resolved"),
    ("list_notification_deliveries", "status", "pending"),
    ("list_articles", "tag", "{other_tag}"),
]

# Filters of monitors and the status of articles are tested in journeys, and routes in tests/notifications.
TRIED_ELSEWHERE = {
    ("list_articles", "status"),
    ("list_notification_channels", "monitor_id"),
    ("list_pings", "cursor"),
    ("list_pings", "limit"),
}


class FilledLists:
    """A team's lists with some rows in each. The newest row of each list differs from the others."""

    def __init__(self, traveller: Traveller, service: RunningService) -> None:
        self._traveller = traveller
        monitors = [traveller.call(OPERATIONS["create_monitor"]) for _ in range(2)]
        monitor_id, other_monitor_id = (each.answer.json["id"] for each in monitors)
        service.run(check(monitor_id))
        service.run(break_and_heal(monitor_id, other_monitor_id))  # before channels exist, to notify nobody
        (incident, *_) = traveller.call(OPERATIONS["list_incidents"]).answer.json["incidents"]
        for _ in range(ROWS):
            traveller.call(OPERATIONS["create_incident_note"], incident_id=incident["id"])
        for _ in range(ROWS):
            traveller.call(OPERATIONS["create_maintenance_window"])
        channels = [traveller.call(OPERATIONS["create_notification_channel"]) for _ in range(ROWS)]
        channel_id = channels[0].answer.json["id"]
        test = OPERATIONS["test_notification_channel"]
        *_, tested = [traveller.call(test, channel_id=channel_id) for _ in range(ROWS)]
        service.run(give_up(tested.answer.json["id"]))
        self.ids = {
            "monitor_id": monitor_id,
            "other_monitor_id": other_monitor_id,
            "channel_id": channel_id,
            "incident_id": incident["id"],
            "locale": "es",
        }
        tags = {"every_tag": str(uuid4()), "newest_tag": str(uuid4()), "other_tag": str(uuid4())}
        self.ids["article_id"] = service.run(publish(tags))
        # All tests share the list of articles, to which other tests add articles.
        self._always = {"list_articles": {"tag": tags["every_tag"]}}
        self._words = {**self.ids, **tags, "newest_moment": write_timestamp(MOMENTS[-1])}

    def ask(self, operation_id: str, **query: str) -> Answer:
        """Return the response for a page of a list."""
        operation = OPERATIONS[operation_id]
        path = {name: value for name, value in self.ids.items() if f"{{{name}}}" in operation.path}
        return self._traveller.call(operation, **path, **(self._always.get(operation_id, {}) | query)).answer

    def read(self, operation_id: str, **query: str) -> tuple[list[str], str | None]:
        """Return the identifying field of each row of a page, and the cursor of the next page."""
        answer, (name, key) = self.ask(operation_id, **query), LISTS[operation_id]
        assert answer.status == 200, answer.body
        return [row[key] for row in answer.json[name]], answer.json["next_cursor"]

    def read_filtered(self, operation_id: str, name: str, value: str) -> list[str]:
        """Return the identifying field of each row that a filter matches."""
        rows, _ = self.read(operation_id, **{name: value.format_map(self._words)})
        return rows


@pytest.fixture(scope="module")
def lists(service: RunningService) -> Iterator[FilledLists]:
    with setting_out(service) as traveller:
        yield FilledLists(traveller, service)


@pytest.mark.parametrize("operation_id", LISTS)
def test_whoever_turns_the_pages_meets_every_row_once(lists: FilledLists, operation_id: str) -> None:
    whole, cursor = lists.read(operation_id)
    assert (len(whole), cursor) == (ROWS, None)
    assert whole == sorted(whole, reverse=True)
    met, cursor = lists.read(operation_id, limit="2")
    while cursor and len(met) < ROWS:
        page, cursor = lists.read(operation_id, limit="2", cursor=cursor)
        met += page
    assert (met, cursor) == (whole, None)


@pytest.mark.parametrize("operation_id", LISTS)
def test_a_list_refuses_the_cursors_of_all_others(lists: FilledLists, operation_id: str) -> None:
    cursors = [lists.read(other, limit="2")[1] for other in LISTS if other != operation_id]
    assert all(cursors)
    parameters = {each["name"]: each for each in OPERATIONS[operation_id].parameters}
    refusal = {"error": f"cursor: {parameters['cursor']['schema']['x-problem']}"}
    refusals = [lists.ask(operation_id, cursor=str(cursor)) for cursor in cursors]
    assert [(each.status, each.json) for each in refusals] == [(400, refusal)] * len(cursors)


@pytest.mark.parametrize(("operation_id", "name", "value"), NEWEST)
def test_a_filter_finds_what_it_says(lists: FilledLists, operation_id: str, name: str, value: str) -> None:
    assert lists.read_filtered(operation_id, name, value) == lists.read(operation_id)[0][:1]


@pytest.mark.parametrize(("operation_id", "name", "value"), OTHERS)
def test_a_filter_leaves_out_what_it_does_not_say(
    lists: FilledLists, operation_id: str, name: str, value: str
) -> None:
    assert lists.read_filtered(operation_id, name, value) == lists.read(operation_id)[0][1:]


def test_every_list_and_every_filter_is_tried() -> None:
    queries = {
        name: {parameter["name"] for parameter in operation.parameters if parameter["in"] == "query"}
        for name, operation in OPERATIONS.items()
    }
    filters = {(name, each) for name, query in queries.items() for each in query if "cursor" in query}
    tried = {(name, each) for name, each, _ in NEWEST + OTHERS}
    paging = {(name, each) for name in LISTS for each in ("limit", "cursor")}
    assert {row for row in filters if row[0] != "list_monitors"} == tried | paging | TRIED_ELSEWHERE


async def check(monitor_id: str) -> None:
    """Store the results of some checks, of which the last one failed."""
    monitor = await Monitor.get(id=monitor_id)
    async with transaction() as connection:
        await insert_results(connection, [result_of(monitor.id, moment) for moment in MOMENTS])


def result_of(monitor_id: UUID, moment: datetime) -> CheckResult:
    is_up = moment != MOMENTS[-1]
    return CheckResult(
        monitor_id=monitor_id,
        checked_at=moment,
        outcome="up" if is_up else "down",
        status_code=200 if is_up else 503,
        response_time_ms=17,
        dns_ms=1,
        connect_ms=2,
        tls_ms=3,
        first_byte_ms=5,
        error=None if is_up else "unexpected_status",
        error_message=None if is_up else "Answered 503 instead of 2xx",
    )


async def break_and_heal(monitor_id: str, other_monitor_id: str) -> None:
    """Give one monitor resolved incidents, and then the other one an open incident."""
    monitor, other_monitor = [await Monitor.get(id=each) for each in (monitor_id, other_monitor_id)]
    for moment in MOMENTS[:-1]:
        await fail(monitor, moment)
        await resolve_incident(monitor, resolved_at=moment, resolution=Resolution.RECOVERED)
    await fail(other_monitor, MOMENTS[-1])


async def fail(monitor: Monitor, moment: datetime) -> None:
    await open_incident(
        monitor, started_at=moment, confirmed_at=moment, error="timeout", error_message="No answer"
    )


async def give_up(delivery_id: str) -> None:
    """Set a delivery to failed permanently, even if a worker is currently sending it."""
    await NotificationDelivery.filter(id=delivery_id).update(status="failed", due_at=None, claim=None)


async def publish(tags: Mapping[str, str]) -> str:
    """Publish articles with several segments, and return the id of the newest article.

    Only the newest was translated into Spanish, and only the newest was changed recently.
    """
    content = "\n\n".join(f"Fit {number}." for number in reversed(range(ROWS)))
    for moment in MOMENTS:
        is_newest = moment == MOMENTS[-1]
        article = Article(
            identity=str(uuid4()),
            slug=str(uuid4()),
            revision=1,
            content_hash="",
            payload={"article": {"content": content, "format": "markdown"}},
            tags=[tags["every_tag"], tags["newest_tag" if is_newest else "other_tag"]],
            received_at=moment,
            updated_at=moment,
            nudged_at=moment,
        )
        await article.save()
        await Translation.create(
            article=article,
            locale="es",
            revision=1,
            status="translated" if is_newest else "failed",
            due_at=moment,
            translated_at=moment if is_newest else None,
        )
    return str(article.id)
