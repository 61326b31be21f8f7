from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from standardwebhooks import Webhook

from cast import Player, form_team
from monitors.conversations import is_problem
from notifications.conversations import (
    CHANNELS,
    list_deliveries,
    list_ids,
    path_of,
    queue_deliveries,
    register,
    wait_until_settled,
)
from running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.contract.catalogue import Catalogue
    from notifications.addressee import Addressee
    from running_service import RunningService

KEY = {"Idempotency-Key": "4c1f0f1e-8a0b-4f0e-9c59-3d2d9a1f7b11"}


@pytest.fixture(scope="module")
def reaching_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Run a service that may reach this machine, and sends what it is asked to send without a sweep."""
    folder = tmp_path_factory.mktemp("reaching")
    with running_service(folder, allowed_networks="127.0.0.0/8", sweep_interval_seconds=3600) as running:
        yield running


@pytest.fixture
def wanda(reaching_service: RunningService) -> Iterator[Player]:
    """Has a team at that service."""
    with Player(reaching_service, form_team(reaching_service)) as player:
        yield player


def redeliver_path(webhook: dict[str, Any], delivery: dict[str, Any]) -> str:
    return f"{path_of(webhook)}/deliveries/{delivery['id']}/redeliver"


def make_failed_delivery(service: RunningService, player: Player) -> tuple[dict[str, Any], dict[str, Any]]:
    webhook = register(player)
    queue_deliveries(service, player.team_id, 1, "failed")
    (delivery,) = list_deliveries(player, webhook)
    return webhook, delivery


@pytest.fixture(scope="module")
def tight_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("tight")
    with running_service(folder, rate_limit_notifications="3/3600") as running:
        yield running


class TestLimit:
    def test_is_the_teams_for_tests_and_redeliveries_together(
        self, tight_service: RunningService, catalogue: Catalogue
    ) -> None:
        team = form_team(tight_service)
        with (
            Player(tight_service, team) as alice,
            Player(tight_service, team) as colleague,
            Player(tight_service, form_team(tight_service)) as charlie,
        ):
            webhook, other = register(alice), register(alice)
            answers = [alice.post(f"{path_of(webhook)}/test"), colleague.post(f"{path_of(other)}/test")]
            again = redeliver_path(webhook, answers[0].json())
            answers.append(alice.post(again))
            assert [answer.status_code for answer in answers] == [200, 200, 202]
            for answer in answers:
                assert answer.headers["RateLimit-Policy"] == '"notifications";q=3;w=3600'
            for path in (f"{path_of(other)}/test", again):
                refused = colleague.post(path)
                wait_seconds = int(refused.headers["Retry-After"])
                assert is_problem(refused, catalogue, "rate_limited", retry_after_seconds=wait_seconds)
            assert len(list_deliveries(alice, other)) == 1
            assert charlie.post(f"{path_of(register(charlie))}/test").status_code == 200


class TestIfMatch:
    @pytest.mark.parametrize("how", ["patch", "delete"])
    def test_stops_who_has_not_seen_the_last_change(
        self, alice: Player, catalogue: Catalogue, how: str
    ) -> None:
        path = path_of(register(alice))
        seen = {"If-Match": alice.get(path).headers["ETag"]}
        changed = alice.patch(path, json={"type": "webhook", "name": "Day"}, headers=seen)
        body = {"type": "webhook", "name": "Night"} if how == "patch" else None
        refused = alice.request(how.upper(), path, headers=seen, json=body)
        assert is_problem(refused, catalogue, "notification_channel_changed")
        assert alice.get(path).json() == changed.json()
        now = {"If-Match": changed.headers["ETag"]}
        assert alice.request(how.upper(), path, headers=now, json=body).is_success

    def test_takes_the_tag_of_the_answer_that_created_the_channel(self, alice: Player) -> None:
        body = {"type": "webhook", "url": "https://hooks.example.com/incidents"}
        created = alice.post("/api/notification-channels", json=body)
        change = {"type": "webhook", "name": "Night"}
        seen = {"If-Match": created.headers["ETag"]}
        assert alice.patch(created.headers["Location"], json=change, headers=seen).is_success


class TestTest:
    def test_of_each_channel_that_a_monitor_lists_fires_all_its_routes(
        self, wanda: Player, addressee: Addressee
    ) -> None:
        monitor = wanda.post(
            "/api/monitors", json={"url": "https://shop.example.com/", "tags": ["shop"]}
        ).json()
        for routing in ({}, {"tags": ["shop"]}, {"tags": ["blog"]}):
            register(wanda, url=addressee.url, routing=routing)
        listed = list_ids(wanda, monitor_id=monitor["id"])
        answers = [wanda.post(f"{CHANNELS}/{channel_id}/test").json() for channel_id in listed]
        assert [answer["status"] for answer in answers] == ["delivered"] * 2
        assert len(addressee.received) == 2

    def test_sends_a_signed_message_and_shows_what_came_of_it(
        self, wanda: Player, addressee: Addressee
    ) -> None:
        webhook = register(wanda, url=addressee.url)
        answer = wanda.post(f"{path_of(webhook)}/test")
        assert answer.status_code == 200
        delivery = answer.json()
        assert (delivery["event"], delivery["status"], delivery["attempts"]) == ("test", "delivered", 1)
        assert (delivery["status_code"], delivery["next_attempt_at"]) == (204, None)
        assert list_deliveries(wanda, webhook) == [delivery]
        (received,) = addressee.received
        message = Webhook(webhook["secret"]).verify(received.body, dict(received.headers))
        assert (message["type"], message["timestamp"]) == ("test", delivery["created_at"])

    def test_shows_a_failure_in_one_sentence_and_when_it_tries_again(
        self, wanda: Player, addressee: Addressee
    ) -> None:
        addressee.answers.append(500)
        webhook = register(wanda, url=addressee.url)
        delivery = wanda.post(f"{path_of(webhook)}/test").json()
        assert (delivery["status"], delivery["attempts"]) == ("pending", 1)
        assert (delivery["status_code"], delivery["error_message"]) == (500, "Answered 500")
        assert delivery["next_attempt_at"] > delivery["created_at"]

    def test_repeated_under_its_key_queues_one_message(self, wanda: Player, addressee: Addressee) -> None:
        webhook = register(wanda, url=addressee.url)
        first, second = (wanda.post(f"{path_of(webhook)}/test", headers=KEY) for _ in range(2))
        assert first.content == second.content
        wait_until_settled(wanda, webhook)
        assert len(list_deliveries(wanda, webhook)) == len(addressee.received) == 1

    def test_needs_an_enabled_webhook(self, alice: Player, catalogue: Catalogue) -> None:
        answer = alice.post(f"{path_of(register(alice, enabled=False))}/test")
        assert is_problem(answer, catalogue, "notification_channel_disabled")

    def test_is_not_for_keys_that_may_only_read_nor_for_other_teams(
        self, alice: Player, bob: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        webhook = register(alice)
        answer = bob.post(f"{path_of(webhook)}/test")
        assert is_problem(answer, catalogue, "insufficient_permissions", scope="monitors:write")
        answer = charlie.post(f"{path_of(webhook)}/test")
        assert is_problem(answer, catalogue, "notification_channel_not_found")
        assert list_deliveries(alice, webhook) == []


class TestListDeliveries:
    def test_is_newest_first_paged_and_filtered_by_status(
        self, service: RunningService, alice: Player
    ) -> None:
        webhook = register(alice)
        queue_deliveries(service, alice.team_id, 3, "delivered")
        queue_deliveries(service, alice.team_id, 2, "failed")
        deliveries = list_deliveries(alice, webhook)
        assert [delivery["status"] for delivery in deliveries] == ["failed"] * 2 + ["delivered"] * 3
        assert deliveries == sorted(deliveries, key=lambda delivery: UUID(delivery["id"]), reverse=True)
        assert list_deliveries(alice, webhook, status="delivered") == deliveries[2:]
        assert list_deliveries(alice, webhook, status="pending") == []
        path = f"{path_of(webhook)}/deliveries?limit=2&status=delivered"
        first = alice.get(path).json()
        second = alice.get(f"{path}&cursor={first['next_cursor']}").json()
        assert first["deliveries"] + second["deliveries"] == deliveries[2:]
        assert second["next_cursor"] is None

    def test_is_about_one_webhook(self, service: RunningService, alice: Player) -> None:
        webhook, other = register(alice), register(alice)
        queue_deliveries(service, alice.team_id, 1, "delivered")
        assert len(list_deliveries(alice, webhook)) == len(list_deliveries(alice, other)) == 1
        assert list_deliveries(alice, webhook) != list_deliveries(alice, other)

    def test_is_for_bob_too_and_shows_charlie_nothing(
        self, alice: Player, bob: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        webhook = register(alice)
        assert list_deliveries(bob, webhook) == []
        answer = charlie.get(f"{path_of(webhook)}/deliveries")
        assert is_problem(answer, catalogue, "notification_channel_not_found")


class TestRedeliver:
    def test_sends_the_same_message_again(self, wanda: Player, addressee: Addressee) -> None:
        webhook = register(wanda, url=addressee.url)
        wanda.post(f"{path_of(webhook)}/test")
        (delivery,) = wait_until_settled(wanda, webhook)
        answer = wanda.post(redeliver_path(webhook, delivery))
        assert answer.status_code == 202
        assert (answer.json()["status"], answer.json()["attempts"]) == ("pending", 0)
        (again,) = wait_until_settled(wanda, webhook)
        assert again["delivered_at"] > delivery["delivered_at"]
        first, second = addressee.received
        assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)

    def test_needs_an_enabled_webhook(
        self, service: RunningService, alice: Player, catalogue: Catalogue
    ) -> None:
        webhook, delivery = make_failed_delivery(service, alice)
        alice.patch(path_of(webhook), json={"type": "webhook", "enabled": False})
        answer = alice.post(redeliver_path(webhook, delivery))
        assert is_problem(answer, catalogue, "notification_channel_disabled")
        assert list_deliveries(alice, webhook) == [delivery]

    @pytest.mark.parametrize("unknown_id", ["019a9c3e-5b7a-7c1e-9d42-000000000000", "1"])
    def test_of_what_nobody_has_is_a_404(
        self, service: RunningService, alice: Player, catalogue: Catalogue, unknown_id: str
    ) -> None:
        webhook, delivery = make_failed_delivery(service, alice)
        other, unknown = register(alice), {"id": unknown_id}
        for path in (
            redeliver_path(webhook, unknown),
            redeliver_path(unknown, delivery),
            redeliver_path(other, delivery),
        ):
            assert is_problem(alice.post(path), catalogue, "notification_delivery_not_found")

    def test_is_not_for_keys_that_may_only_read_nor_for_other_teams(
        self, service: RunningService, alice: Player, bob: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        webhook, delivery = make_failed_delivery(service, alice)
        answer = bob.post(redeliver_path(webhook, delivery))
        assert is_problem(answer, catalogue, "insufficient_permissions", scope="monitors:write")
        answer = charlie.post(redeliver_path(webhook, delivery))
        assert is_problem(answer, catalogue, "notification_delivery_not_found")
        assert list_deliveries(alice, webhook) == [delivery]
