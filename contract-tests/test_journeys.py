"""Follows the document's links through the API, and compares every response with the document."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

import links
from links import Exchange, Link, link_of
from monitoring.monitors.models import Monitor
from promises import DOCUMENT, JSON, OPERATIONS, Answer
from traveller import Traveller, setting_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from monitoring.contract.document import Operation
    from running_service import RunningService

SETTLE_SECONDS = 60

# Filters that match only the first of two monitors, and filters that match only the second.
FILTERS = {
    "status": ("paused", "pending"),
    "tag": ("shop",),
    "paused": ("true", "false"),
    "search": ("STOREFRONT", "blog.example"),
}

LINKS = links.all_links()
CREATE, READ = OPERATIONS["create_monitor"], OPERATIONS["get_monitor"]
UPDATE, LIST = OPERATIONS["update_monitor"], OPERATIONS["list_monitors"]
TRANSLATION = OPERATIONS["get_article_translation"]
DELIVER = next(operation for operation in OPERATIONS.values() if operation.path == "/api/webhooks/publisher")

# Operations whose response says where to query the progress of what they started.
SAY_WHERE = [
    operation
    for operation in OPERATIONS.values()
    if "Location" in operation.responses[str(links.first_success(operation))].get("headers", {})
    and operation.room != "sandbox"  # to which travellers have no access
]

# Maps the schema of a body to the parameter that takes the body's `id`.
IDS = {
    "Article": "article_id",
    "MaintenanceWindow": "window_id",
    "Monitor": "monitor_id",
    "NotificationDelivery": "delivery_id",
    "NotificationChannel": "channel_id",
    "NotificationChannelCreated": "channel_id",
    "ReceiverExam": "exam_id",  # no operation has this parameter
    "Segment": "segment_id",
}


def ids_told(operation: Operation, stop: Exchange) -> Iterator[tuple[str, str]]:
    """Yield the ids in a response's body, with the names of the parameters that take them."""
    content = operation.responses[str(stop.answer.status)].get("content", {})
    schema = content.get(JSON, {}).get("schema", {}).get("$ref", "").rpartition("/")[2]
    for name, value in stop.answer.json.items() if stop.answer.body else ():
        if name in IDS.values():
            yield name, value
        if name == "id":
            yield IDS[schema], value


@pytest.fixture
def traveller(service: RunningService) -> Iterator[Traveller]:
    with setting_out(service) as traveller:
        yield traveller


