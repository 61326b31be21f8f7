"""How a message is handed over to the operator's mail server, and what each of its answers means."""

from __future__ import annotations

import socket
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from monitoring.notifications.channels.protocol import AttemptResult, Reception
from monitoring.notifications.channels.smtp import Envelope, submit_message
from monitoring.settings.mail_server import read_mail_server
from notifications.mail_server import PASSWORD, USER, MailCatcher

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

SENDER, RECIPIENT = "monitoring@example.com", "ana@example.org"
CONTENT = b"Subject: Hello\r\n\r\n.A line that begins with a dot\r\n"
ENVELOPE = Envelope(sender=SENDER, recipient=RECIPIENT, content=CONTENT)
TROUBLE = "The service's mail server did not accept the message. "


async def send_to(server: MailCatcher, url: str = "", ca_file: Path | None = None) -> AttemptResult:
    return await submit_message(ENVELOPE, read_mail_server(url or server.url), ca_file or server.ca_file)


class TestSecurity:
    @pytest.mark.parametrize(("security", "is_secured"), [("starttls", True), ("tls", True), ("none", False)])
    async def test_is_what_the_setting_says(self, tmp_path: Path, security: str, *, is_secured: bool) -> None:
        with MailCatcher(tmp_path, security) as server:
            result = await send_to(server)
        (accepted,) = server.accepted
        assert (accepted.sender, accepted.recipient, accepted.content) == (SENDER, RECIPIENT, CONTENT)
        assert accepted.was_secured is is_secured
        assert result == AttemptResult(reception=Reception.DELIVERED, status_code=250)

    async def test_is_never_given_up_where_the_server_offers_none(self, tmp_path: Path) -> None:
        with MailCatcher(tmp_path, "none") as server:
            result = await send_to(server, f"smtp://127.0.0.1:{server.port}")
        assert result.reception is Reception.TRY_AGAIN
        assert result.error_message == (
            f"{TROUBLE}It does not offer what the service needs: STARTTLS, or a way to sign in"
        )
        assert (server.accepted, server.commands) == ([], [])

    @pytest.mark.parametrize("security", ["starttls", "tls"])
    async def test_needs_a_certificate_of_the_host(self, tmp_path: Path, security: str) -> None:
        with MailCatcher(tmp_path, security, host="mail.example.com") as server:
            result = await send_to(server)
        assert result.error_message == f"{TROUBLE}The certificate is for another host"
        assert (server.accepted, server.commands) == ([], [])

    @pytest.mark.parametrize(("host", "is_accepted"), [("localhost", True), (None, False)])
    async def test_needs_the_host_among_the_alternative_names(
        self, tmp_path: Path, host: str | None, *, is_accepted: bool
    ) -> None:
        with MailCatcher(tmp_path, host=host, common_name="localhost") as server:
            result = await send_to(server, f"smtp://localhost:{server.port}")
        assert (result.reception is Reception.DELIVERED) is is_accepted
        assert is_accepted or result.error_message == f"{TROUBLE}The certificate is for another host"

    @pytest.mark.parametrize("security", ["starttls", "tls"])
    async def test_needs_an_authority_that_is_trusted(self, tmp_path: Path, security: str) -> None:
        (tmp_path / "other").mkdir()
        other = MailCatcher(tmp_path / "other")
        with MailCatcher(tmp_path, security) as server:
            result = await send_to(server, ca_file=other.ca_file)
        assert result.error_message is not None
        assert result.error_message.startswith(f"{TROUBLE}The certificate's authority is not known")
        assert server.accepted == []


