"""Follows an incident through the API: a team's server breaks, the team is notified, the server recovers."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from standardwebhooks import Webhook

import promises
from links import Exchange, all_links, link_of
from promises import OPERATIONS
from running_service import RunningService, running_service
from service_process import wait_until
from traveller import Traveller, setting_out
from unsteady_server import UnsteadyServer, unsteady_server

if TYPE_CHECKING:
    from collections.abc import Iterator

CREATE, READ, UPDATE = (OPERATIONS[f"{verb}_monitor"] for verb in ("create", "get", "update"))
LIST_CHECKS = OPERATIONS["list_checks"]
DELIVER = OPERATIONS["deliver_article"]
READ_INCIDENT = OPERATIONS["get_incident"]
REGISTER, REPLACE = OPERATIONS["create_notification_channel"], OPERATIONS["update_notification_channel"]
TEST, REDELIVER = OPERATIONS["test_notification_channel"], OPERATIONS["redeliver_notification"]
LIST_DELIVERIES = OPERATIONS["list_notification_deliveries"]
RECEIVED = promises.DOCUMENT.root["webhooks"]["notification"]["post"]

# An interval so long that only requested checks, and the checks that follow a failure, are made.
INTERVAL_SECONDS = 86_400


@pytest.fixture(scope="module")
def watching_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Start a service that makes checks and may connect to this machine."""
    folder = tmp_path_factory.mktemp("watching")
    with running_service(folder, checks_at_once=10, allowed_networks=("127.0.0.0/8",)) as service:
        yield service


@pytest.fixture
def traveller(watching_service: RunningService) -> Iterator[Traveller]:
    with setting_out(watching_service) as traveller:
        yield traveller


@pytest.fixture
def server() -> Iterator[UnsteadyServer]:
    with unsteady_server() as server:
        yield server


class TestWatchedServer:
    def test_breaks_and_heals_and_all_of_it_is_told(
        self, traveller: Traveller, server: UnsteadyServer
    ) -> None:
        webhook = traveller.call(REGISTER, {"type": "webhook", "url": server.url})
        created = traveller.call(CREATE, {"url": server.url, "interval_seconds": INTERVAL_SECONDS})
        statuses = [created.answer.json["status"], wait_for_status(traveller, created, "up")]
        server.is_broken = True
        statuses += [check_now(traveller, created) for _ in range(2)]
        (opened,) = incidents_of(traveller, created)
        server.is_broken = False
        statuses += [check_now(traveller, created) for _ in range(2)]
        (resolved,) = incidents_of(traveller, created)
        assert statuses == ["pending", "up", "validating", "down", "down", "up"]
        assert opened["state"] == "open"
        assert opened == resolved | {"state": "open", "resolved_at": None, "resolution": None}
        assert (resolved["state"], resolved["resolution"]) == ("resolved", "recovered")
        self.checks_tell_of_it(traveller, created, resolved)
        self.sums_agree_with_it(traveller, created, resolved)
        self.notifications_tell_of_it(traveller, webhook, server, [opened, resolved])

    def checks_tell_of_it(self, traveller: Traveller, created: Exchange, incident: Any) -> None:
        found = traveller.follow(link_of(CREATE, "list_checks"), created).answer.json["checks"]
        runs = [
            (outcome, list(checks)) for outcome, checks in groupby(found[::-1], lambda each: each["outcome"])
        ]
        assert [outcome for outcome, _ in runs] == ["up", "down", "up"]
        first_failure, second_failure, *_ = runs[1][1]
        assert incident["started_at"] == first_failure["checked_at"]
        assert incident["confirmed_at"] == second_failure["checked_at"]
        assert incident["resolved_at"] == runs[2][1][0]["checked_at"]
        assert (incident["error"], incident["error_message"]) == (
            second_failure["error"],
            second_failure["error_message"],
        )
        assert first_failure["status_code"] == 503

    def sums_agree_with_it(self, traveller: Traveller, created: Exchange, incident: Any) -> None:
        uptime = traveller.follow(link_of(CREATE, "get_uptime"), created).answer.json
        times = traveller.follow(link_of(CREATE, "get_response_times"), created).answer.json
        found = traveller.follow(link_of(CREATE, "list_checks"), created).answer.json["checks"]
        broken_for = read(incident["resolved_at"]) - read(incident["started_at"])
        existed_for = read(uptime["ends_at"]) - read(created.answer.json["created_at"])
        up_seconds, down_seconds = uptime["up_seconds"], uptime["down_seconds"]
        assert timedelta(seconds=down_seconds) == broken_for
        sums = [up_seconds, down_seconds, uptime["paused_seconds"]]
        sums += [uptime["maintenance_seconds"], uptime["unknown_seconds"]]
        assert timedelta(seconds=sum(sums)) == existed_for
        pending_for = read(found[-1]["checked_at"]) - read(created.answer.json["created_at"])
        assert timedelta(seconds=uptime["unknown_seconds"]) == pending_for
        assert uptime["uptime_ratio"] == pytest.approx(up_seconds / (up_seconds + down_seconds))
        assert times["check_count"] == len(found)
        assert times["failed_check_count"] == sum(check["outcome"] == "down" for check in found)

    def notifications_tell_of_it(
        self, traveller: Traveller, webhook: Exchange, server: UnsteadyServer, incidents: list[Any]
    ) -> None:
        wait_until(
            lambda: [each["status"] for each in deliveries_to(traveller, webhook)] == ["delivered"] * 2
        )
        told = [verify(webhook, *notification) for notification in server.notifications]
        assert {each["type"]: each["data"]["incident"] for each in told} == {
            "incident.opened": incidents[0],
            "incident.resolved": incidents[1],
        }
        assert {each["data"]["monitor"]["id"] for each in told} == {incidents[0]["monitor_id"]}

    def test_is_not_checked_while_its_monitor_rests(
        self, traveller: Traveller, server: UnsteadyServer
    ) -> None:
        created = traveller.call(CREATE, {"url": server.url, "paused": True})
        assert (created.answer.json["status"], created.answer.json["next_check_at"]) == ("paused", None)
        refused = traveller.follow(link_of(CREATE, "check_monitor_now"), created)
        resumed = traveller.follow(link_of(CREATE, "update_monitor"), created, {"paused": False})
        assert refused.answer.status == 409
        assert resumed.answer.json["status"] == "pending"
        wait_for_status(traveller, created, "up")
        (check,) = traveller.follow(link_of(CREATE, "list_checks"), created).answer.json["checks"]
        assert check["checked_at"] >= resumed.answer.json["updated_at"]

    def test_is_broken_no_more_when_its_monitor_is_deleted(
        self, traveller: Traveller, server: UnsteadyServer
    ) -> None:
        webhook = traveller.call(
            REGISTER, {"type": "webhook", "url": server.url, "events": ["incident.resolved"]}
        )
        server.is_broken = True
        created = traveller.call(CREATE, {"url": server.url, "failure_threshold": 1})
        wait_for_status(traveller, created, "down")
        (incident,) = incidents_of(traveller, created)
        traveller.follow(link_of(CREATE, "delete_monitor"), created)
        wait_until(lambda: server.notifications)
        told = verify(webhook, *server.notifications[0])["data"]["incident"]
        ending = {"state": "resolved", "resolution": "deleted", "resolved_at": told["resolved_at"]}
        assert told == incident | ending
        assert incidents_of(traveller, created) == [told]
        assert traveller.call(READ_INCIDENT, incident_id=incident["id"]).answer.json == told


