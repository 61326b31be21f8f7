from __future__ import annotations

import asyncio
import logging
import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import orjson
import pytest
from cryptography.fernet import Fernet
from prometheus_client import REGISTRY
from standardwebhooks import Webhook

from monitoring.auth.models import Team
from monitoring.backends.clock import Clock
from monitoring.notifications.channels.webhook import UNREADABLE
from monitoring.notifications.claims import claim_delivery
from monitoring.notifications.deliveries import queue_test, redeliver
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.retries import MAX_ATTEMPTS
from monitoring.notifications.secrets import read_secret
from monitoring.notifications.service import delete_channel, update_channel
from monitoring.notifications.tasks import deliver_notification
from monitoring.outbound.exchanges import Exchange
from notifications.addressee import Addressee, announce_to, deliver, make_due, register, work
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from monitoring.backends.assembly import Backends
    from monitoring.outbound.exchanges import BodyReader, OutboundRequest

pytestmark = pytest.mark.anyio


class Scripted:
    """A sender that does what the test says, and is answered 200."""

    def __init__(self, before: Callable[[], object]) -> None:
        self._before = before

    async def send(self, _: OutboundRequest, __: BodyReader | None = None) -> Exchange:
        self._before()
        return Exchange(status_code=200)


def wait_of(delivery: NotificationDelivery) -> timedelta:
    assert delivery.due_at
    return delivery.due_at - datetime.now(UTC)


def count_attempts(outcome: str) -> float:
    return REGISTRY.get_sample_value("monitoring_notification_attempts_total", {"outcome": outcome}) or 0.0


@pytest.mark.usefixtures("backends")
class TestMessage:
    async def test_is_posted_with_a_signature_that_the_receivers_library_accepts(
        self, addressee: Addressee
    ) -> None:
        webhook = await register(addressee.url)
        delivery = await deliver(await announce_to(webhook, {"monitor": {"name": "Bücher"}}))
        (received,) = addressee.received
        team = await Team.get(id=webhook.team_id)
        assert (received.method, received.path) == ("POST", "/hooks")
        assert Webhook(read_secret(webhook)).verify(received.body, dict(received.headers)) == {
            "type": "incident.opened",
            "timestamp": "2026-11-20T09:40:00.183000Z",
            "data": {"monitor": {"name": "Bücher"}, "team": team.name},
        }
        assert received.headers["webhook-id"] == str(delivery.id)
        assert received.headers["content-type"] == "application/json"
        assert received.headers["user-agent"].startswith("monitoring-service/")

    async def test_is_signed_with_a_secret_that_an_earlier_release_stored_plain(
        self, addressee: Addressee
    ) -> None:
        webhook = await register(addressee.url)
        webhook.secret = read_secret(webhook)
        await webhook.save()
        await deliver(await announce_to(webhook))
        (received,) = addressee.received
        assert Webhook(webhook.secret).verify(received.body, dict(received.headers))

    async def test_is_not_sent_while_no_key_decrypts_the_secret(
        self, addressee: Addressee, caplog: pytest.LogCaptureFixture
    ) -> None:
        webhook = await register(addressee.url)
        await NotificationChannel.filter(id=webhook.id).update(
            secret=Fernet(Fernet.generate_key()).encrypt(b"a").decode()
        )
        delivery = await deliver(await announce_to(webhook))
        assert (delivery.status, delivery.error_message) == ("pending", UNREADABLE)
        assert wait_of(delivery) > timedelta()
        assert addressee.received == []
        assert f"Nothing is sent to the webhook {webhook.id}" in caplog.text

    async def test_that_was_answered_2xx_is_delivered(self, addressee: Addressee) -> None:
        before = datetime.now(UTC)
        delivery = await deliver(await announce_to(await register(addressee.url)))
        assert (delivery.status, delivery.attempts, delivery.status_code) == ("delivered", 1, 204)
        assert (delivery.error_message, delivery.due_at, delivery.claim) == (None, None, None)
        assert delivery.delivered_at
        assert before <= delivery.delivered_at <= datetime.now(UTC)

    async def test_is_not_sent_again_once_it_is_delivered(self, addressee: Addressee) -> None:
        delivery = await deliver(await announce_to(await register(addressee.url)))
        await deliver(delivery)
        assert len(addressee.received) == 1

    async def test_of_a_test_says_so_and_nothing_else(self, addressee: Addressee) -> None:
        webhook = await register(addressee.url)
        delivery = await deliver(await queue_test(webhook.team_id, webhook.id))
        body = orjson.loads(addressee.received[0].body)
        assert (delivery.event, delivery.status, body["type"], body["data"]) == (
            "test",
            "delivered",
            "test",
            {},
        )

    async def test_leaves_the_secret_out_of_every_log(
        self, addressee: Addressee, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG, "monitoring")
        webhook = await register(addressee.url)
        addressee.answers.extend([500, 410])
        delivery = await deliver(await announce_to(webhook))
        await make_due(delivery.id)
        await deliver(delivery)
        assert read_secret(webhook).removeprefix("whsec_") not in caplog.text


