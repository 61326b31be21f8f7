from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx
import pytest

from backends.dump import dump_database
from cast import Player, form_team
from monitoring.notifications.channels.webhook import GONE
from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.secrets import read_secrets
from monitors.conversations import is_problem
from notifications.conversations import (
    CHANNELS,
    PAGER,
    URL,
    list_ids,
    path_of,
    read,
    register,
    without_secret,
)
from running_service import running_service

if TYPE_CHECKING:
    from pathlib import Path

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

EVENTS = ["incident.opened", "incident.resolved", "channel.disabled"]
ROUTING = {
    "tags": [],
    "monitor_ids": [],
    "delay_seconds": 0,
    "unless_acknowledged": False,
    "reminder_interval_seconds": 3600,
    "quiet_hours": None,
}
KEY = {"Idempotency-Key": "4c1f0f1e-8a0b-4f0e-9c59-3d2d9a1f7b11"}
SECRET_PATH = "/services/T0000/B0000/a-very-secret-token"
CHAT = {"type": "slack", "url": f"https://hooks.slack.com{SECRET_PATH}"}
MASKED = "https://hooks.slack.com/********"
TICKETS = {"type": "custom", "url": "https://api.example.com/tickets", "body": {}}
MASKED_API = "https://api.example.com/********"
FORBIDDEN = [
    "http://127.0.0.1/hooks",
    "http://localhost:8080/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "https://10.0.0.1/",
]
BOTH_WRITES = [("PATCH", {"type": "webhook", "enabled": False}), ("DELETE", None)]

# What is given, and what of it is shown.
TOKENS = [
    (
        {"type": "telegram", "bot_token": f"110201543:{'A' * 35}", "chat_id": "-1001234567890"},
        {"name": "Telegram", "bot_token": "********", "chat_id": "-1001234567890"},
    ),
    (
        {"type": "pagerduty", "routing_key": "R" * 32},
        {"name": "PagerDuty", "routing_key": "********", "region": "us"},
    ),
    (
        {"type": "opsgenie", "api_key": "e" * 36, "region": "jira"},
        {"name": "Opsgenie", "api_key": "********", "region": "jira"},
    ),
    (
        {"type": "ntfy", "url": "https://ntfy.sh", "topic": "ours"},
        {"name": "ntfy.sh", "url": "https://ntfy.sh", "topic": "********", "token": None},
    ),
    (
        {"type": "ntfy", "url": "https://ntfy.sh", "topic": "ours", "token": "tk_1"},
        {"topic": "********", "token": "********"},
    ),
    (
        {"type": "pushover", "app_token": "a" * 30, "user_key": "u" * 30},
        {"name": "Pushover", "app_token": "********", "user_key": "********"},
    ),
    (
        {"type": "custom", "url": "https://api.example.com/a?key=b", "body": {"a": "{{title}}"}},
        {"url": MASKED_API, "method": "POST", "headers": [], "body": {"a": "{{title}}"}},
    ),
    (
        {**TICKETS, "headers": [{"name": "X-Key", "value": "secret"}]},
        {"name": "api.example.com", "headers": [{"name": "X-Key", "value": "********"}]},
    ),
]


