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
from monitoring.notifications.models import NotificationWebhook
from monitors.conversations import is_problem
from notifications.conversations import URL, WEBHOOKS, list_ids, path_of, read, register, without_secret
from running_service import running_service

if TYPE_CHECKING:
    from pathlib import Path

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

EVENTS = ["incident.opened", "incident.resolved"]
KEY = {"Idempotency-Key": "4c1f0f1e-8a0b-4f0e-9c59-3d2d9a1f7b11"}
BOTH_WRITES = [("PATCH", {"enabled": False}), ("DELETE", None)]


class TestCreate:
    def test_needs_only_a_url(self, alice: Player) -> None:
        webhook = register(alice)
        assert UUID(webhook["id"]).version == 7
        assert webhook["created_at"] == webhook["updated_at"]
        assert {name: webhook[name] for name in ("name", "url", "events", "enabled", "disabled_reason")} == {
            "name": "pager.example.com",
            "url": URL,
            "events": EVENTS,
            "enabled": True,
            "disabled_reason": None,
        }

    def test_names_where_the_webhook_is_read(self, alice: Player) -> None:
        answer = alice.post(WEBHOOKS, json={"url": URL})
        assert alice.get(answer.headers["Location"]).json() == without_secret(answer.json())

    def test_shows_the_secret_once(self, alice: Player) -> None:
        webhook = register(alice)
        assert webhook["secret"].startswith("whsec_")
        later = [
            alice.get(path_of(webhook)),
            alice.get(WEBHOOKS),
            alice.patch(path_of(webhook), json={"name": "Phone"}),
            alice.post(f"{path_of(webhook)}/test"),
            alice.get(f"{path_of(webhook)}/deliveries"),
        ]
        assert all(answer.is_success for answer in later)
        assert not any(webhook["secret"] in answer.text or "secret" in answer.text for answer in later)

    def test_lets_no_cache_keep_the_answer_that_shows_the_secret(self, alice: Player) -> None:
        for _ in range(2):
            answer = alice.post(WEBHOOKS, json={"url": URL}, headers=KEY)
            assert answer.headers["Cache-Control"] == "no-store"

    def test_stores_the_secret_encrypted_also_in_the_answer_kept_for_repetitions(
        self, service: RunningService, alice: Player
    ) -> None:
        secret = alice.post(WEBHOOKS, json={"url": URL}, headers=KEY).json()["secret"]
        stored = service.run(dump_database())
        assert "pager.example.com" in stored
        assert secret.removeprefix("whsec_") not in stored

    def test_gives_every_webhook_a_secret_of_its_own(self, alice: Player) -> None:
        assert register(alice)["secret"] != register(alice)["secret"]

    def test_repeated_under_its_key_registers_once_and_shows_the_same_secret(self, alice: Player) -> None:
        first, second = (alice.post(WEBHOOKS, json={"url": URL}, headers=KEY) for _ in range(2))
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
        assert alice.post(WEBHOOKS, json={"url": URL, **fields}).status_code == 400
        assert list_ids(alice) == []

    def test_is_not_for_keys_that_may_only_read(self, bob: Player, catalogue: Catalogue) -> None:
        answer = bob.post(WEBHOOKS, json={"url": URL})
        assert is_problem(answer, catalogue, "insufficient_permissions", scope="monitors:write")

    def test_is_not_for_strangers(self, mallory: httpx.Client) -> None:
        assert mallory.post(WEBHOOKS, json={"url": URL}).status_code == 401


class TestLimit:
    def test_is_20_a_team(self, alice: Player, charlie: Player, catalogue: Catalogue) -> None:
        webhooks = [register(alice) for _ in range(20)]
        answer = alice.post(WEBHOOKS, json={"url": URL})
        assert is_problem(answer, catalogue, "notification_webhook_limit_reached")
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
                answers = list(pool.map(lambda player: player.post(WEBHOOKS, json={"url": URL}), players))
            assert sorted(answer.status_code for answer in answers) == [201] * 20 + [409] * 10
            assert len(list_ids(there)) == 20