@pytest.mark.usefixtures("backends")
class TestRetry:
    async def test_comes_later_each_time_until_the_message_is_given_up(self, addressee: Addressee) -> None:
        addressee.answers.extend([500] * MAX_ATTEMPTS)
        delivery = await announce_to(await register(addressee.url))
        waits = []
        for attempt in range(1, MAX_ATTEMPTS):
            delivery = await deliver(delivery)
            assert (delivery.status, delivery.attempts, delivery.status_code) == ("pending", attempt, 500)
            assert (delivery.error_message, delivery.claim) == ("Answered 500", None)
            waits.append(wait_of(delivery))
            await make_due(delivery.id)
        assert waits[:-1] == sorted(waits[:-1])
        assert min(waits[-2:]) > timedelta(hours=9, minutes=59)
        last = await deliver(delivery)
        assert (last.status, last.attempts, last.due_at) == ("failed", MAX_ATTEMPTS, None)
        assert last.error_message == "Answered 500"
        assert len(addressee.received) == MAX_ATTEMPTS

    async def test_waits_for_its_time(self, addressee: Addressee) -> None:
        addressee.answers.append(500)
        delivery = await deliver(await announce_to(await register(addressee.url)))
        await deliver(delivery)
        assert len(addressee.received) == 1

    async def test_has_the_same_id_and_body_and_a_signature_of_its_own_time(
        self, addressee: Addressee, backends: Backends
    ) -> None:
        addressee.answers.append(503)
        webhook = await register(addressee.url)
        delivery = await deliver(await announce_to(webhook))
        await make_due(delivery.id)

        later = Clock(read_machine_time=lambda: datetime.now(UTC) + timedelta(seconds=61))
        with replace(backends, clock=later).activate():
            assert (await deliver(delivery)).status == "delivered"
        first, second = addressee.received
        assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
        passed_seconds = int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"])
        assert passed_seconds >= 60
        for received in (first, second):
            Webhook(read_secret(webhook)).verify(received.body, dict(received.headers))

    async def test_follows_a_redirect_which_is_not_followed(self, addressee: Addressee) -> None:
        addressee.answers.append(307)
        delivery = await deliver(await announce_to(await register(addressee.url)))
        assert (delivery.status, delivery.error_message) == ("pending", "Answered 307")
        assert [received.path for received in addressee.received] == ["/hooks"]

    async def test_follows_a_connection_nobody_takes_and_says_so_without_the_address(self) -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
            delivery = await deliver(await announce_to(await register(f"http://127.0.0.1:{port}/")))
        assert (delivery.status, delivery.attempts, delivery.status_code) == ("pending", 1, None)
        assert delivery.error_message
        assert "127.0.0.1" not in delivery.error_message

    async def test_forgets_the_status_of_the_attempt_before(self, addressee: Addressee) -> None:
        addressee.answers.append(500)
        delivery = await deliver(await announce_to(await register(addressee.url)))
        await make_due(delivery.id)
        delivery = await deliver(delivery)
        assert (delivery.status, delivery.status_code, delivery.error_message) == ("delivered", 204, None)


async def test_an_address_that_is_refused_is_a_failed_attempt_and_never_reached(
    tmp_path: Path, addressee: Addressee
) -> None:
    async with temporary_backends(tmp_path):
        delivery = await deliver(await announce_to(await register(addressee.url)))
    assert (delivery.status, delivery.attempts, delivery.status_code) == ("pending", 1, None)
    assert delivery.error_message == "The address is not one that may be reached from here"
    assert addressee.received == []


@pytest.mark.usefixtures("backends")
class TestAnswer410:
    async def test_disables_the_webhook_and_ends_what_waits(self, addressee: Addressee) -> None:
        addressee.answers.append(410)
        webhook = await register(addressee.url)
        waiting = await announce_to(webhook)
        delivery = await deliver(await announce_to(webhook))
        assert (delivery.status, delivery.attempts, delivery.status_code) == ("failed", 1, 410)
        assert delivery.error_message == "Answered 410"
        disabled = await NotificationChannel.get(id=webhook.id)
        assert not disabled.enabled
        assert disabled.disabled_reason == (
            "The server answered 410, which says that it wants no more notifications"
        )
        assert disabled.updated_at > webhook.updated_at
        waiting = await NotificationDelivery.get(id=waiting.id)
        assert (waiting.status, waiting.attempts, waiting.due_at) == ("failed", 0, None)
        assert waiting.error_message == "The channel was disabled"

    async def test_leaves_a_webhook_alone_that_has_moved_meanwhile(self, addressee: Addressee) -> None:
        addressee.answers.append(410)
        addressee.may_answer.clear()
        webhook = await register(addressee.url)
        delivering = asyncio.create_task(deliver(await announce_to(webhook)))
        await asyncio.to_thread(addressee.has_received.wait, 30)
        await update_channel(
            webhook.team_id, webhook.id, {"type": "webhook", "url": "https://new.example.com/"}
        )
        addressee.may_answer.set()
        assert (await delivering).status == "failed"
        assert (await NotificationChannel.get(id=webhook.id)).enabled


