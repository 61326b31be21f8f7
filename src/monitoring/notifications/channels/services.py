"""Sends notifications to providers such as Slack: reads secrets, sends a request, classifies the response."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import orjson

from monitoring.auth.names import MAX_NAME_CHARACTERS, name_after_host
from monitoring.backends.encryption import UndecryptableError
from monitoring.contract.configurations import Configuration
from monitoring.contract.document import Json
from monitoring.notifications.channels.json_posts import is_success, judge_answer, on_one_line, send_json
from monitoring.notifications.channels.message import Message
from monitoring.notifications.channels.protocol import AttemptResult, Reception
from monitoring.notifications.channels.rendering import render_delivery
from monitoring.notifications.channels.sender import Sender
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.secrets import read_secrets, store_secrets, texts_in
from monitoring.outbound.exchanges import Exchange, Headers

if TYPE_CHECKING:
    from monitoring.notifications.channels.json_posts import Post

UNREADABLE = "The service could not read the channel's secrets"

MOST_SAID_CHARACTERS = 100
MOST_READ_BYTES = 4 * MOST_SAID_CHARACTERS  # a character has up to 4 bytes in UTF-8

# The minimum length of a part of a secret. Shorter parts are not treated as secret.
LEAST_SECRET_CHARACTERS = 6
_SEPARATORS = re.compile(r"[^A-Za-z0-9_-]+")

# With these statuses, the provider refuses the message itself, so a retry would get the same response.
_MEANT_FOR_THE_MESSAGE = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
}
_GONE = {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}
_UNAUTHORIZED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProviderChannel:
    """A channel type for a provider. It implements `Channel`.

    `name` is the provider's display name. `write` renders a message as a request to the provider, from the
    channel's fields and secrets. `hosts` are the provider's own host names. An entry that begins with a dot
    matches all host names with that suffix.
    """

    name: str
    write: Callable[[Message, Configuration], Post]
    hosts: Collection[str] = ()

    def default_name(self, configuration: Configuration) -> str:
        """Return the host of the channel's URL, or the provider's name if the channel has no URL."""
        return name_after_host(configuration) if "url" in configuration else self.name[:MAX_NAME_CHARACTERS]

    def make_secret(self, given: Mapping[str, Json]) -> str:
        """Return the secret fields, encrypted for storage."""
        return store_secrets(given)

    async def send(
        self,
        delivery: NotificationDelivery,
        receiver: NotificationChannel,
        sender: Sender,
        attempted_at: datetime,
    ) -> AttemptResult:
        """Render the event as the provider's request, send it and return the result."""
        del attempted_at
        try:
            secrets = read_secrets(receiver)
        except UndecryptableError as error:
            log.error("Nothing is sent to the channel %s: %s", receiver.id, error)  # noqa: TRY400 - expected
            return AttemptResult(reception=Reception.TRY_AGAIN, error_message=UNREADABLE)
        message = render_delivery(delivery, sender)
        post = self.write(message, {"url": receiver.url, **receiver.settings, **secrets})
        exchange = await send_json(
            sender,
            post.url,
            orjson.dumps(post.body),
            post.headers,
            method=post.method,
            body_reader=_ReaderOfRefusals() if self._is_at(post.url) else None,
        )
        return judge(exchange, self.name, texts_in(secrets))

    def _is_at(self, url: str) -> bool:
        """Return whether a URL is HTTPS and has one of the provider's hosts. TLS then verifies that host.

        A team can choose a URL on any other host, which may be an internal service. Responses from such hosts
        are not read, because the delivery log would expose them.
        """
        parts = urlsplit(url)
        host = parts.hostname or ""
        return parts.scheme == "https" and any(
            host.endswith(known) if known.startswith(".") else host == known for known in self.hosts
        )


class _ReaderOfRefusals:
    """A body reader that reads the beginning of an error response, to quote it, and skips 2xx responses."""

    _read_bytes = 0

    def begin(self, status_code: int, _: Headers) -> bool:
        return not is_success(status_code)

    def read(self, piece: bytes) -> bool:
        self._read_bytes += len(piece)
        return self._read_bytes < MOST_READ_BYTES


def judge(exchange: Exchange, service: str, secrets: Iterable[str] = ()) -> AttemptResult:
    """Classify a provider's response, quoting its body if it was read.

    A body that repeats a part of `secrets` is not quoted, because some people who can read the delivery log
    must not see the secrets.

    Only a 2xx status is a success. 404 and 410 mean that the provider no longer knows the channel's URL. 400,
    413, 415 and 422 are permanent refusals, unless the response contains a Telegram chat's new id. After any
    other status, the delivery is retried, even after 401 and 403, because the team may fix the credentials.
    """
    result = judge_answer(exchange)
    if result.reception is Reception.DELIVERED or exchange.status_code is None:
        return result
    status, answered = exchange.status_code, f"{result.error_message}{_quote(exchange.body, secrets)}"
    if status in _GONE:
        reason = f"{service} no longer knows this channel's address. {answered}"
        return AttemptResult(
            reception=Reception.REFUSED, status_code=status, error_message=reason, disabled_reason=reason
        )
    if moved_to := _read_new_chat(exchange.body):
        return replace(
            result,
            error_message=f"{service} says that the chat has another id now: {moved_to}",
            new_settings={"chat_id": moved_to},
        )
    if status in _MEANT_FOR_THE_MESSAGE:
        reason = f"{service} refused the message. {answered}"
        return AttemptResult(reception=Reception.REFUSED, status_code=status, error_message=reason)
    if status in _UNAUTHORIZED:
        answered = f"{service} does not let this channel post. {answered}"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        answered = f"{service} takes no more messages at present. {answered}"
    return replace(result, error_message=answered)


def _quote(body: bytes, secrets: Iterable[str]) -> str:
    """Return the beginning of a response body on one line, or "" if it contains a part of a secret."""
    text = body[:MOST_READ_BYTES].decode(errors="replace")
    if any(part in text for secret in secrets for part in _parts(secret)):
        return ""
    said = on_one_line(text)[:MOST_SAID_CHARACTERS]
    return f": {said}" if said else ""


def _read_new_chat(body: bytes) -> str | None:
    """Return the new id of a Telegram group that became a supergroup, or None.

    https://core.telegram.org/bots/api#responseparameters
    """
    try:
        chat_id = orjson.loads(body)["parameters"]["migrate_to_chat_id"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return str(chat_id) if isinstance(chat_id, int) else None


def _parts(secret: str) -> list[str]:
    """Split a secret into the parts that a response could repeat. A URL's host is not secret."""
    parts = urlsplit(secret)
    hidden = f"{parts.path} {parts.query}" if parts.netloc else secret
    return [part for part in _SEPARATORS.split(hidden) if len(part) >= LEAST_SECRET_CHARACTERS]
