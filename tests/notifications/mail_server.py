"""A mail server on the loopback that keeps what it gets, and answers what tests tell it to."""

from __future__ import annotations

import asyncio
import ssl
import threading
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import default
from typing import TYPE_CHECKING, Any, Self, cast

import trustme
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

if TYPE_CHECKING:
    from email.message import EmailMessage
    from pathlib import Path

    from aiosmtpd.smtp import Envelope, Session

HOST = "127.0.0.1"
USER, PASSWORD = "monitoring@example.com", "a-password-of:the/tests"
ESCAPED = "monitoring%40example.com:a-password-of%3Athe%2Ftests"


@dataclass(frozen=True)
class Accepted:
    """A message as it came, and its envelope."""

    sender: str
    recipient: str
    content: bytes
    was_secured: bool

    def parse(self) -> EmailMessage:
        return message_from_bytes(self.content, policy=default)


class MailCatcher:
    """Listens on a free port while it is entered. `answers` replaces what a command is answered.

    None as an answer cuts the connection. `security` is that of the settings; with `demands_user` nobody
    sends without signing in.
    """

    def __init__(
        self,
        folder: Path,
        security: str = "starttls",
        *,
        host: str | None = HOST,
        common_name: str | None = None,
        demands_user: bool = False,
    ) -> None:
        authority, self.ca_file = trustme.CA(), folder / "authority.pem"
        authority.cert_pem.write_to_path(str(self.ca_file))
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert(*([host] if host else []), common_name=common_name).configure_cert(self._context)
        self._security = security
        self._demands_user = demands_user
        self.accepted: list[Accepted] = []
        self.commands: list[str] = []
        self.answers: dict[str, str | None] = {}
        self._ready = threading.Event()

    @property
    def url(self) -> str:
        """The setting with which a service sends here."""
        user = f"{ESCAPED}@" if self._demands_user else ""
        scheme, option = ("smtps", "") if self._security == "tls" else ("smtp", "")
        if self._security == "none":
            option = "?tls=none"
        return f"{scheme}://{user}{HOST}:{self.port}{option}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(timeout=30)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(timeout=30)

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        context = self._context if self._security == "tls" else None
        server = await self._loop.create_server(self._answer, HOST, 0, ssl=context)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        server.close()

    def _answer(self) -> SMTP:
        return SMTP(
            self,
            hostname="mail.example.com",
            tls_context=self._context if self._security == "starttls" else None,
            require_starttls=self._security == "starttls",
            auth_required=self._demands_user,
            auth_require_tls=self._security == "starttls",
            authenticator=self._know,
            loop=self._loop,
        )

    def _know(self, *given: Any) -> AuthResult:
        login = given[-1]
        self.commands.append("AUTH")
        known = isinstance(login, LoginPassword) and (login.login, login.password) == (
            USER.encode(),
            PASSWORD.encode(),
        )
        return AuthResult(success=known and "AUTH" not in self.answers, handled=False)

    # Names of aiosmtpd's hooks.
    async def handle_MAIL(  # noqa: N802
        self, server: SMTP, _: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return self._say(server, "MAIL") or "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, _: Session, envelope: Envelope, address: str, __: list[str]
    ) -> str:
        answer = self._say(server, "RCPT")
        if answer is None:
            envelope.rcpt_tos.append(address)
        return answer or "250 OK"

    async def handle_DATA(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        answer = self._say(server, "DATA")
        if answer:
            return answer
        was_secured = session.ssl is not None or self._security == "tls"
        for recipient in envelope.rcpt_tos:
            content = cast("bytes", envelope.original_content)
            self.accepted.append(Accepted(str(envelope.mail_from), recipient, content, was_secured))
        return "250 OK"

    def _say(self, server: SMTP, command: str) -> str | None:
        self.commands.append(command)
        if command in self.answers and self.answers[command] is None:
            cast("asyncio.Transport", server.transport).abort()
            return "421 gone"
        return self.answers.get(command)