@pytest.mark.usefixtures("backends")
class TestDisabledOrDeletedWebhook:
    async def test_is_sent_nothing_even_if_something_is_left_to_send(self, addressee: Addressee) -> None:
        webhook = await register(addressee.url)
        delivery = await announce_to(webhook)
        await NotificationChannel.filter(id=webhook.id).update(enabled=False)
        delivery = await deliver(delivery)
        assert (delivery.status, delivery.error_message) == ("failed", "The channel was disabled")
        assert addressee.received == []

    async def test_loses_its_deliveries_when_it_is_deleted(self, addressee: Addressee) -> None:
        webhook = await register(addressee.url)
        delivery = await announce_to(webhook)
        await delete_channel(webhook.team_id, webhook.id)
        assert await NotificationDelivery.get_or_none(id=delivery.id) is None
        assert await claim_delivery(delivery.id) is None

    async def test_may_be_deleted_while_it_is_sent_something(self, addressee: Addressee) -> None:
        addressee.may_answer.clear()
        webhook = await register(addressee.url)
        working = asyncio.create_task(work(await announce_to(webhook)))
        await asyncio.to_thread(addressee.has_received.wait, 30)
        await delete_channel(webhook.team_id, webhook.id)
        addressee.may_answer.set()
        await working
        assert await NotificationDelivery.filter(channel_id=webhook.id).count() == 0


@pytest.mark.usefixtures("backends")
class TestClaim:
    async def test_lets_one_of_ten_workers_send_a_message(self, addressee: Addressee) -> None:
        delivery = await announce_to(await register(addressee.url))
        await asyncio.gather(*[deliver(delivery) for _ in range(10)])
        assert len(addressee.received) == 1

    async def test_of_a_killed_worker_runs_out_and_the_message_is_sent_again_with_its_id(
        self, addressee: Addressee
    ) -> None:
        delivery = await announce_to(await register(addressee.url))
        assert await claim_delivery(delivery.id)
        assert (await deliver(delivery)).attempts == 1
        assert addressee.received == []
        await make_due(delivery.id)
        delivery = await deliver(delivery)
        assert (delivery.status, delivery.attempts) == ("delivered", 2)
        assert addressee.received[0].headers["webhook-id"] == str(delivery.id)

    async def test_ends_a_message_that_kills_every_worker(self, addressee: Addressee) -> None:
        delivery = await announce_to(await register(addressee.url))
        for _ in range(MAX_ATTEMPTS):
            assert await claim_delivery(delivery.id)
            await make_due(delivery.id)
        delivery = await deliver(delivery)
        assert (delivery.status, delivery.attempts, delivery.claim) == ("failed", MAX_ATTEMPTS, None)
        assert delivery.error_message == "A worker stopped while sending this"
        assert addressee.received == []

    @pytest.mark.parametrize("cancellations", [1, 2], ids=["once", "by its group and by the loop"])
    async def test_is_given_back_by_a_worker_that_is_stopped(
        self, addressee: Addressee, cancellations: int
    ) -> None:
        addressee.may_answer.clear()
        delivery = await announce_to(await register(addressee.url))
        delivering = asyncio.create_task(deliver(delivery))
        await asyncio.to_thread(addressee.has_received.wait, 30)
        for _ in range(cancellations):
            delivering.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([delivering])
        addressee.may_answer.set()
        delivery = await NotificationDelivery.get(id=delivery.id)
        assert (delivery.status, delivery.attempts, delivery.claim) == ("pending", 0, None)
        assert (await deliver(delivery)).status == "delivered"

    async def test_is_given_back_when_this_machine_cannot_send_at_all(self) -> None:
        def run_out_of_sockets() -> None:
            raise OSError("Too many open files")

        delivery = await announce_to(await register("https://pager.example.com/"))
        with pytest.raises(OSError, match="Too many"):
            await deliver(delivery, Scripted(run_out_of_sockets))
        delivery = await NotificationDelivery.get(id=delivery.id)
        assert (delivery.status, delivery.attempts, delivery.claim) == ("pending", 0, None)

    async def test_that_was_lost_stores_nothing(self, addressee: Addressee) -> None:
        addressee.answers.append(500)
        addressee.may_answer.clear()
        webhook = await register(addressee.url)
        delivery = await announce_to(webhook)
        delivering = asyncio.create_task(deliver(delivery))
        await asyncio.to_thread(addressee.has_received.wait, 30)
        await redeliver(webhook.team_id, webhook.id, delivery.id)
        addressee.may_answer.set()
        delivery = await delivering
        assert (delivery.status, delivery.attempts, delivery.error_message) == ("pending", 0, None)