class TestNotificationChannel:
    def test_lives_until_it_is_deleted(self, traveller: Traveller, server: UnsteadyServer) -> None:
        registered = traveller.call(REGISTER, {"type": "webhook", "url": server.url, "name": "Pager"})
        tested = traveller.follow(link_of(REGISTER, TEST.operation_id), registered)
        wait_until(lambda: deliveries_to(traveller, registered, status="delivered"))
        again = traveller.follow(link_of(TEST, REDELIVER.operation_id), tested)
        assert (again.answer.json["id"], again.answer.json["attempts"]) == (tested.answer.json["id"], 0)
        wait_until(lambda: deliveries_to(traveller, registered, status="delivered"))
        (delivery,) = deliveries_to(traveller, registered)
        assert (delivery["event"], delivery["attempts"], delivery["status_code"]) == ("test", 1, 204)
        first, second = server.notifications
        assert first[0]["webhook-id"] == second[0]["webhook-id"] == delivery["id"]
        assert verify(registered, *first) == verify(registered, *second)
        off = traveller.follow(
            link_of(REGISTER, REPLACE.operation_id), registered, {"type": "webhook", "enabled": False}
        )
        assert off.answer.json == without_secret(registered) | {
            "enabled": False,
            "updated_at": off.answer.json["updated_at"],
        }
        refused = [
            traveller.follow(link_of(REGISTER, TEST.operation_id), registered),
            traveller.follow(link_of(TEST, REDELIVER.operation_id), tested),
        ]
        assert [each.answer.status for each in refused] == [409, 409]
        gone = traveller.follow(link_of(REGISTER, "delete_notification_channel"), registered)
        after = traveller.follow(link_of(REGISTER, LIST_DELIVERIES.operation_id), registered)
        assert (gone.answer.status, after.answer.status) == (204, 404)
        assert len(server.notifications) == 2

    def test_is_told_of_articles_if_it_asks_for_them(
        self, traveller: Traveller, server: UnsteadyServer
    ) -> None:
        events = ["article.translated", "article.unpublished"]
        registered = traveller.call(REGISTER, {"type": "webhook", "url": server.url, "events": events})
        named = {"article": {"id": str(uuid4())}}
        accepted = traveller.call(DELIVER, {"article": named["article"] | {"title": "Fit first"}}).answer.json
        expected = len(accepted["locales"])
        wait_until(lambda: len(server.notifications) == expected)
        traveller.call(DELIVER, named | {"event": "unpublish"})
        wait_until(lambda: len(server.notifications) == expected + 1)
        told = [verify(registered, *notification) for notification in server.notifications]
        assert [each["type"] for each in told] == [events[0]] * expected + [events[1]]
        assert {each["data"]["article"]["id"] for each in told} == {accepted["article_id"]}
        locales = {each["data"]["translation"]["locale"] for each in told[:-1]}
        assert locales == set(accepted["locales"])

    def test_tells_its_secret_once(self, traveller: Traveller) -> None:
        registered = traveller.call(REGISTER)
        read_again = traveller.follow(link_of(REGISTER, "get_notification_channel"), registered)
        listed = traveller.call(OPERATIONS["list_notification_channels"]).answer.json
        assert read_again.answer.json == without_secret(registered)
        assert listed["notification_channels"] == [without_secret(registered)]

    def test_is_not_there_for_another_team(
        self, traveller: Traveller, watching_service: RunningService, server: UnsteadyServer
    ) -> None:
        registered = traveller.call(REGISTER, {"type": "webhook", "url": server.url})
        tested = traveller.follow(link_of(REGISTER, TEST.operation_id), registered)
        with setting_out(watching_service) as charlie:
            theirs = [
                charlie.follow(link, registered).answer.status
                for link in all_links()
                if link.source == REGISTER
            ]
            theirs.append(charlie.follow(link_of(TEST, REDELIVER.operation_id), tested).answer.status)
            listed = charlie.call(OPERATIONS["list_notification_channels"]).answer.json
        assert set(theirs) == {404}
        assert listed["notification_channels"] == []
        still = traveller.follow(link_of(REGISTER, "get_notification_channel"), registered)
        assert still.answer.json == without_secret(registered)


