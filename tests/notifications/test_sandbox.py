"""What a sandbox would have sent is rendered, signed and kept, and nobody gets it."""

from __future__ import annotations

from email import message_from_string
from email.policy import default
from typing import TYPE_CHECKING, Any

import pytest
from standardwebhooks import Webhook

from cast import Player, form_team
from monitoring.auth.sandboxes import open_sandbox
from notifications.conversations import CHANNELS, list_deliveries, path_of, wait_until_settled
from running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notifications.addressee import Addressee
    from running_service import RunningService

TOKEN = "123456789:AAH-a-token-of-thirty-five-characters"
TELEGRAM = {"type": "telegram", "bot_token": TOKEN, "chat_id": "-1"}
SLACK = {"type": "slack", "url": "https://hooks.slack.com/services/T00000000/B00000000/a-secret-of-slack"}


@pytest.fixture(scope="module")
def sandboxed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Run a service that may reach this machine, whose mail server is nowhere."""
    with running_service(
        tmp_path_factory.mktemp("sandboxed"),
        allowed_networks="127.0.0.0/8",
        smtp_url="smtp://127.0.0.1:9",
        email_from="alerts@example.com",
    ) as running:
        yield running


@pytest.fixture
def tess(sandboxed: RunningService) -> Iterator[Player]:
    """Has a test key."""
    team = form_team(sandboxed)
    with Player(sandboxed, sandboxed.run(open_sandbox(team.id))) as player:
        yield player


def create(player: Player, **given: Any) -> Any:
    created = player.post(CHANNELS, json=given)
    assert created.status_code == 201, created.text
    return created.json()


def send_test(player: Player, channel: Any) -> Any:
    answer = player.post(f"{path_of(channel)}/test")
    assert answer.status_code == 200, answer.text
    return answer.json()


class TestKeptRequest:
    def test_of_a_webhook_is_signed_and_reaches_nobody(self, tess: Player, addressee: Addressee) -> None:
        webhook = create(tess, type="webhook", url=addressee.url)
        delivery = send_test(tess, webhook)
        kept = delivery["kept_request"]
        assert (delivery["status"], delivery["status_code"]) == ("delivered", 200)
        assert (kept["method"], kept["url"]) == ("POST", addressee.url)
        assert Webhook(webhook["secret"]).verify(kept["body"], kept["headers"])["type"] == "test"
        assert list_deliveries(tess, webhook) == [delivery]
        assert addressee.received == []

    @pytest.mark.parametrize("given", [TELEGRAM, SLACK], ids=["telegram", "slack"])
    def test_hides_the_secrets_of_its_channel(self, tess: Player, given: dict[str, str]) -> None:
        channel = create(tess, **given)
        kept = send_test(tess, channel)["kept_request"]
        secrets = {TOKEN, "a-secret-of-slack"}
        assert not [secret for secret in secrets if secret in str(kept)]
        assert "********" in kept["url"]
        assert kept["url"].startswith("https://")
        assert "test" in kept["body"]

    def test_leads_to_pages_of_the_sandbox(self, tess: Player) -> None:
        kept = send_test(tess, create(tess, **SLACK))["kept_request"]
        assert "/app/sandbox" in kept["body"]

    def test_of_an_email_is_the_whole_message(self, tess: Player) -> None:
        channel = create(tess, type="email", address="bob@example.com")
        (confirmation,) = wait_until_settled(tess, channel)
        kept = confirmation["kept_request"]
        message = message_from_string(kept["body"], policy=default)
        text = message.get_body(["plain"])
        assert (confirmation["status"], kept["method"]) == ("delivered", "MAIL")
        assert (kept["url"], message["To"]) == ("mailto:bob@example.com", "bob@example.com")
        assert text
        assert "Confirm this address" in text.get_content()

    def test_is_nothing_of_the_live_world(self, sandboxed: RunningService, addressee: Addressee) -> None:
        with Player(sandboxed, form_team(sandboxed)) as alice:
            assert "kept_request" not in send_test(alice, create(alice, type="webhook", url=addressee.url))
        assert len(addressee.received) == 1


class TestScriptedReceiver:
    def test_plays_its_role(self, tess: Player) -> None:
        failed = send_test(tess, create(tess, type="webhook", url="https://status-503.test/hooks"))
        refused = send_test(tess, create(tess, type="webhook", url="https://down.test/hooks"))
        accepted = send_test(tess, create(tess, type="webhook", url="https://up.test/hooks"))
        shown = [(each["status"], each["status_code"]) for each in (failed, refused, accepted)]
        assert shown == [("pending", 503), ("pending", None), ("delivered", 200)]
        assert refused["error_message"] == "The connection was refused"

    def test_that_is_gone_disables_its_channel(self, tess: Player) -> None:
        webhook = create(tess, type="webhook", url="https://status-410.test/hooks")
        assert send_test(tess, webhook)["status"] == "failed"
        assert not tess.get(path_of(webhook)).json()["enabled"]


class TestReceiver:
    @pytest.mark.parametrize(
        ("host", "wrong"), [("receiver.test", []), ("up.test", ["wrong_signature", "old_timestamp"])]
    )
    def test_is_examined_as_a_real_one(self, tess: Player, host: str, wrong: list[str]) -> None:
        webhook = create(tess, type="webhook", url=f"https://{host}/hooks")
        answer = tess.post(f"{path_of(webhook)}/exam", timeout=60)
        results = answer.json()["results"]
        assert [each["message"] for each in results if each["verdict"] != "right"] == wrong

    def test_believes_nothing_that_is_not_signed(self, tess: Player) -> None:
        channel = create(tess, type="custom", url="https://receiver.test/hooks", body={"is": "unsigned"})
        assert send_test(tess, channel)["status_code"] == 401
