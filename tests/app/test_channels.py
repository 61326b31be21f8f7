"""Settings, notifications: creating, testing and deleting channels without a script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from app.visitor import Visitor, read_forms, read_text
from cast import form_team
from monitoring.app import zones
from monitoring.app.channels.form import fields_of
from monitoring.app.channels.labels import EVENTS, SHORT_EVENTS, TYPES
from monitoring.app.channels.routing_form import describe_routing
from monitoring.contract.document import published_document
from monitoring.monitors.service import create_monitor
from monitoring.notifications.configuration import complete_routing
from notifications.addressee import Addressee
from running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cast import Player
    from running_service import RunningService

CHANNELS = "/settings/notifications"
API = "/api/notification-channels"
SCHEMAS = published_document().root["components"]["schemas"]

A_SECRET_ADDRESS = {"url": "https://chat.example.com/a-secret"}

# A form of each type, as it may be filled in.
FILLED: dict[str, dict[str, str]] = {
    **dict.fromkeys(("slack", "discord", "microsoft_teams", "google_chat", "mattermost"), A_SECRET_ADDRESS),
    "telegram": {"bot_token": f"1:{'a' * 35}", "chat_id": "@ops_of_acme"},
    "pagerduty": {"routing_key": "R" * 32, "region": "eu"},
    "opsgenie": {"api_key": "e" * 36, "region": "jira"},
    "email": {"address": "ops@example.com"},
    "ntfy": {"url": "https://ntfy.sh", "topic": "ours", "token": ""},
    "pushover": {"app_token": "a" * 30, "user_key": "u" * 30},
    "webhook": {"url": "https://pager.example.com/hooks"},
    "custom": {
        "method": "PUT",
        "url": "https://api.example.com/tickets",
        "headers": "X-Key: a\r\nAccept: b\r\n",
        "body": '{"summary": "{{title}}"}',
    },
}


def list_channels(player: Player) -> list[dict[str, Any]]:
    channels: list[dict[str, Any]] = player.get(API).raise_for_status().json()["notification_channels"]
    return channels


def fill_in(visitor: Visitor, channel_type: str, **texts: Any) -> Any:
    return visitor.submit(f"{CHANNELS}/new?type={channel_type}", **texts)


class TestWords:
    def test_there_are_some_for_every_type_and_event_of_the_document(self) -> None:
        assert TYPES.keys() == SCHEMAS["NotificationChannelCreate"]["discriminator"]["mapping"].keys()
        assert list(EVENTS) == list(SHORT_EVENTS) == SCHEMAS["NotificationEvent"]["enum"]

    @pytest.mark.parametrize("channel_type", TYPES)
    def test_every_field_of_a_type_has_a_label(self, channel_type: str) -> None:
        assert all(field.label for field in fields_of(channel_type))


class TestRoutes:
    @pytest.mark.parametrize(
        ("routing", "words"),
        [
            ({}, "all monitors"),
            ({"tags": ["shop"], "delay_seconds": 300}, "tag shop, after 5 min"),
            (
                {
                    "tags": ["a", "b"],
                    "monitor_ids": ["1", "2"],
                    "delay_seconds": 60,
                    "unless_acknowledged": True,
                },
                "tags a, b or 2 monitors, after 1 min unless acknowledged",
            ),
            (
                {"quiet_hours": {"starts_at": "22:00", "ends_at": "07:00"}},
                "all monitors, not from 22:00 to 07:00",
            ),
        ],
    )
    def test_are_told_in_a_few_words(self, routing: dict[str, Any], words: str) -> None:
        assert describe_routing(complete_routing({"routing": routing})["routing"]) == words


class TestNewChannel:
    def test_begins_with_the_choice_of_a_type(self, member: Visitor) -> None:
        page = member.open(f"{CHANNELS}/new").text
        assert all(f"{CHANNELS}/new?type={channel_type}" in page for channel_type in TYPES)

    @pytest.mark.parametrize("channel_type", TYPES)
    def test_is_created_as_the_form_says(self, member: Visitor, alice: Player, channel_type: str) -> None:
        answer = fill_in(member, channel_type, name="Ops", **FILLED[channel_type])
        assert answer.status_code == 200, read_text(answer.text)
        (channel,) = list_channels(alice)
        assert (channel["type"], channel["name"]) == (channel_type, "Ops")
        assert channel["events"] == ["incident.opened", "incident.resolved", "channel.disabled"]
        assert ("whsec_" in answer.text) == (channel_type == "webhook")
        assert "Ops" in member.open(CHANNELS).text

    def test_by_email_is_not_offered_by_a_service_that_sends_none(self, tmp_path: Path) -> None:
        with running_service(tmp_path, smtp_url=None, email_from=None) as service:
            with Visitor(service, form_team(service)) as visitor:
                page = visitor.open(f"{CHANNELS}/new").text
                answer = fill_in(visitor, "email", **FILLED["email"])
            assert "This service sends no email" in page
            assert f"{CHANNELS}/new?type=email" not in page
            assert answer.status_code == 409
            assert "Email not configured" in answer.text

    def test_tells_everything_that_is_wrong_at_once(self, member: Visitor) -> None:
        wrong = {"name": "\u200b", "url": "ftp://a.example.com", "body": "{", "routing_tags": "a" * 300}
        answer = fill_in(member, "custom", **wrong)
        assert answer.status_code == 400
        fields = {field for field in wrong if f'id="error-{field}"' in answer.text}
        assert fields == wrong.keys()
        assert "Must be a JSON object" in answer.text

    def test_tells_of_a_private_network_beside_what_else_is_wrong(self, member: Visitor) -> None:
        answer = fill_in(member, "custom", url="http://127.0.0.1/", body="{")
        assert "Must lead to a public address" in answer.text
        assert "Must be a JSON object" in answer.text

    def test_says_at_the_address_that_it_is_in_a_private_network(
        self, member: Visitor, alice: Player
    ) -> None:
        answer = fill_in(member, "webhook", url="http://127.0.0.1/hooks")
        assert answer.status_code == 400
        assert 'id="error-url"' in answer.text
        assert "Must lead to a public address" in answer.text
        assert list_channels(alice) == []

    def test_names_the_field_that_is_wrong_and_keeps_what_was_typed(
        self, member: Visitor, alice: Player
    ) -> None:
        answer = fill_in(member, "pagerduty", name="On call", routing_key="short", region="eu")
        assert answer.status_code == 400
        assert "Must be the 32 letters and digits of an integration key" in answer.text
        assert 'value="On call"' in answer.text
        assert '<option value="eu" selected>' in answer.text
        assert list_channels(alice) == []

    @pytest.mark.parametrize("body", ["{", "[]"])
    def test_says_that_a_body_is_no_object(self, member: Visitor, body: str) -> None:
        answer = fill_in(member, "custom", url="https://api.example.com/", body=body)
        assert answer.status_code == 400
        assert "object" in read_text(answer.text)

    def test_proposes_quiet_hours_by_the_reader_s_clocks(self, member: Visitor) -> None:
        member.cookies.set(zones.COOKIE, "Europe/Madrid")
        assert 'value="Europe/Madrid"' in member.open(f"{CHANNELS}/new?type=slack").text

    def test_sent_twice_is_one_channel(self, member: Visitor, alice: Player) -> None:
        form = read_forms(member.open(f"{CHANNELS}/new?type=slack").text)[f"/app{CHANNELS}/new"]
        for _ in range(2):
            assert member.post(f"{CHANNELS}/new", data=form | FILLED["slack"]).status_code == 200
        assert len(list_channels(alice)) == 1

    def test_sent_twice_shows_its_secret_once(self, member: Visitor) -> None:
        form = read_forms(member.open(f"{CHANNELS}/new?type=webhook").text)[f"/app{CHANNELS}/new"]
        first, second = (member.post(f"{CHANNELS}/new", data=form | FILLED["webhook"]).text for _ in range(2))
        assert "whsec_" in first
        assert "whsec_" not in second
        assert "Its secret was shown then" in second

    def test_that_was_wrong_is_found_again_under_the_address_of_its_form(self, member: Visitor) -> None:
        answer = fill_in(member, "pagerduty", name="On call", routing_key="short")
        assert answer.status_code == 400
        fresh = {name: text for name, text in answer.url.params.items() if name != "answer"}
        again = member.get(f"{CHANNELS}/new", params=fresh)
        assert (again.status_code, "New channel: PagerDuty" in again.text) == (200, True)


class TestChange:
    def test_shows_what_is_stored_and_keeps_secrets_that_are_left_empty(
        self, member: Visitor, alice: Player
    ) -> None:
        routing = {"routing_tags": "Shop api", "routing_delay_seconds": "300"}
        fill_in(member, "telegram", **FILLED["telegram"], **routing)
        (created,) = list_channels(alice)
        path = f"{CHANNELS}/{created['id']}"
        page = member.open(path).text
        assert 'value="shop, api"' in page
        assert '<option value="300" selected>' in page
        assert FILLED["telegram"]["bot_token"] not in page
        member.submit(path, name="Ops", routing_tags="", routing_unless_acknowledged="on", enabled="on")
        (changed,) = list_channels(alice)
        assert changed["bot_token"] == "********"
        assert (changed["name"], changed["chat_id"]) == ("Ops", "@ops_of_acme")
        assert changed["routing"] == created["routing"] | {"tags": [], "unless_acknowledged": True}

    def test_keeps_the_monitors_and_times_that_a_client_chose(self, member: Visitor, alice: Player) -> None:
        monitor_ids = ["019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70"]
        quiet_hours = {"starts_at": "22:00", "ends_at": "07:00", "time_zone": "Europe/Berlin"}
        routing = {
            "monitor_ids": monitor_ids,
            "delay_seconds": 77,
            "reminder_interval_seconds": 333,
            "quiet_hours": quiet_hours,
        }
        given = {"type": "slack", **A_SECRET_ADDRESS, "routing": routing}
        channel = alice.post(API, json=given).raise_for_status().json()
        member.submit(f"{CHANNELS}/{channel['id']}", name="Renamed")
        assert list_channels(alice) == [
            channel | {"name": "Renamed", "updated_at": list_channels(alice)[0]["updated_at"]}
        ]

    def test_chooses_monitors_by_their_names(
        self, member: Visitor, alice: Player, service: RunningService
    ) -> None:
        make = (
            create_monitor(alice.team_id, {"name": n, "url": "https://shop.invalid/"}) for n in ("A", "B")
        )
        chosen, other = [str(service.run(each).id) for each in make]
        fill_in(member, "slack", **FILLED["slack"], routing_monitor_ids=chosen)
        (channel,) = list_channels(alice)
        assert channel["routing"]["monitor_ids"] == [chosen]
        assert "1 monitor" in read_text(member.open(CHANNELS).text)
        path = f"{CHANNELS}/{channel['id']}"
        boxes = {
            value: " checked" in box
            for box, value in re.findall(
                r'(<input [^>]*name="routing_monitor_ids"[^>]*value="([^"]*)"[^>]*>)', member.open(path).text
            )
        }
        assert boxes == {chosen: True, other: False}
        member.submit(path, routing_monitor_ids=[], enabled="on")
        assert list_channels(alice)[0]["routing"]["monitor_ids"] == []
        assert "all monitors" in read_text(member.open(CHANNELS).text)

    def test_of_a_deleted_monitor_never_becomes_one_of_all(self, member: Visitor, alice: Player) -> None:
        gone = "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70"
        given = {"type": "slack", **A_SECRET_ADDRESS, "routing": {"monitor_ids": [gone]}}
        path = f"{CHANNELS}/{alice.post(API, json=given).raise_for_status().json()['id']}"
        assert "A deleted monitor" in read_text(member.open(path).text)
        member.submit(path, name="Renamed")
        assert list_channels(alice)[0]["routing"]["monitor_ids"] == [gone]

    @pytest.mark.parametrize(
        ("texts", "sentence"),
        [
            ({"routing_monitor_ids": "shop"}, "Must be"),
            ({"routing_tags": "Shop!"}, "lower-case letters"),
            ({"routing_delay_seconds": "-1"}, "Must be"),
            ({"routing_quiet_starts_at": "", "routing_quiet_ends_at": "07:00"}, "Must"),
            (
                {
                    "routing_quiet_time_zone": "Mars/Olympus",
                    "routing_quiet_starts_at": "22:00",
                    "routing_quiet_ends_at": "07:00",
                },
                "Must be a name of the IANA time zone database",
            ),
            ({"url": "ftp://chat.example.com/"}, "Must be an absolute http or https URL"),
        ],
    )
    def test_names_the_field_that_is_wrong(
        self, member: Visitor, alice: Player, texts: dict[str, str], sentence: str
    ) -> None:
        fill_in(member, "slack", **FILLED["slack"])
        before = list_channels(alice)
        answer = member.submit(f"{CHANNELS}/{before[0]['id']}", **texts)
        assert answer.status_code in (400, 422)
        assert f'id="error-{next(iter(texts))}"' in answer.text
        assert sentence in read_text(answer.text)
        assert list_channels(alice) == before

    def test_disables_and_enables(self, member: Visitor, alice: Player) -> None:
        fill_in(member, "slack", **FILLED["slack"])
        path = f"{CHANNELS}/{list_channels(alice)[0]['id']}"
        for enabled in ("", "on"):
            member.submit(path, enabled=enabled)
            assert list_channels(alice)[0]["enabled"] == bool(enabled)


class TestList:
    def test_shows_no_secret_and_says_why_a_channel_is_disabled(self, member: Visitor) -> None:
        fill_in(member, "mattermost", **FILLED["mattermost"])
        page = member.open(CHANNELS).text
        assert "https://chat.example.com/********" in read_text(page)
        assert "a-secret" not in page

    def test_says_that_nobody_is_told_while_there_is_no_channel(self, member: Visitor) -> None:
        assert "Nobody is notified when a monitor goes down." in member.open(CHANNELS).text


class TestDelete:
    def test_deletes_after_a_question(self, member: Visitor, alice: Player) -> None:
        fill_in(member, "slack", **FILLED["slack"])
        (channel,) = list_channels(alice)
        answer = member.submit(f"{CHANNELS}/{channel['id']}/delete")
        assert "The channel is deleted." in read_text(answer.text)
        assert list_channels(alice) == []


@pytest.fixture(scope="module")
def reaching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder: Path = tmp_path_factory.mktemp("reaching")
    with running_service(folder, allowed_networks="127.0.0.0/8") as running:
        yield running


class TestTest:
    def test_fires_every_route_of_a_monitor(self, reaching: RunningService) -> None:
        with Visitor(reaching, form_team(reaching)) as visitor, Addressee() as addressee:
            addressee.answers += [(200, b"ok"), (200, b"ok")]
            for name, tags in (("Shop", "shop"), ("Everything", ""), ("Blog", "blog")):
                url = f"{addressee.url}/a-secret"
                fill_in(visitor, "slack", name=name, url=url, routing_tags=tags)
            shop = {"name": "Shop", "url": "https://shop.example.com/", "tags": ["shop"], "paused": True}
            monitor = reaching.run(create_monitor(visitor.team.id, shop))
            path = f"/monitors/{monitor.id}"
            page = read_text(visitor.submit(path, action=f"{path}/test-notifications").text)
            assert page.count("Delivered. The receiver answered 200.") == 2
            assert len(addressee.received) == 2

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            ((200, b"ok"), "Delivered. The receiver answered 200."),
            ((403, b"action_prohibited"), "Slack does not let this channel post."),
        ],
    )
    def test_shows_what_the_service_said(
        self, reaching: RunningService, answer: tuple[int, bytes], said: str
    ) -> None:
        with Visitor(reaching, form_team(reaching)) as visitor, Addressee() as addressee:
            addressee.answers.append(answer)
            fill_in(visitor, "slack", url=f"{addressee.url}/a-secret")
            page = visitor.open(CHANNELS)
            [action] = [path for path in read_forms(page.text) if path.endswith("/test")]
            form = read_forms(page.text)[action]
            assert said in read_text(visitor.post(action.removeprefix("/app"), data=form).text)


class TestTryingTheForm:
    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            ((200, b"ok"), "The test was delivered The receiver answered 200."),
            ((403, b"action_prohibited"), "The test was not delivered Slack does not let this channel post."),
        ],
    )
    def test_sends_a_test_and_saves_nothing(
        self, reaching: RunningService, answer: tuple[int, bytes], said: str
    ) -> None:
        with Visitor(reaching, form_team(reaching)) as visitor, Addressee() as addressee:
            addressee.answers.append(answer)
            page = fill_in(visitor, "slack", name="Ops", url=f"{addressee.url}/a-secret", **{"try": "on"})
            text = read_text(page.text)
            assert said in text
            assert "Nothing is saved yet." in text
            assert read_forms(page.text)[f"/app{CHANNELS}/new"]["name"] == "Ops"
            assert "No channel yet" in read_text(visitor.open(CHANNELS).text)
            assert len(addressee.received) == 1
            assert "tested the notification channel Ops" in read_text(
                visitor.open("/settings/audit-log").text
            )

    def test_of_a_channel_uses_what_is_typed_and_the_secret_that_is_saved(
        self, reaching: RunningService
    ) -> None:
        with Visitor(reaching, form_team(reaching)) as visitor, Addressee() as addressee:
            fill_in(
                visitor,
                "custom",
                url="https://elsewhere.example.com/",
                headers="X-Key: kept",
                body='{"summary": "{{title}}"}',
            )
            [path] = set(re.findall(rf"{CHANNELS}/[0-9a-f-]{{36}}(?=\")", visitor.open(CHANNELS).text))
            url = f"{addressee.url}/typed"
            page = visitor.submit(path, path, url=url, **{"try": "on"})
            assert "The test was delivered" in read_text(page.text)
            [request] = addressee.received
            assert request.headers["x-key"] == "kept"
            assert addressee.url not in visitor.open(path).text  # as it was saved

    def test_of_what_is_wrong_sends_nothing_and_says_why(self, reaching: RunningService) -> None:
        with Visitor(reaching, form_team(reaching)) as visitor:
            page = fill_in(visitor, "slack", url="ftp://chat.example.com/", **{"try": "on"})
            assert page.status_code == 400
            assert 'id="error-url"' in page.text

    def test_is_not_offered_for_email_whose_reader_is_asked_first(self, reaching: RunningService) -> None:
        with Visitor(reaching, form_team(reaching)) as visitor:
            assert "Send a test" not in visitor.open(f"{CHANNELS}/new?type=email").text
            page = fill_in(visitor, "email", address="ops@example.com", **{"try": "on"})
            assert page.status_code == 409
            assert "No channel yet" in read_text(visitor.open(CHANNELS).text)

    def test_has_the_limit_of_tests(self, tmp_path: Path) -> None:
        settings = {"allowed_networks": "127.0.0.0/8", "rate_limit_notifications": "1/60"}
        with (
            running_service(tmp_path, **settings) as service,
            Visitor(service, form_team(service)) as visitor,
            Addressee() as addressee,
        ):
            addressee.answers += [(200, b"ok"), (200, b"ok")]
            answers = [
                fill_in(visitor, "slack", url=f"{addressee.url}/a-secret", **{"try": "on"}) for _ in range(2)
            ]
            assert [each.status_code for each in answers] == [200, 429]
            assert read_forms(answers[1].text)[f"/app{CHANNELS}/new"]["url"]