class TestIncident:
    def test_is_not_there_for_another_team(
        self, traveller: Traveller, watching_service: RunningService, server: UnsteadyServer
    ) -> None:
        server.is_broken = True
        created = traveller.call(CREATE, {"url": server.url, "failure_threshold": 1})
        wait_for_status(traveller, created, "down")
        (incident,) = incidents_of(traveller, created)
        with setting_out(watching_service) as charlie:
            theirs = charlie.call(READ_INCIDENT, incident_id=incident["id"]).answer
            assert incidents_of(charlie, created) == []
        assert theirs.status == 404
        assert traveller.call(READ_INCIDENT, incident_id=incident["id"]).answer.json == incident


def wait_for_status(traveller: Traveller, created: Exchange, status: str) -> str:
    """Follow the link to a monitor until the monitor has this status."""
    read_monitor = link_of(CREATE, READ.operation_id)
    wait_until(lambda: traveller.follow(read_monitor, created).answer.json["status"] == status)
    return status


def check_now(traveller: Traveller, created: Exchange) -> str:
    """Request a check, wait for it, and return the monitor's status after the check."""
    read_monitor = link_of(CREATE, READ.operation_id)
    before = traveller.follow(read_monitor, created).answer.json["last_checked_at"]
    traveller.follow(link_of(CREATE, "check_monitor_now"), created)
    wait_until(lambda: traveller.follow(read_monitor, created).answer.json["last_checked_at"] > before)
    status: str = traveller.follow(read_monitor, created).answer.json["status"]
    return status


def incidents_of(traveller: Traveller, created: Exchange) -> list[Any]:
    listed: list[Any] = traveller.follow(link_of(CREATE, "list_incidents"), created).answer.json["incidents"]
    return listed


def deliveries_to(traveller: Traveller, registered: Exchange, **wanted: str) -> list[Any]:
    channel_id = registered.answer.json["id"]
    listed = traveller.call(LIST_DELIVERIES, channel_id=channel_id, **wanted).answer.json
    deliveries: list[Any] = listed["deliveries"]
    return deliveries


def verify(registered: Exchange, headers: Any, body: bytes) -> Any:
    """Verify a notification with a third-party library, and validate it against the document's webhook."""
    for parameter in RECEIVED["parameters"]:
        text = headers[parameter["name"]]
        value = int(text) if parameter["schema"]["type"] == "integer" else text
        promises.judge_value(value, parameter["schema"])
    told = Webhook(registered.answer.json["secret"]).verify(body, headers)
    promises.judge_value(told, RECEIVED["requestBody"]["content"][headers["content-type"]]["schema"])
    return told


def without_secret(registered: Exchange) -> dict[str, Any]:
    return {name: value for name, value in registered.answer.json.items() if name != "secret"}


def read(timestamp: str) -> datetime:
    return datetime.fromisoformat(timestamp)
