"""Whoever reads an email address is asked before anything else is sent there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cast import Player, form_team
from monitoring.notifications.announcing import announce
from monitoring.notifications.email_consent import UNSUBSCRIBED, confirm, unsubscribe
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitors.conversations import is_problem
from notifications.addressee import opening
from notifications.conversations import CHANNELS, list_deliveries, list_ids, path_of, read
from notifications.every_message import ABOUT
from running_service import running_service

if TYPE_CHECKING:
    from pathlib import Path
    from uuid import UUID

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

OPS = {"type": "email", "address": "ops@example.com"}


def register(player: Player, **fields: Any) -> dict[str, Any]:
    answer = player.post(CHANNELS, json={**OPS, **fields})
    assert answer.status_code == 201, answer.text
    channel: dict[str, Any] = answer.json()
    return channel


def change(player: Player, channel: dict[str, Any], **fields: Any) -> dict[str, Any]:
    changed = player.patch(path_of(channel), json={"type": "email", **fields})
    changed.raise_for_status()
    after: dict[str, Any] = changed.json()
    return after


def answer_yes(service: RunningService, channel: dict[str, Any]) -> None:
    async def answer() -> None:
        assert await confirm(await NotificationChannel.get(id=channel["id"]))

    service.run(answer())


def questions_to(player: Player, channel: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in list_deliveries(player, channel) if each["event"] == "channel.confirmation"]


class TestNewChannel:
    def test_is_unconfirmed_and_named_after_its_address(self, alice: Player) -> None:
        channel = register(alice)
        assert channel["name"] == channel["address"] == "ops@example.com"
        assert channel["confirmed_at"] is None
        assert read(alice, channel) == channel
        assert len(questions_to(alice, channel)) == 1

    def test_is_asked_nothing_before_it_is_enabled(self, alice: Player) -> None:
        channel = register(alice, enabled=False)
        assert questions_to(alice, channel) == []
        change(alice, channel, enabled=True)
        assert len(questions_to(alice, channel)) == 1

    def test_is_told_of_nothing_before_it_is_confirmed(self, service: RunningService, alice: Player) -> None:
        monitor = alice.post("/api/monitors", json={"url": "https://shop.example.com/"}).json()
        channel = register(alice)

        async def open_something() -> list[UUID]:
            return await announce([opening(alice.team_id, ABOUT)])

        assert service.run(open_something()) == []
        assert list_ids(alice, monitor_id=monitor["id"]) == []
        answer_yes(service, channel)
        assert len(service.run(open_something())) == 1
        assert list_ids(alice, monitor_id=monitor["id"]) == [channel["id"]]
        assert read(alice, channel)["confirmed_at"] is not None

    def test_takes_no_test_before_it_is_confirmed(
        self, service: RunningService, alice: Player, catalogue: Catalogue
    ) -> None:
        channel = register(alice)
        answer = alice.post(f"{path_of(channel)}/test")
        assert is_problem(answer, catalogue, "notification_channel_unconfirmed")
        answer_yes(service, channel)
        assert alice.post(f"{path_of(channel)}/test").is_success

    @pytest.mark.parametrize(
        "address",
        [
            "opssss",
            "ops@localhost",
            "ops@-a.example",
            "ops@example.com\nBcc: eve@example.net",
            "<ops@example.com>",
            '"o p s"@example.com',
            "ops@[127.0.0.1]",
            "öps@example.com",
            "a..b@example.com",
            f"{'a' * 65}@example.com",
        ],
    )
    def test_needs_an_address_that_every_mail_server_takes(self, alice: Player, address: str) -> None:
        answer = alice.post(CHANNELS, json={**OPS, "address": address})
        assert answer.status_code == 400
        assert answer.json()["error"] == "address: must be an email address, such as ops@example.com"

    def test_needs_a_service_that_sends_email(self, tmp_path: Path, catalogue: Catalogue) -> None:
        with running_service(tmp_path, smtp_url=None, email_from=None) as service:
            with Player(service, form_team(service)) as player:
                answer = player.post(CHANNELS, json=OPS)
            assert is_problem(answer, catalogue, "email_not_configured")


def test_another_address_is_asked_like_the_first(service: RunningService, alice: Player) -> None:
    channel = register(alice)
    answer_yes(service, channel)
    assert change(alice, channel, name="Night shift")["confirmed_at"] is not None
    assert change(alice, channel, address="night@example.com")["confirmed_at"] is None
    assert len(questions_to(alice, channel)) == 2


class TestSendingAgain:
    def test_is_redelivering_the_question(self, alice: Player) -> None:
        channel = register(alice)
        (question,) = questions_to(alice, channel)
        answer = alice.post(f"{path_of(channel)}/deliveries/{question['id']}/redeliver")
        assert answer.status_code == 202

    def test_is_refused_for_anything_else(
        self, service: RunningService, alice: Player, catalogue: Catalogue
    ) -> None:
        channel = register(alice)
        answer_yes(service, channel)
        test = alice.post(f"{path_of(channel)}/test").json()
        change(alice, channel, address="night@example.com")
        answer = alice.post(f"{path_of(channel)}/deliveries/{test['id']}/redeliver")
        assert is_problem(answer, catalogue, "notification_channel_unconfirmed")


def test_an_address_is_asked_only_so_often_however_often_its_channel_is_made_anew(tmp_path: Path) -> None:
    with (
        running_service(tmp_path, rate_limit_confirmations="3/600") as service,
        Player(service, form_team(service)) as alice,
        Player(service, form_team(service)) as charlie,
    ):
        for _ in range(2):
            alice.delete(path_of(register(alice)))
        channel = register(alice)
        (question,) = questions_to(alice, channel)
        refused = [
            alice.post(CHANNELS, json={**OPS, "address": "Ops@Example.com"}),
            alice.post(f"{path_of(channel)}/deliveries/{question['id']}/redeliver"),
        ]
        assert [answer.status_code for answer in refused] == [429, 429]
        assert 0 < int(refused[0].headers["Retry-After"]) <= 600
        assert list_ids(alice) == [channel["id"]]
        register(charlie)
        numbered = [{**OPS, "address": f"ops+{number}@example.com"} for number in range(10)]
        statuses = [alice.post(CHANNELS, json=each).status_code for each in numbered]
        assert statuses == [201] * 9 + [429]


def test_unsubscribing_turns_a_channel_off_until_its_reader_confirms_again(
    service: RunningService, alice: Player
) -> None:
    channel = register(alice)
    other = alice.post(CHANNELS, json={"type": "slack", "url": "https://hooks.example.com/a"}).json()
    answer_yes(service, channel)

    async def leave() -> tuple[bool, list[tuple[str, str]]]:
        is_new, told = await unsubscribe(await NotificationChannel.get(id=channel["id"]))
        deliveries = await NotificationDelivery.filter(id__in=told)
        return is_new, [(str(delivery.channel_id), delivery.event) for delivery in deliveries]

    assert service.run(leave()) == (True, [(other["id"], "channel.disabled")])
    assert service.run(leave()) == (False, [])
    off = read(alice, channel)
    assert (off["enabled"], off["disabled_reason"], off["confirmed_at"]) == (False, UNSUBSCRIBED, None)
    on = change(alice, channel, enabled=True)
    assert (on["enabled"], on["confirmed_at"]) == (True, None)
    assert len(questions_to(alice, channel)) == 2