@pytest.mark.usefixtures("backends")
class TestRedelivery:
    async def test_sends_the_same_message_with_the_same_id_and_begins_anew(
        self, addressee: Addressee
    ) -> None:
        webhook = await register(addressee.url)
        delivery = await deliver(await announce_to(webhook))
        again = await redeliver(webhook.team_id, webhook.id, delivery.id)
        assert (again.status, again.attempts, again.status_code) == ("pending", 0, None)
        assert (again.delivered_at, again.error_message) == (None, None)
        delivery = await deliver(delivery)
        assert (delivery.status, delivery.attempts) == ("delivered", 1)
        first, second = addressee.received
        assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)

    async def test_is_told_by_when_its_attempt_ended(self, addressee: Addressee) -> None:
        webhook = await register(addressee.url)
        addressee.answers += [404, 500]
        delivery = await deliver(await announce_to(webhook))
        ends = [delivery.attempted_at]
        for _ in range(2):
            await redeliver(webhook.team_id, webhook.id, delivery.id)
            delivery = await deliver(delivery)
            ends.append(delivery.attempted_at)
        known = [each for each in ends if each]
        assert known == sorted(set(known))
        assert len(known) == 3
        assert delivery.attempted_at == delivery.delivered_at

    async def test_is_not_sent_at_once_with_the_attempt_that_is_being_made(
        self, addressee: Addressee
    ) -> None:
        addressee.may_answer.clear()
        webhook = await register(addressee.url)
        delivery = await announce_to(webhook)
        delivering = asyncio.create_task(work(delivery))
        await asyncio.to_thread(addressee.has_received.wait, 30)
        lease_ends_at = (await NotificationDelivery.get(id=delivery.id)).due_at
        for _ in range(5):
            again = await redeliver(webhook.team_id, webhook.id, delivery.id)
            assert (again.status, again.attempts, again.due_at) == ("pending", 0, lease_ends_at)
            await work(delivery)
        assert len(addressee.received) == 1
        addressee.may_answer.set()
        await delivering
        await make_due(delivery.id)
        delivery = await deliver(delivery)
        assert (delivery.status, delivery.attempts) == ("delivered", 1)
        assert len(addressee.received) == 2

    async def test_need_not_wait_for_a_lease_that_has_ended(self, addressee: Addressee) -> None:
        webhook = await register(addressee.url)
        delivery = await announce_to(webhook)
        await claim_delivery(delivery.id)
        await make_due(delivery.id)
        await redeliver(webhook.team_id, webhook.id, delivery.id)
        assert (await deliver(delivery)).status == "delivered"

    async def test_revives_what_was_given_up(self, addressee: Addressee) -> None:
        webhook = await register(addressee.url)
        delivery = await announce_to(webhook)
        await NotificationDelivery.filter(id=delivery.id).update(
            status="failed", attempts=MAX_ATTEMPTS, due_at=None
        )
        await redeliver(webhook.team_id, webhook.id, delivery.id)
        assert (await deliver(delivery)).status == "delivered"


@pytest.mark.usefixtures("backends")
async def test_attempts_are_counted_by_their_outcome(addressee: Addressee) -> None:
    outcomes = ("delivered", "retried", "failed")
    before = [count_attempts(outcome) for outcome in outcomes]
    webhook = await register(addressee.url)
    addressee.answers.extend([500, 204, 410])
    delivery = await deliver(await announce_to(webhook))
    await make_due(delivery.id)
    await deliver(delivery)
    await deliver(await announce_to(webhook))
    after = [count_attempts(outcome) for outcome in outcomes]
    # A service that other tests share may retry something meanwhile.
    assert all(now > then for now, then in zip(after, before, strict=True))


async def test_without_a_sender_messages_wait(tmp_path: Path) -> None:
    async with temporary_backends(tmp_path):
        delivery = await announce_to(await register("https://pager.example.com/"))
        await deliver_notification.function(str(delivery.id))
        assert (await NotificationDelivery.get(id=delivery.id)).attempts == 0