class TestLinks:
    @pytest.mark.parametrize("link", LINKS, ids=str)
    def test_a_link_leads_to_the_same_thing(self, traveller: Traveller, link: Link) -> None:
        way = links.way_to(link)
        stops = traveller.walk(way)
        assert stops[-1].answer.status == links.first_success(link.target)
        operations = [way[0].source, *(each.target for each in way)]
        named = {
            *(name for stop in stops for name in stop.path_values.items()),
            *(name for each in zip(operations, stops, strict=True) for name in ids_told(*each)),
        }
        assert len(named) == len({name for name, _ in named}), f"names two things: {sorted(named)}"

    def test_every_operation_that_needs_an_id_has_a_link_to_it(self) -> None:
        unlinked = {
            operation.operation_id
            for operation in OPERATIONS.values()
            if links.needs_an_id(operation) and operation.definition["security"]
        } - {link.target.operation_id for link in LINKS}
        # Incidents appear only in lists, and a link cannot select an item of a list.
        assert unlinked == {
            "get_incident",
            "acknowledge_incident",
            "list_incident_notes",
            "create_incident_note",
            # Only heartbeats have pings, and a link cannot select a heartbeat.
            "list_pings",
            "renew_ping_url",
            # The client chooses the key, so no response provides it.
            "put_monitor_by_key",
            "put_maintenance_window_by_key",
            "put_notification_channel_by_key",
        }

    @pytest.mark.parametrize("source", SAY_WHERE, ids=lambda source: source.operation_id)
    def test_location_is_where_the_link_to_read_it_leads(
        self, traveller: Traveller, source: Operation
    ) -> None:
        made = traveller.reach(source)
        read = next(link for link in LINKS if link.source == source and link.target.method == "get")
        path = read.target.path.format_map(links.resolve(read, made))
        assert links.evaluate("$response.header.Location", made) == path

    @pytest.mark.parametrize(
        ("expression", "value"),
        [
            ("$url", "/things/7?deep=true"),
            ("$method", "POST"),
            ("$statusCode", 201),
            ("$request.path.thing_id", "7"),
            ("$request.body#/owner/name", "Alice"),
            ("$response.header.Location", "/things/7"),
            ("$response.body", {"a/b": [{"id": 7}]}),
            ("$response.body#/a~1b/0/id", 7),
            ("thing-{$response.body#/a~1b/0/id}-{$method}", "thing-7-POST"),
            ("plain", "plain"),
            (17, 17),
        ],
    )
    def test_runtime_expressions_mean_what_the_specification_says(self, expression: Any, value: Any) -> None:
        answer = Answer(201, {"location": "/things/7"}, b'{"a/b": [{"id": 7}]}')
        body = {"owner": {"name": "Alice"}}
        exchange = Exchange("/things/7?deep=true", "POST", {"thing_id": "7"}, body, answer)
        assert links.evaluate(expression, exchange) == value

    @pytest.mark.parametrize("expression", ["$response.trailer.Digest", "$request.body.name", "$nothing"])
    def test_what_is_no_runtime_expression_is_an_error(self, expression: str) -> None:
        with pytest.raises(LookupError):
            links.evaluate(expression, Exchange("/", "GET", {}, None, Answer(200, {}, b"{}")))