class TestList:
    def test_is_newest_first_and_paged(self, alice: Player) -> None:
        ids = [register(alice)["id"] for _ in range(5)][::-1]
        first = alice.get(WEBHOOKS, params={"limit": 2}).json()
        assert [webhook["id"] for webhook in first["notification_webhooks"]] == ids[:2]
        second = alice.get(WEBHOOKS, params={"limit": 3, "cursor": first["next_cursor"]}).json()
        assert [webhook["id"] for webhook in second["notification_webhooks"]] == ids[2:]
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

    @pytest.mark.parametrize("webhook_id", ["019a9c3e-5b7a-7c1e-9d42-000000000000", "1", "%7B%7D"])
    def test_of_an_id_that_nobody_has_is_a_404(
        self, alice: Player, catalogue: Catalogue, webhook_id: str
    ) -> None:
        answer = alice.get(f"{WEBHOOKS}/{webhook_id}")
        assert is_problem(answer, catalogue, "notification_webhook_not_found")

    def test_of_another_teams_webhook_is_the_same_404(
        self, alice: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        answer = charlie.get(path_of(register(alice)))
        assert is_problem(answer, catalogue, "notification_webhook_not_found")


class TestUpdate:
    def test_changes_what_it_names_and_leaves_the_rest(self, alice: Player) -> None:
        webhook = register(alice, name="Pager")
        answer = alice.patch(path_of(webhook), json={"events": ["incident.opened"], "enabled": False})
        changed = answer.raise_for_status().json()
        assert changed == read(alice, webhook)
        assert changed["updated_at"] > webhook["updated_at"]
        expected = {"events": ["incident.opened"], "enabled": False, "updated_at": changed["updated_at"]}
        assert changed == {**without_secret(webhook), **expected}

    def test_with_null_puts_defaults_back(self, alice: Player) -> None:
        webhook = register(alice, name="Pager", events=["incident.opened"], enabled=False)
        patch = {"name": None, "events": None, "enabled": None}
        headers = {"Content-Type": "application/merge-patch+json"}
        changed = alice.patch(path_of(webhook), json=patch, headers=headers).raise_for_status().json()
        assert (changed["name"], changed["events"], changed["enabled"]) == ("pager.example.com", EVENTS, True)

    def test_that_changes_nothing_leaves_the_time_of_the_last_change(self, alice: Player) -> None:
        webhook = register(alice)
        answer = alice.patch(path_of(webhook), json={"enabled": True, "url": URL})
        assert answer.json() == without_secret(webhook)

    def test_that_enables_forgets_why_the_webhook_was_disabled(
        self, service: RunningService, alice: Player
    ) -> None:
        webhook = register(alice)

        async def disable() -> None:
            found = NotificationWebhook.filter(id=webhook["id"])
            await found.update(enabled=False, disabled_reason=GONE)

        service.run(disable())
        assert read(alice, webhook)["disabled_reason"] == GONE
        assert alice.patch(path_of(webhook), json={"name": "Phone"}).json()["disabled_reason"] == GONE
        changed = alice.patch(path_of(webhook), json={"enabled": True}).json()
        assert (changed["enabled"], changed["disabled_reason"]) == (True, None)

    def test_repeated_under_its_key_is_answered_alike(self, alice: Player) -> None:
        webhook = register(alice)
        first = alice.patch(path_of(webhook), json={"name": "a"}, headers=KEY)
        alice.patch(path_of(webhook), json={"name": "b"})
        second = alice.patch(path_of(webhook), json={"name": "a"}, headers=KEY)
        assert first.content == second.content
        assert read(alice, webhook)["name"] == "b"

    @pytest.mark.parametrize(
        "patch",
        [{}, {"url": None}, {"url": "http://0x7f.1/"}, {"events": []}, {"name": " "}, {"secret": "x"}],
    )
    def test_refuses_what_the_document_does_not_allow(self, alice: Player, patch: dict[str, Any]) -> None:
        assert alice.patch(path_of(register(alice)), json=patch).status_code == 400


class TestDelete:
    def test_answers_without_a_body_and_leaves_nothing(self, alice: Player, catalogue: Catalogue) -> None:
        webhook, other = register(alice), register(alice)
        answer = alice.delete(path_of(webhook))
        assert (answer.status_code, answer.content) == (204, b"")
        assert is_problem(alice.get(path_of(webhook)), catalogue, "notification_webhook_not_found")
        assert list_ids(alice) == [other["id"]]

    def test_twice_is_a_404_and_under_its_key_a_repetition(self, alice: Player, catalogue: Catalogue) -> None:
        webhook = register(alice)
        assert [alice.delete(path_of(webhook), headers=KEY).status_code for _ in range(2)] == [204, 204]
        assert is_problem(alice.delete(path_of(webhook)), catalogue, "notification_webhook_not_found")


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
        assert is_problem(answer, catalogue, "notification_webhook_not_found")
        assert read(alice, webhook) == without_secret(webhook)
