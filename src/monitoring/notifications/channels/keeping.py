"""Stores a sandbox's notification requests instead of sending them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlsplit

from standardwebhooks import Webhook, WebhookVerificationError

from monitoring.auth.sandboxes import is_sandbox
from monitoring.backends.encryption import MASK, UndecryptableError
from monitoring.contract.document import Json
from monitoring.notifications.channels.protocol import AttemptResult, Reception
from monitoring.notifications.models import WEBHOOK, NotificationChannel
from monitoring.notifications.secrets import read_secret, read_secrets, texts_in
from monitoring.outbound.exchanges import BodyReader, Exchange, OutboundRequest
from monitoring.outbound.scripted_hosts import RECEIVER
from monitoring.outbound.targets import UnusableUrl, read_target

SUCCESS = 200
MAIL_ACCEPTED = 250  # RFC 5321 §4.2.3


async def find_keeping_sender(channel: NotificationChannel) -> KeepingSender | None:
    """Return a sender that stores a sandbox's requests instead of sending them, or None in live mode."""
    return KeepingSender(channel) if await is_sandbox(channel.team_id) else None


class KeepingSender:
    """A sender that records requests instead of sending them.

    A request to a scripted host (`.test`) gets the host's scripted response. Every other request is reported
    as accepted. `kept` is the last request, in the format of the OpenAPI document's `KeptRequest`, with the
    channel's secrets masked.
    """

    def __init__(self, channel: NotificationChannel) -> None:
        self._channel = channel
        self._secrets = _find_secrets(channel)
        self.kept: dict[str, Json] | None = None

    async def send(self, request: OutboundRequest, body_reader: BodyReader | None = None) -> Exchange:
        """Record a request, and return success or the host's scripted response."""
        body = (request.body or b"").decode()
        self._keep(request.method, request.url, request.headers, body)
        host = _find_host(request.url)
        if not host.endswith(".test") or (host == RECEIVER and self._is_genuine(request.headers, body)):
            return Exchange(status_code=SUCCESS)

        from monitoring.outbound.client import HttpClient  # noqa: PLC0415 - 4 MiB, see `sender`
        from monitoring.outbound.scripted_web import open_scripted_dialer  # noqa: PLC0415

        async with open_scripted_dialer() as dialer:
            return await HttpClient(dialer).send(request, body_reader)

    def keep_mail(self, recipient: str, content: bytes) -> AttemptResult:
        """Record an email, and report it as accepted by the mail server."""
        self._keep("MAIL", f"mailto:{quote(recipient, safe='@+')}", {}, content.decode())
        return AttemptResult(reception=Reception.DELIVERED, status_code=MAIL_ACCEPTED)

    def _is_genuine(self, headers: Mapping[str, str], body: str) -> bool:
        """Return whether the channel is a webhook, and the request has a valid, recent signature."""
        if self._channel.type != WEBHOOK:
            return False
        try:
            Webhook(read_secret(self._channel)).verify(body, dict(headers))
        except (WebhookVerificationError, UndecryptableError):
            return False
        return True

    def _keep(self, method: str, url: str, headers: Mapping[str, str], body: str) -> None:
        self.kept = {
            "method": method,
            "url": self._mask(url),
            "headers": {name: self._mask(value) for name, value in headers.items()},
            "body": self._mask(body),
        }

    def _mask(self, text: str) -> str:
        for secret in self._secrets:
            address = urlsplit(secret)
            shown = f"{address.scheme}://{address.netloc}/{MASK}" if address.netloc else MASK
            text = text.replace(secret, shown)
        return text


def _find_secrets(channel: NotificationChannel) -> Iterable[str]:
    """Return the secrets to mask, longest first. A webhook has none, because its secret is never sent."""
    if channel.type == WEBHOOK:
        return ()
    try:
        return sorted(texts_in(read_secrets(channel)), key=len, reverse=True)
    except UndecryptableError:  # secrets that cannot be decrypted were not sent
        return ()


def _find_host(url: str) -> str:
    try:
        return read_target(url).host.removesuffix(".")
    except UnusableUrl:
        return ""