class TestMonitor:
    def test_lives_from_a_token_to_its_end(self, service: RunningService) -> None:
        with setting_out(service) as traveller:
            created = traveller.call(CREATE)
            read = traveller.follow(link_of(CREATE, "get_monitor"), created)
            changed = traveller.follow(link_of(READ, "update_monitor"), read)
            listed = traveller.call(LIST)
            muted = traveller.follow(link_of(CREATE, "mute_monitor"), created)
            read_muted = traveller.follow(link_of(CREATE, "get_monitor"), created)
            traveller.follow(link_of(CREATE, "unmute_monitor"), created)
            gone = traveller.follow(link_of(UPDATE, "delete_monitor"), changed)
            nothing = traveller.follow(link_of(CREATE, "get_monitor"), created)
            empty = traveller.call(LIST)
        assert read.answer.json == created.answer.json
        assert read_muted.answer.json["mute"] == muted.answer.json
        assert changed.answer.json == read.answer.json | changed.body | moved_on(read, changed)
        assert listed.answer.json["monitors"] == [changed.answer.json]
        assert (gone.answer.status, nothing.answer.status) == (204, 404)
        assert empty.answer.json["monitors"] == []

    def test_has_the_documents_default_wherever_nothing_was_said(self, traveller: Traveller) -> None:
        created = traveller.call(CREATE, {"url": "https://shop.example.com/"}).answer.json
        properties = DOCUMENT.root["components"]["schemas"]["MonitorCreate"]["properties"]
        followed = {name: DOCUMENT.follow(schema) for name, schema in properties.items()}
        defaults = {name: schema["default"] for name, schema in followed.items() if "default" in schema}
        assert {name: created[name] for name in defaults} == defaults

    def test_is_not_there_for_another_team(self, traveller: Traveller, service: RunningService) -> None:
        alices = traveller.call(CREATE)
        with setting_out(service) as charlie:
            theirs = {
                link.target.operation_id: charlie.follow(link, alices).answer
                for link in LINKS
                if link.source == CREATE
            }
            assert charlie.call(LIST).answer.json["monitors"] == []
        incidents = theirs.pop("list_incidents")
        assert (incidents.status, incidents.json["incidents"]) == (200, [])
        assert {answer.status for answer in theirs.values()} == {404}
        assert traveller.follow(link_of(CREATE, "get_monitor"), alices).answer.json == alices.answer.json

    def test_that_the_document_has_no_words_for_is_an_error_of_ours(
        self, traveller: Traveller, service: RunningService
    ) -> None:
        created = traveller.call(CREATE)
        service.run(mislay(created.answer.json["id"]))
        read = traveller.ask(READ, monitor_id=created.answer.json["id"])
        assert read.answer.status == 500

    def test_is_created_once_whatever_is_repeated(self, traveller: Traveller) -> None:
        first, again = (traveller.call(CREATE, **{"Idempotency-Key": "once"}) for _ in range(2))
        assert (again.answer.status, again.answer.body) == (first.answer.status, first.answer.body)
        assert again.answer.headers["location"] == first.answer.headers["location"]
        assert traveller.call(LIST).answer.json["monitors"] == [first.answer.json]

    @pytest.mark.parametrize("name", FILTERS)
    def test_is_found_by_what_a_filter_says_and_by_nothing_else(
        self, traveller: Traveller, name: str
    ) -> None:
        told_apart = {"name": "Storefront", "tags": ["shop"], "paused": True}
        wanted = traveller.call(CREATE, {"url": "https://shop.example.com/", **told_apart}).answer.json
        other = traveller.call(CREATE, {"url": "https://blog.example.com/"}).answer.json
        for value, monitor in zip(FILTERS[name], (wanted, other), strict=False):
            assert traveller.call(LIST, **{name: value}).answer.json["monitors"] == [monitor]

    def test_every_filter_of_the_list_is_tried(self) -> None:
        names = {parameter["name"] for parameter in LIST.parameters if parameter["in"] == "query"}
        tried_elsewhere = {"type"}  # by tests/monitors/test_types.py
        assert names == {*FILTERS, "limit", "cursor"} | tried_elsewhere

    def test_is_met_once_by_whoever_turns_the_pages(self, traveller: Traveller) -> None:
        created = [traveller.call(CREATE).answer.json for _ in range(5)]
        met: list[Any] = []
        cursor: dict[str, str] = {}
        for _ in created:
            page = traveller.call(LIST, limit="2", **cursor).answer.json
            met += page["monitors"]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert met == created[::-1]