class TestCreate:
    def test_needs_only_a_url(self, alice: Player) -> None:
        webhook = register(alice)
        assert UUID(webhook["id"]).version == 7
        assert webhook["created_at"] == webhook["updated_at"]
        assert {
            name: webhook[name] for name in ("name", "url", "events", "routing", "enabled", "disabled_reason")
        } == {
            "name": "pager.example.com",
            "url": URL,
            "events": EVENTS,
            "routing": ROUTING,
            "enabled": True,
            "disabled_reason": None,
        }

    def test_names_where_the_webhook_is_read(self, alice: Player) -> None:
        answer = alice.post(CHANNELS, json=PAGER)
        assert alice.get(answer.headers["Location"]).json() == without_secret(answer.json())

    def test_shows_the_secret_once(self, alice: Player) -> None:
        webhook = register(alice)
        assert webhook["secret"].startswith("whsec_")
        later = [
            alice.get(path_of(webhook)),
            alice.get(CHANNELS),
            alice.patch(path_of(webhook), json={"type": "webhook", "name": "Phone"}),
            alice.post(f"{path_of(webhook)}/test"),
            alice.get(f"{path_of(webhook)}/deliveries"),
        ]
        assert all(answer.is_success for answer in later)
        assert not any(webhook["secret"] in answer.text or "secret" in answer.text for answer in later)

    def test_lets_no_cache_keep_the_answer_that_shows_the_secret(self, alice: Player) -> None:
        for _ in range(2):
            answer = alice.post(CHANNELS, json=PAGER, headers=KEY)
            assert answer.headers["Cache-Control"] == "no-store"

    def test_stores_the_secret_encrypted_also_in_the_answer_kept_for_repetitions(
        self, service: RunningService, alice: Player
    ) -> None:
        secret = alice.post(CHANNELS, json=PAGER, headers=KEY).json()["secret"]
        stored = service.run(dump_database())
        assert "pager.example.com" in stored
        assert secret.removeprefix("whsec_") not in stored

    def test_gives_every_webhook_a_secret_of_its_own(self, alice: Player) -> None:
        assert register(alice)["secret"] != register(alice)["secret"]

    def test_repeated_under_its_key_registers_once_and_shows_the_same_secret(self, alice: Player) -> None:
        first, second = (alice.post(CHANNELS, json=PAGER, headers=KEY) for _ in range(2))
        assert first.status_code == second.status_code == 201
        assert first.content == second.content
        assert list_ids(alice) == [first.json()["id"]]

    @pytest.mark.parametrize(
        "fields",
        [
            {"url": "ftp://pager.example.com"},
            {"url": "http://2130706433/"},
            {"name": "  "},
            {"name": "\u200b\u202e"},
            {"events": []},
            {"events": ["incident.opened"] * 2},
            {"events": ["test"]},
            {"enabled": None},
            {"secret": "whsec_bW9uaXRvcmluZy1leGFtcGxlLXNlY3JldC0wMDAxMjM0NQ=="},
        ],
    )
    def test_refuses_what_the_document_does_not_allow(self, alice: Player, fields: dict[str, Any]) -> None:
        assert alice.post(CHANNELS, json={**PAGER, **fields}).status_code == 400
        assert list_ids(alice) == []

    @pytest.mark.parametrize("url", FORBIDDEN)
    def test_refuses_a_target_in_a_private_network(
        self, alice: Player, catalogue: Catalogue, url: str
    ) -> None:
        for given in (PAGER, CHAT, TICKETS, {"type": "ntfy", "topic": "ours"}):
            answer = alice.post(CHANNELS, json={**given, "url": url})
            assert is_problem(answer, catalogue, "notification_channel_target_refused")
        assert list_ids(alice) == []

    def test_is_not_for_keys_that_may_only_read(self, bob: Player, catalogue: Catalogue) -> None:
        answer = bob.post(CHANNELS, json=PAGER)
        assert is_problem(answer, catalogue, "insufficient_permissions", scope="monitors:write")

    def test_is_not_for_strangers(self, mallory: httpx.Client) -> None:
        assert mallory.post(CHANNELS, json=PAGER).status_code == 401


class TestLimit:
    def test_is_20_a_team(self, alice: Player, charlie: Player, catalogue: Catalogue) -> None:
        webhooks = [register(alice) for _ in range(20)]
        answer = alice.post(CHANNELS, json=PAGER)
        assert is_problem(answer, catalogue, "notification_channel_limit_reached")
        register(charlie)
        alice.delete(path_of(webhooks[0]))
        register(alice)

    def test_holds_at_two_services_at_once(self, tmp_path: Path) -> None:
        with ExitStack() as stack:
            one, other = (stack.enter_context(running_service(tmp_path)) for _ in range(2))
            here = stack.enter_context(Player(one, form_team(one)))
            headers = {"Authorization": here.headers["Authorization"]}
            there = stack.enter_context(httpx.Client(base_url=other.base_url, headers=headers, timeout=30))
            with ThreadPoolExecutor(30) as pool:
                players = islice(cycle([here, there]), 30)
                answers = list(pool.map(lambda player: player.post(CHANNELS, json=PAGER), players))
            assert sorted(answer.status_code for answer in answers) == [201] * 20 + [409] * 10
            assert len(list_ids(there)) == 20


