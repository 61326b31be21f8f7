"""The links of emails: they open pages to anybody who has them, and only buttons confirm and unsubscribe."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx
import pytest

from app.visitor import Stranger, Visitor, read_forms, read_text
from monitoring.app.sentences import DECLINED
from monitoring.auth.links import sign_link
from monitoring.notifications.email_consent import UNSUBSCRIBED, confirm
from monitoring.notifications.email_links import write_confirmation_link, write_unsubscribe_link
from monitoring.notifications.models import NotificationChannel, NotificationDelivery

if TYPE_CHECKING:
    from collections.abc import Callable

    from cast import Player
    from running_service import RunningService

API = "/api/notification-channels"
CHANNELS = "/settings/notifications"
OPS = {"type": "email", "name": "Ops", "address": "ops@example.com"}


@pytest.fixture
def channel_id(alice: Player) -> str:
    created = alice.post(API, json=OPS).raise_for_status().json()
    return str(created["id"])


def write_link(service: RunningService, channel_id: str, write: Callable[..., str]) -> str:
    async def find() -> str:
        delivery = await NotificationDelivery.filter(channel_id=UUID(channel_id)).order_by("-id").first()
        assert delivery
        return write(delivery, OPS["address"], "")

    return service.run(find()).removeprefix("/app")


@pytest.fixture
def link(service: RunningService, channel_id: str) -> str:
    return write_link(service, channel_id, write_confirmation_link)


@pytest.fixture
def way_out(service: RunningService, channel_id: str) -> str:
    """Unsubscribes from a channel that is confirmed."""
    link = write_link(service, channel_id, write_unsubscribe_link)

    async def say_yes() -> None:
        await confirm(await NotificationChannel.get(id=channel_id))

    service.run(say_yes())
    return link


def read(player: Player, channel_id: str) -> dict[str, Any]:
    channel: dict[str, Any] = player.get(f"{API}/{channel_id}").raise_for_status().json()
    return channel


class TestConfirming:
    def test_takes_the_button_of_the_page(
        self, alice: Player, stranger: Stranger, channel_id: str, link: str
    ) -> None:
        for _ in range(2):
            page = stranger.open(link).text
            assert "wants to send notifications to ops@example.com" in read_text(page)
        stranger.head(link)
        assert read(alice, channel_id)["confirmed_at"] is None
        form = read_forms(page)["/app/confirm-email"]
        for _ in range(2):
            answer = stranger.post("/confirm-email", data=form)
            assert "are sent to ops@example.com" in read_text(answer.text)
            assert "/app/confirm-email" not in read_forms(answer.text)
        assert read(alice, channel_id)["confirmed_at"] is not None

    def test_uses_up_the_link_so_that_nobody_confirms_with_it_what_was_unsubscribed_from(
        self, service: RunningService, alice: Player, stranger: Stranger, channel_id: str, link: str
    ) -> None:
        way_out = write_link(service, channel_id, write_unsubscribe_link)
        form = read_forms(stranger.open(link).text)["/app/confirm-email"]
        stranger.post("/confirm-email", data=form)
        stranger.post(way_out)
        alice.patch(f"{API}/{channel_id}", json={"type": "email", "enabled": True}).raise_for_status()
        for answer in (stranger.open(link), stranger.post("/confirm-email", data=form)):
            assert answer.status_code == 404
            assert DECLINED["email_link_used"].text in answer.text
        assert read(alice, channel_id)["confirmed_at"] is None
        new_link = write_link(service, channel_id, write_confirmation_link)
        stranger.submit(new_link, "/confirm-email")
        assert read(alice, channel_id)["confirmed_at"] is not None

    def test_uses_up_the_links_of_earlier_questions_too(
        self, service: RunningService, alice: Player, stranger: Stranger, channel_id: str, link: str
    ) -> None:
        (question,) = alice.get(f"{API}/{channel_id}/deliveries").json()["deliveries"]
        alice.post(f"{API}/{channel_id}/deliveries/{question['id']}/redeliver").raise_for_status()
        stranger.submit(write_link(service, channel_id, write_confirmation_link), "/confirm-email")
        assert "are sent to ops@example.com" in read_text(stranger.open(link).text)
        stranger.post(write_link(service, channel_id, write_unsubscribe_link))
        assert stranger.open(link).status_code == 404

    def test_is_in_the_audit_log_once(self, owner: Visitor, stranger: Stranger, link: str) -> None:
        form = read_forms(stranger.open(link).text)["/app/confirm-email"]
        for _ in range(2):
            stranger.post("/confirm-email", data=form)
        log = read_text(owner.open("/settings/audit-log").text)
        assert log.count("A reader of ops@example.com confirmed the notification channel") == 1

    def test_takes_a_form_of_the_page(
        self, alice: Player, stranger: Stranger, channel_id: str, link: str
    ) -> None:
        token = link.partition("token=")[2]
        assert stranger.post("/confirm-email", data={"token": token}).status_code == 403
        assert read(alice, channel_id)["confirmed_at"] is None


class TestLinks:
    def test_mean_nothing_once_the_channel_has_another_address(
        self, alice: Player, stranger: Stranger, channel_id: str, link: str, way_out: str
    ) -> None:
        assert stranger.open(link).status_code == stranger.open(way_out).status_code == 200
        alice.patch(f"{API}/{channel_id}", json={"type": "email", "address": "night@example.com"})
        assert stranger.open(link).status_code == stranger.open(way_out).status_code == 404
        assert stranger.post(way_out).status_code == 404
        assert read(alice, channel_id)["enabled"]

    def test_mean_nothing_once_the_channel_is_deleted(
        self, alice: Player, stranger: Stranger, channel_id: str, link: str, way_out: str
    ) -> None:
        alice.delete(f"{API}/{channel_id}")
        assert stranger.open(link).status_code == stranger.open(way_out).status_code == 404

    def test_are_for_one_purpose_and_signed(
        self, service: RunningService, stranger: Stranger, channel_id: str, link: str, way_out: str
    ) -> None:
        to_confirm, to_leave = (each.partition("token=")[2] for each in (link, way_out))

        async def expire() -> str:
            past = datetime.now(UTC) - timedelta(seconds=1)
            return sign_link("unsubscribe", {"channel": channel_id, "address": ""}, past)

        for path in (
            f"/confirm-email?token={to_leave}",
            f"/unsubscribe?token={to_confirm}",
            f"/unsubscribe?token={service.run(expire())}",
            "/unsubscribe?token=a.b.c",
            "/confirm-email",
        ):
            answer = stranger.open(path)
            assert answer.status_code == 404
            assert "This link is no longer valid" in answer.text


class TestUnsubscribing:
    def test_takes_the_button_of_the_page(
        self, alice: Player, stranger: Stranger, channel_id: str, way_out: str
    ) -> None:
        for _ in range(2):
            assert "sends notifications to ops@example.com" in read_text(stranger.open(way_out).text)
        assert read(alice, channel_id)["enabled"]
        (form,) = read_forms(stranger.open(way_out).text)
        answer = stranger.post(form.removeprefix("/app"))
        assert "Nothing is sent to ops@example.com" in read_text(answer.text)
        assert "Nothing is sent to ops@example.com" in read_text(stranger.open(way_out).text)
        off = read(alice, channel_id)
        assert (off["enabled"], off["disabled_reason"], off["confirmed_at"]) == (False, UNSUBSCRIBED, None)

    @pytest.mark.parametrize("is_multipart", [False, True])
    def test_takes_one_click_in_a_mail_program(
        self, service: RunningService, alice: Player, channel_id: str, way_out: str, *, is_multipart: bool
    ) -> None:
        """RFC 8058 §3.1: a post from another site, without cookies, that follows no redirect."""
        said = {"List-Unsubscribe": "One-Click"}
        parts: dict[str, Any] = (
            {"files": {name: (None, value) for name, value in said.items()}}
            if is_multipart
            else {"data": said}
        )
        url = f"{service.base_url}/app{way_out}"
        headers = {"Origin": "https://mail.example.com", "Sec-Fetch-Site": "cross-site"}
        for _ in range(2):
            assert httpx.post(url, **parts, headers=headers, follow_redirects=False).status_code == 200
        assert not read(alice, channel_id)["enabled"]

    def test_is_in_the_audit_log_once(self, owner: Visitor, stranger: Stranger, way_out: str) -> None:
        for _ in range(2):
            stranger.post(way_out)
        log = read_text(owner.open("/settings/audit-log").text)
        assert log.count("A reader of ops@example.com unsubscribed from the notification channel") == 1


class TestSettings:
    def test_say_what_a_channel_waits_for_and_send_the_link_again(
        self, alice: Player, member: Visitor, channel_id: str
    ) -> None:
        page = member.open(CHANNELS).text
        assert "waits for confirmation" in page
        assert f"/app{CHANNELS}/{channel_id}/test" not in read_forms(page)
        answer = member.submit(CHANNELS, f"{CHANNELS}/{channel_id}/ask")
        assert "The link is sent again" in read_text(answer.text)
        deliveries = alice.get(f"{API}/{channel_id}/deliveries").json()["deliveries"]
        assert [each["event"] for each in deliveries] == ["channel.confirmation"] * 2

    @pytest.mark.usefixtures("way_out")
    def test_offer_a_test_once_it_is_confirmed(self, member: Visitor, channel_id: str) -> None:
        forms = read_forms(member.open(CHANNELS).text)
        assert f"/app{CHANNELS}/{channel_id}/test" in forms
        assert f"/app{CHANNELS}/{channel_id}/ask" not in forms

    def test_say_that_the_link_is_on_its_way(self, member: Visitor) -> None:
        answer = member.submit(f"{CHANNELS}/new?type=email", address="ops@example.com")
        assert "A message with a link is on its way to ops@example.com" in read_text(answer.text)