class TestSigningIn:
    @pytest.mark.parametrize("security", ["starttls", "tls"])
    async def test_is_with_user_and_password_of_the_setting(self, tmp_path: Path, security: str) -> None:
        with MailCatcher(tmp_path, security, demands_user=True) as server:
            assert (await send_to(server)).reception is Reception.DELIVERED
        assert server.commands == ["AUTH", "MAIL", "RCPT", "DATA"]

    async def test_that_is_refused_is_tried_again_and_tells_no_secret(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with MailCatcher(tmp_path, demands_user=True) as server:
            server.answers["AUTH"] = "535"
            result = await send_to(server)
        assert result == AttemptResult(
            reception=Reception.TRY_AGAIN,
            status_code=535,
            error_message=f"{TROUBLE}It does not accept the service's user and password",
            is_receivers_fault=False,
        )
        assert "answered 535" in caplog.text
        assert not any(secret in caplog.text for secret in (USER, PASSWORD))


class TestAnswers:
    @pytest.mark.parametrize(
        ("command", "answer", "expected"),
        [
            (
                "RCPT",
                "450 4.2.1 Mailbox busy",
                AttemptResult(
                    reception=Reception.TRY_AGAIN,
                    status_code=450,
                    error_message=(
                        "The mail server refused this address for now. Answered 450: 4.2.1 Mailbox busy"
                    ),
                ),
            ),
            (
                "RCPT",
                "550 5.7.1 Not from you",
                AttemptResult(
                    reception=Reception.REFUSED,
                    status_code=550,
                    error_message="The mail server refused this address. Answered 550: 5.7.1 Not from you",
                ),
            ),
            (
                "RCPT",
                "550 5.1.1 No such user",
                AttemptResult(
                    reception=Reception.REFUSED,
                    status_code=550,
                    error_message="This address does not exist. Answered 550: 5.1.1 No such user",
                    disabled_reason="This address does not exist. Answered 550: 5.1.1 No such user",
                ),
            ),
            (
                "DATA",
                "451 4.3.0 Later",
                AttemptResult(
                    reception=Reception.TRY_AGAIN,
                    status_code=451,
                    error_message="The mail server refused the message for now. Answered 451: 4.3.0 Later",
                ),
            ),
            (
                "DATA",
                "554 5.7.1 Spam\x1b[31m",
                AttemptResult(
                    reception=Reception.REFUSED,
                    status_code=554,
                    error_message="The mail server refused the message. Answered 554: 5.7.1 Spam [31m",
                ),
            ),
            (
                "MAIL",
                "553 5.7.1 Sender not owned",
                AttemptResult(
                    reception=Reception.TRY_AGAIN,
                    status_code=553,
                    error_message=f"{TROUBLE}It does not accept the service's sender",
                    is_receivers_fault=False,
                ),
            ),
            (
                "MAIL",
                "530 5.7.0 Must issue a STARTTLS command first",
                AttemptResult(
                    reception=Reception.TRY_AGAIN,
                    status_code=530,
                    error_message=f"{TROUBLE}It requires the service to use TLS, or to sign in",
                    is_receivers_fault=False,
                ),
            ),
            (
                "MAIL",
                "452 4.3.1 Insufficient system storage",
                AttemptResult(
                    reception=Reception.TRY_AGAIN,
                    status_code=452,
                    error_message=f"{TROUBLE}It is not accepting messages at present",
                    is_receivers_fault=False,
                ),
            ),
            (
                "RCPT",
                None,
                AttemptResult(
                    reception=Reception.TRY_AGAIN,
                    error_message=f"{TROUBLE}It closed the connection",
                    is_receivers_fault=False,
                    may_have_arrived=True,
                ),
            ),
            (
                "DATA",
                None,
                AttemptResult(
                    reception=Reception.TRY_AGAIN,
                    error_message=f"{TROUBLE}It closed the connection",
                    is_receivers_fault=False,
                    may_have_arrived=True,
                ),
            ),
        ],
    )
    async def test_mean(
        self, tmp_path: Path, command: str, answer: str | None, expected: AttemptResult
    ) -> None:
        with MailCatcher(tmp_path) as server:
            server.answers[command] = answer
            assert await send_to(server) == expected
        assert server.accepted == []

    async def test_of_no_server_at_all_are_worth_another_attempt(
        self, tmp_path: Path, own_log: pytest.LogCaptureFixture
    ) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as taken:
            port = taken.getsockname()[1]
        result = await send_to(MailCatcher(tmp_path), f"smtps://127.0.0.1:{port}")
        assert result == AttemptResult(
            reception=Reception.TRY_AGAIN,
            error_message=f"{TROUBLE}It cannot be reached",
            is_receivers_fault=False,
        )
        assert own_log.messages == [
            f"The mail server at 127.0.0.1:{port} did not accept a message: It cannot be reached"
        ]