class TestList:
    def test_is_newest_first_and_paged(self, alice: Player) -> None:
        ids = [register(alice)["id"] for _ in range(5)][::-1]
        first = alice.get(CHANNELS, params={"limit": 2}).json()
        assert [webhook["id"] for webhook in first["notification_channels"]] == ids[:2]
        second = alice.get(CHANNELS, params={"limit": 3, "cursor": first["next_cursor"]}).json()
        assert [webhook["id"] for webhook in second["notification_channels"]] == ids[2:]
        assert second["next_cursor"] is None

    def test_is_for_bob_too_and_shows_charlie_nothing(
        self, alice: Player, bob: Player, charlie: Player
    ) -> None:
        webhook = register(alice)
        assert list_ids(bob) == [webhook["id"]]
        assert list_ids(charlie) == []


class TestGet:
    def test_is_for_bob_too(self, alice: Player, bob: Player) -> None:
        webhook = register(alice)
        assert read(bob, webhook) == without_secret(webhook)

    @pytest.mark.parametrize("channel_id", ["019a9c3e-5b7a-7c1e-9d42-000000000000", "1", "%7B%7D"])
    def test_of_an_id_that_nobody_has_is_a_404(
        self, alice: Player, catalogue: Catalogue, channel_id: str
    ) -> None:
        answer = alice.get(f"{CHANNELS}/{channel_id}")
        assert is_problem(answer, catalogue, "notification_channel_not_found")

    def test_of_another_teams_webhook_is_the_same_404(
        self, alice: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        answer = charlie.get(path_of(register(alice)))
        assert is_problem(answer, catalogue, "notification_channel_not_found")


class TestOfAMonitor:
    def test_lists_who_is_told_of_its_incidents(self, charlie: Player) -> None:
        monitor = charlie.post("/api/monitors", json={"url": URL, "tags": ["shop"]}).json()
        routings: tuple[dict[str, Any], ...] = ({}, {"tags": ["shop"]}, {"monitor_ids": [monitor["id"]]})
        told = [register(charlie, routing=routing)["id"] for routing in routings]
        register(charlie, routing={"tags": ["blog"]})
        register(charlie, enabled=False)
        register(charlie, events=["incident.resolved"])
        assert list_ids(charlie, monitor_id=monitor["id"]) == told[::-1]
        first = charlie.get(CHANNELS, params={"monitor_id": monitor["id"], "limit": 1}).json()
        rest = list_ids(charlie, monitor_id=monitor["id"], cursor=first["next_cursor"])
        assert [first["notification_channels"][0]["id"], *rest] == told[::-1]

    def test_that_the_team_does_not_have_is_told_to_nobody(self, alice: Player, charlie: Player) -> None:
        register(charlie)
        monitor = alice.post("/api/monitors", json={"url": URL}).json()
        assert list_ids(charlie, monitor_id=monitor["id"]) == []


class TestUpdate:
    def test_changes_what_it_names_and_leaves_the_rest(self, alice: Player) -> None:
        webhook = register(alice, name="Pager")
        answer = alice.patch(
            path_of(webhook), json={"type": "webhook", "events": ["incident.opened"], "enabled": False}
        )
        changed = answer.raise_for_status().json()
        assert changed == read(alice, webhook)
        assert changed["updated_at"] > webhook["updated_at"]
        expected = {"events": ["incident.opened"], "enabled": False, "updated_at": changed["updated_at"]}
        assert changed == {**without_secret(webhook), **expected}

    def test_with_null_puts_defaults_back(self, alice: Player) -> None:
        webhook = register(alice, name="Pager", events=["incident.opened"], enabled=False)
        patch = {"type": "webhook", "name": None, "events": None, "enabled": None}
        headers = {"Content-Type": "application/merge-patch+json"}
        changed = alice.patch(path_of(webhook), json=patch, headers=headers).raise_for_status().json()
        assert (changed["name"], changed["events"], changed["enabled"]) == ("pager.example.com", EVENTS, True)

    def test_that_changes_nothing_leaves_the_time_of_the_last_change(self, alice: Player) -> None:
        webhook = register(alice)
        answer = alice.patch(path_of(webhook), json={"type": "webhook", "enabled": True, "url": URL})
        assert answer.json() == without_secret(webhook)

    def test_that_enables_forgets_why_the_webhook_was_disabled(
        self, service: RunningService, alice: Player
    ) -> None:
        webhook = register(alice)

        async def disable() -> None:
            found = NotificationChannel.filter(id=webhook["id"])
            await found.update(enabled=False, disabled_reason=GONE)

        service.run(disable())
        assert read(alice, webhook)["disabled_reason"] == GONE
        assert (
            alice.patch(path_of(webhook), json={"type": "webhook", "name": "Phone"}).json()["disabled_reason"]
            == GONE
        )
        changed = alice.patch(path_of(webhook), json={"type": "webhook", "enabled": True}).json()
        assert (changed["enabled"], changed["disabled_reason"]) == (True, None)

    def test_repeated_under_its_key_is_answered_alike(self, alice: Player) -> None:
        webhook = register(alice)
        first = alice.patch(path_of(webhook), json={"type": "webhook", "name": "a"}, headers=KEY)
        alice.patch(path_of(webhook), json={"type": "webhook", "name": "b"})
        second = alice.patch(path_of(webhook), json={"type": "webhook", "name": "a"}, headers=KEY)
        assert first.content == second.content
        assert read(alice, webhook)["name"] == "b"

    @pytest.mark.parametrize(
        "patch",
        [{"url": None}, {"url": "http://0x7f.1/"}, {"events": []}, {"name": " "}, {"secret": "x"}],
    )
    def test_refuses_what_the_document_does_not_allow(self, alice: Player, patch: dict[str, Any]) -> None:
        assert alice.patch(path_of(register(alice)), json={"type": "webhook", **patch}).status_code == 400

    @pytest.mark.parametrize("url", FORBIDDEN)
    def test_refuses_a_target_in_a_private_network(
        self, alice: Player, catalogue: Catalogue, url: str
    ) -> None:
        webhook = register(alice)
        answer = alice.patch(path_of(webhook), json={"type": "webhook", "url": url})
        assert is_problem(answer, catalogue, "notification_channel_target_refused")
        assert read(alice, webhook) == without_secret(webhook)


class TestDelete:
    def test_answers_without_a_body_and_leaves_nothing(self, alice: Player, catalogue: Catalogue) -> None:
        webhook, other = register(alice), register(alice)
        answer = alice.delete(path_of(webhook))
        assert (answer.status_code, answer.content) == (204, b"")
        assert is_problem(alice.get(path_of(webhook)), catalogue, "notification_channel_not_found")
        assert list_ids(alice) == [other["id"]]

    def test_twice_is_a_404_and_under_its_key_a_repetition(self, alice: Player, catalogue: Catalogue) -> None:
        webhook = register(alice)
        assert [alice.delete(path_of(webhook), headers=KEY).status_code for _ in range(2)] == [204, 204]
        assert is_problem(alice.delete(path_of(webhook)), catalogue, "notification_channel_not_found")


@pytest.mark.parametrize(("method", "body"), BOTH_WRITES)
class TestEveryWrite:
    def test_is_not_for_keys_that_may_only_read(
        self, alice: Player, bob: Player, catalogue: Catalogue, method: str, body: Any
    ) -> None:
        webhook = register(alice)
        answer = bob.request(method, path_of(webhook), json=body)
        assert is_problem(answer, catalogue, "insufficient_permissions", scope="monitors:write")
        assert read(alice, webhook) == without_secret(webhook)

    def test_of_another_teams_webhook_is_a_404(
        self, alice: Player, charlie: Player, catalogue: Catalogue, method: str, body: Any
    ) -> None:
        webhook = register(alice)
        answer = charlie.request(method, path_of(webhook), json=body)
        assert is_problem(answer, catalogue, "notification_channel_not_found")
        assert read(alice, webhook) == without_secret(webhook)


class TestType:
    def test_says_what_a_channel_is_and_is_shown(self, alice: Player) -> None:
        pager, chat = register(alice), register(alice, **CHAT)
        assert (pager["type"], chat["type"]) == ("webhook", "slack")
        assert (read(alice, chat)["type"], chat["name"]) == ("slack", "hooks.slack.com")
        assert set(list_ids(alice)) == {pager["id"], chat["id"]}

    @pytest.mark.parametrize(
        ("body", "problem"),
        [
            ({"url": URL}, "type: is required"),
            ({"type": "fax", "url": URL}, "type: must name a type of channel, such as webhook or slack"),
            ({"type": ["slack"], "url": URL}, "type: must name a type of channel, such as webhook or slack"),
            ({"type": "slack"}, "url: is required"),
            ({"type": "slack", "url": URL, "secret": "a"}, "secret: is not known here"),
            (
                {"type": "slack", "url": MASKED},
                "url: must be an absolute http or https URL without credentials and fragment, and not masked",
            ),
            ([], "body: must be an object"),
        ],
    )
    def test_decides_which_fields_there_are(self, alice: Player, body: Any, problem: str) -> None:
        answer = alice.post(CHANNELS, json=body)
        assert (answer.status_code, answer.json()) == (400, {"error": problem})

    def test_never_changes(self, alice: Player, catalogue: Catalogue) -> None:
        chat = register(alice, **CHAT)
        answer = alice.patch(path_of(chat), json={"type": "discord", "name": "Other"})
        assert is_problem(answer, catalogue, "notification_channel_type_fixed")
        assert read(alice, chat) == chat

    def test_is_needed_to_change_a_channel(self, alice: Player) -> None:
        answer = alice.patch(path_of(register(alice)), json={"name": "Phone"})
        assert (answer.status_code, answer.json()) == (400, {"error": "type: is required"})


class TestSecretAddress:
    def test_is_never_shown_and_stored_encrypted(self, service: RunningService, alice: Player) -> None:
        created = alice.post(CHANNELS, json=CHAT, headers=KEY)
        path = created.headers["Location"]
        answers = [
            created,
            alice.get(path),
            alice.get(CHANNELS),
            alice.patch(path, json={"type": "slack", "name": "Ops"}),
            alice.post(f"{path}/test"),
            alice.get(f"{path}/deliveries"),
        ]
        assert all(answer.is_success for answer in answers)
        assert created.json()["url"] == MASKED
        assert not any("very-secret" in answer.text for answer in answers)
        stored = service.run(dump_database())
        assert "hooks.slack.com" in stored
        assert "very-secret" not in stored

    def test_is_kept_by_a_change_that_leaves_it_out(self, service: RunningService, alice: Player) -> None:
        chat = register(alice, **CHAT)
        changed = alice.patch(path_of(chat), json={"type": "slack", "name": None, "enabled": False}).json()
        assert (changed["url"], changed["name"]) == (MASKED, "hooks.slack.com")
        assert service.run(secrets_of(chat)) == {"url": CHAT["url"]}

    def test_is_replaced_even_if_it_looks_alike(self, service: RunningService, alice: Player) -> None:
        chat = register(alice, **CHAT)
        changed = alice.patch(path_of(chat), json={"type": "slack", "url": f"{CHAT['url']}-2"}).json()
        assert changed["url"] == MASKED
        assert changed["updated_at"] > chat["updated_at"]
        assert service.run(secrets_of(chat)) == {"url": f"{CHAT['url']}-2"}

    def test_that_is_sent_again_changes_nothing(self, alice: Player) -> None:
        chat = register(alice, **CHAT)
        assert alice.patch(path_of(chat), json=CHAT).json() == chat

    def test_that_no_key_decrypts_can_be_replaced(self, service: RunningService, alice: Player) -> None:
        chat = register(alice, **CHAT)

        async def lose_the_key() -> None:
            await NotificationChannel.filter(id=chat["id"]).update(secret="gAAAAA-of-another-key")

        service.run(lose_the_key())
        assert alice.patch(path_of(chat), json=CHAT).status_code == 200
        assert service.run(secrets_of(chat)) == {"url": CHAT["url"]}


async def secrets_of(channel: dict[str, Any]) -> dict[str, str]:
    return read_secrets(await NotificationChannel.get(id=channel["id"]))


class TestTokens:
    @pytest.mark.parametrize(("given", "shown"), TOKENS)
    def test_are_masked_and_a_change_of_something_else_keeps_them(
        self, service: RunningService, alice: Player, given: dict[str, Any], shown: dict[str, Any]
    ) -> None:
        created = alice.post(CHANNELS, json=given).raise_for_status().json()
        assert created.items() >= shown.items()
        secrets = service.run(secrets_of(created))
        assert secrets.items() <= given.items()
        patch = {"type": given["type"], "events": ["incident.opened"]}
        changed = alice.patch(path_of(created), json=patch).raise_for_status().json()
        assert changed == {**created, "events": ["incident.opened"], "updated_at": changed["updated_at"]}
        assert service.run(secrets_of(created)) == secrets

    @pytest.mark.parametrize(
        ("given", "problem"),
        [
            ({**TICKETS, "body": "{"}, "body: must be a JSON object"),
            (
                {**TICKETS, "headers": [{"name": "Host", "value": "a"}]},
                (
                    "headers.0.name: must be 1 to 64 letters, digits or hyphens, "
                    "and not a header that the service sets itself, such as Host"
                ),
            ),
            (
                {"type": "pagerduty", "routing_key": "********"},
                "routing_key: must be the 32 letters and digits of an integration key",
            ),
            (
                {"type": "telegram", "bot_token": "a-token", "chat_id": "1"},
                (
                    "bot_token: must be the token of a bot, "
                    "such as 110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0"
                ),
            ),
        ],
    )
    def test_that_are_malformed_are_named(self, alice: Player, given: Any, problem: str) -> None:
        answer = alice.post(CHANNELS, json=given)
        assert (answer.status_code, answer.json()) == (400, {"error": problem})

    def test_that_are_optional_can_be_removed(self, service: RunningService, alice: Player) -> None:
        topic = {"type": "ntfy", "url": "https://ntfy.sh", "topic": "ours"}
        channel = alice.post(CHANNELS, json={**topic, "token": "tk_1"}).json()
        changed = alice.patch(path_of(channel), json={"type": "ntfy", "token": None}).json()
        assert changed["token"] is None
        assert service.run(secrets_of(channel)) == {"topic": "ours"}
        assert alice.patch(path_of(channel), json={"type": "ntfy", "token": None}).json() == changed


class TestCustomBody:
    def test_changes_as_a_merge_patch_says(self, alice: Player) -> None:
        channel = alice.post(CHANNELS, json={**TICKETS, "body": {"a": {"b": 1, "c": 2}, "d": 3}}).json()
        patch = {"type": "custom", "body": {"a": {"b": None, "e": 4}}}
        assert alice.patch(path_of(channel), json=patch).json()["body"] == {"a": {"c": 2, "e": 4}, "d": 3}


class TestPut:
    def test_keeps_secrets_that_are_left_out(self, service: RunningService, alice: Player) -> None:
        path = f"{CHANNELS}/by-key/chat"
        created = alice.put(path, json=CHAT).json()["notification_channel"]
        kept = alice.put(path, json={"type": "slack", "name": "Ops"})
        assert kept.json()["changed_fields"] == ["name"]
        assert kept.json()["notification_channel"]["url"] == MASKED

        async def read_url() -> Any:
            return read_secrets(await NotificationChannel.get(id=created["id"]))["url"]

        assert service.run(read_url()) == CHAT["url"]

    def test_names_a_secret_that_is_another_one(self, alice: Player) -> None:
        path = f"{CHANNELS}/by-key/chat"
        alice.put(path, json=CHAT)
        assert alice.put(path, json=CHAT).json()["changed_fields"] == []
        other = {**CHAT, "url": f"{CHAT['url']}-of-another-room"}
        assert alice.put(path, json=other).json()["changed_fields"] == ["url"]

    def test_shows_the_secret_of_a_new_webhook_once(self, alice: Player) -> None:
        path = f"{CHANNELS}/by-key/pager"
        created = alice.put(path, json=PAGER)
        assert created.json()["notification_channel"]["secret"].startswith("whsec_")
        assert created.headers["Cache-Control"] == "no-store"
        assert "secret" not in alice.put(path, json=PAGER).text

    @pytest.mark.parametrize(
        ("given", "field"),
        [({"type": "webhook"}, "url"), ({"type": "telegram", "chat_id": "1"}, "bot_token")],
    )
    def test_needs_of_a_new_channel_what_has_no_default(
        self, alice: Player, catalogue: Catalogue, given: dict[str, Any], field: str
    ) -> None:
        answer = alice.put(f"{CHANNELS}/by-key/new", json=given)
        assert is_problem(answer, catalogue, "notification_channel_incomplete", field=field)

    def test_keeps_the_type(self, alice: Player, catalogue: Catalogue) -> None:
        path = f"{CHANNELS}/by-key/chat"
        alice.put(path, json=CHAT)
        assert is_problem(alice.put(path, json=PAGER), catalogue, "notification_channel_type_fixed")

    def test_replaces_the_body_of_a_custom_channel_as_a_whole(self, alice: Player) -> None:
        path = f"{CHANNELS}/by-key/tickets"
        alice.put(path, json={**TICKETS, "body": {"a": "{{title}}", "b": 1}})
        answer = alice.put(path, json={**TICKETS, "body": {"b": 1}})
        assert answer.json()["notification_channel"]["body"] == {"b": 1}