class TestArticle:
    def test_is_translated_and_translated_again_when_it_changes(self, traveller: Traveller) -> None:
        _, example = next(links.examples_of_body(DELIVER))
        delivery = example | {"article": example["article"] | {"id": str(uuid4())}}
        changed = delivery | {"article": delivery["article"] | {"title": "How to lace running shoes"}}
        changed["timestamp"] = f"{int(example['timestamp'][:4]) + 1}{example['timestamp'][4:]}"
        for revision, body in enumerate([delivery, changed], start=1):
            accepted = traveller.call(DELIVER, body)
            article = wait_until_settled(traveller, accepted)
            told = {(row["locale"], row["revision"], row["status"]) for row in article["translations"]}
            locales = accepted.answer.json["locales"]
            assert told == {(locale, revision, "translated") for locale in locales}
            assert article["title"] == body["article"]["title"]
            assert all(row["attempts"] and row["translated_at"] for row in article["translations"])
        again = traveller.call(DELIVER, changed)
        assert again.answer.json == accepted.answer.json
        assert wait_until_settled(traveller, again) == article

    def test_is_taken_back_published_again_and_deleted(self, traveller: Traveller) -> None:
        state, remove = link_of(DELIVER, "get_article"), link_of(DELIVER, "delete_article")
        named = {"article": {"id": str(uuid4())}}
        assert traveller.call(DELIVER, named | {"event": "article.published"}).answer.status == 409
        accepted = traveller.call(DELIVER, {"article": named["article"] | {"content": "Fit first."}})
        for event, status in (("article.unpublished", "unpublished"), ("article.published", "published")):
            told = traveller.call(DELIVER, named | {"event": event})
            assert told.answer.json["article_id"] == accepted.answer.json["article_id"]
            assert traveller.follow(state, told).answer.json["status"] == status
            assert accepted.answer.json["article_id"] in listed_ids(traveller, status=status)
        assert traveller.follow(remove, accepted).answer.status == 204
        assert traveller.follow(state, accepted).answer.status == 404
        assert accepted.answer.json["article_id"] in listed_ids(traveller, status="deleted")

    def test_is_read_in_every_locale_and_again_only_when_it_changes(self, traveller: Traveller) -> None:
        accepted = traveller.call(DELIVER, {"article": {"id": str(uuid4()), "title": "Fit first"}})
        article = wait_until_settled(traveller, accepted)
        for locale in ["en", *accepted.answer.json["locales"]]:
            here = {"article_id": article["id"], "locale": locale}
            read = traveller.call(TRANSLATION, **here).answer
            assert read.json["locale"] == locale
            assert (read.json["submission"] == accepted.body) is (locale == "en")
            again = traveller.call(TRANSLATION, **here, **{"If-None-Match": read.headers["etag"]}).answer
            assert (again.status, again.body) == (304, b"")
        assert article["id"] in listed_ids(traveller, locale=locale, updated_since=article["updated_at"])

    def test_says_what_people_made_of_it(self, traveller: Traveller) -> None:
        submission = {"article": {"id": str(uuid4()), "title": "Fit first"}}
        accepted = traveller.call(DELIVER, submission)
        wait_until_settled(traveller, accepted)
        read = traveller.follow(link_of(DELIVER, "get_article"), accepted)
        listed = traveller.follow(link_of(OPERATIONS["get_article"], "list_translation_segments"), read)
        correct = OPERATIONS["correct_translation_segment"]
        here = links.resolve(
            link_of(OPERATIONS["list_translation_segments"], "correct_translation_segment"), listed
        )
        traveller.call(correct, {"text": "Sit first"}, **here)
        wait_until_settled(traveller, accepted)
        translated = traveller.call(TRANSLATION, article_id=here["article_id"], locale=here["locale"])
        assert translated.answer.json["submission"]["article"]["title"] == "Sit first"
        assert translated.answer.json["corrected_segments"] == 1

    def test_of_a_test_delivery_is_nowhere(self, traveller: Traveller) -> None:
        pings = [body for _, body in links.examples_of_body(DELIVER) if body.get("event") == "test"]
        for ping in pings:
            answer = traveller.call(DELIVER, ping).answer
            assert (answer.status, answer.json["article_id"]) == (202, None)
            assert "location" not in answer.headers


async def mislay(monitor_id: str) -> None:
    """Store a status that no response may contain."""
    await Monitor.filter(id=monitor_id).update(status="mislaid")


def moved_on(before: Exchange, after: Exchange) -> Mapping[str, Any]:
    """Return the fields that every change updates, with their new values. Assert that they changed."""
    assert before.answer.headers["etag"] != after.answer.headers["etag"]
    updated_at: str = after.answer.json["updated_at"]
    assert updated_at > before.answer.json["updated_at"]
    return {"updated_at": updated_at}


def listed_ids(traveller: Traveller, **query: str) -> list[str]:
    """Return the ids of the newest articles that a filter matches."""
    listed = traveller.call(OPERATIONS["list_articles"], **query).answer.json["articles"]
    return [article["id"] for article in listed]


def wait_until_settled(traveller: Traveller, accepted: Exchange) -> Any:
    """Follow the link to an article until each locale is translated or has failed. Return the article."""
    state = link_of(DELIVER, "get_article")
    deadline = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline:
        article = traveller.follow(state, accepted).answer.json
        if all(row["status"] in ("translated", "failed") for row in article["translations"]):
            return article
    pytest.fail("the translations did not settle")
