"""The webhook channel: requests to a team's own server, signed as Standard Webhooks specifies.

https://www.standardwebhooks.com
"""

from __future__ import annotations

import logging
import secrets
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from uuid import UUID

from standardwebhooks import Webhook

from monitoring.auth.names import name_after_host as default_name
from monitoring.backends.encryption import UndecryptableError, encrypt
from monitoring.contract.document import Json
from monitoring.notifications.channels.json_posts import judge_answer, send_json
from monitoring.notifications.channels.protocol import AttemptResult, Reception
from monitoring.notifications.channels.sender import Sender
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.secrets import read_secret
from monitoring.outbound.exchanges import Exchange

__all__ = ["default_name", "make_secret", "send"]

SECRET_PREFIX = "whsec_"  # noqa: S105 - a prefix, so that scanners for leaked secrets can find one
SECRET_RANDOM_BYTES = 32

UNREADABLE = "The service could not read the webhook's secret"
GONE = "The server answered 410, which says that it wants no more notifications"

log = logging.getLogger(__name__)


def make_secret(given: Mapping[str, Json]) -> str:
    """Generate a signing secret, and return it encrypted for storage. Clients cannot choose the secret."""
    del given
    return encrypt(generate_secret())


def generate_secret() -> str:
    """Generate a 32-byte signing secret in the Standard Webhooks format."""
    return SECRET_PREFIX + b64encode(secrets.token_bytes(SECRET_RANDOM_BYTES)).decode()


async def send(
    delivery: NotificationDelivery, receiver: NotificationChannel, sender: Sender, attempted_at: datetime
) -> AttemptResult:
    """Send the signed event and return the result. Every attempt sends the same body."""
    try:
        secret = read_secret(receiver)
    except UndecryptableError as error:
        log.error("Nothing is sent to the webhook %s: %s", receiver.id, error)  # noqa: TRY400 - expected
        return AttemptResult(reception=Reception.TRY_AGAIN, error_message=UNREADABLE)
    proof = sign(secret, delivery.id, attempted_at, delivery.payload)
    return judge(await send_json(sender, receiver.url, delivery.payload.encode(), proof))


def sign(secret: str, message_id: UUID, attempted_at: datetime, payload: str) -> dict[str, str]:
    """Return the headers that sign a message. `attempted_at` must be in UTC."""
    return {
        "webhook-id": str(message_id),
        "webhook-timestamp": str(int(attempted_at.timestamp())),
        "webhook-signature": Webhook(secret).sign(str(message_id), attempted_at, payload),
    }


def judge(exchange: Exchange) -> AttemptResult:
    """Classify a response. Status 410 disables the channel, as it means that no more messages are wanted."""
    result = judge_answer(exchange)
    if result.status_code == HTTPStatus.GONE:
        return replace(result, reception=Reception.REFUSED, disabled_reason=GONE)
    return result
