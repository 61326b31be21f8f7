"""Examines a webhook's receiver: sends it valid and forged messages, and checks each response.

All messages are test events, so that nobody is alerted. Only the status code of a response is checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from uuid import UUID, uuid4

import orjson

from monitoring.backends.encryption import UndecryptableError
from monitoring.contract.document import Json
from monitoring.contract.timestamps import write_timestamp
from monitoring.notifications.channels.json_posts import is_success
from monitoring.notifications.channels.sender import Sender
from monitoring.notifications.channels.webhook import UNREADABLE, generate_secret, sign
from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.routing import TEST
from monitoring.notifications.secrets import read_secret
from monitoring.outbound.exchanges import Exchange, OutboundRequest

# The timeout for each message. An exam of seven messages therefore ends within half a minute.
TIMEOUT_SECONDS = 4.0

# The age of an outdated message. It exceeds five minutes, which is the tolerance that Standard Webhooks
# recommends and its libraries apply.
OLD = timedelta(minutes=10)

# The size of a large message. Every message that the service sends is smaller.
LARGE_BYTES = 65_536

UNPROVEN = "Not sent, because the server does not accept a good message."


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A message that the exam sends. `advice` is shown if the receiver does not respond correctly."""

    name: str
    is_to_be_accepted: bool
    advice: str
    secret: str
    id: UUID
    sent_at: datetime
    payload: str


async def examine(receiver: NotificationChannel, sender: Sender, now: datetime) -> list[dict[str, Json]]:
    """Examine a webhook's receiver, and return the `results` of the schema `ReceiverExam`.

    Raises OSError if this machine cannot send anything.
    """
    try:
        questions = list(_ask(read_secret(receiver), now))
    except UndecryptableError:
        questions = list(_ask(generate_secret(), now))
        return [_unasked(question, f"{UNREADABLE}.") for question in questions]
    results: list[dict[str, Json]] = []
    for question in questions:
        if results and results[0]["verdict"] != "right":
            results.append(_unasked(question, UNPROVEN))
        else:
            results.append(_judge(question, await _send(question, receiver.url, sender)))
    return results


def _ask(secret: str, now: datetime) -> Iterator[Question]:
    """Yield the exam's messages in sending order."""
    good = Question(
        name="good",
        is_to_be_accepted=True,
        advice="Answer 2xx if the signature is right. Compute it over the body as it came, byte for byte, "
        "with the secret that the creation of the channel answered.",
        secret=secret,
        id=uuid4(),
        sent_at=now,
        payload=_write(now),
    )
    yield good
    yield Question(
        name="wrong_signature",
        is_to_be_accepted=False,
        advice="Anybody can send such a message. Verify webhook-signature, and answer 401 if it is wrong.",
        secret=generate_secret(),
        id=uuid4(),
        sent_at=now,
        payload=_write(now),
    )
    yield Question(
        name="old_timestamp",
        is_to_be_accepted=False,
        advice="Whoever recorded a message can send it again. Answer 401 if webhook-timestamp is more than "
        "five minutes away from your clock.",
        secret=secret,
        id=uuid4(),
        sent_at=now - OLD,
        payload=_write(now - OLD),
    )
    yield Question(
        name="repeated",
        is_to_be_accepted=True,
        advice="A message is sent again whenever its answer was lost. Answer 2xx if you know the webhook-id, "
        "and do nothing else.",
        secret=secret,
        id=good.id,
        sent_at=now,
        payload=good.payload,
    )
    for name, happened_at in (("later", now), ("earlier", now - timedelta(minutes=1))):
        yield Question(
            name=name,
            is_to_be_accepted=True,
            advice="Messages can come in another order than they happened in. Answer 2xx, and compare the "
            "timestamps of their bodies.",
            secret=secret,
            id=uuid4(),
            sent_at=now,
            payload=_write(happened_at),
        )
    yield Question(
        name="large",
        is_to_be_accepted=True,
        advice="Accept bodies of 64 KiB, and fields that you do not know.",
        secret=secret,
        id=uuid4(),
        sent_at=now,
        payload=_write(now, padding="x" * LARGE_BYTES),
    )


def _write(happened_at: datetime, **data: str) -> str:
    """Render a test event that happened at `happened_at` and contains `data`."""
    event = {"type": TEST, "timestamp": write_timestamp(happened_at), "data": data}
    return orjson.dumps(event).decode()


async def _send(question: Question, url: str, sender: Sender) -> Exchange:
    proof = sign(question.secret, question.id, question.sent_at, question.payload)
    request = OutboundRequest(
        method="POST",
        url=url,
        headers={"Content-Type": "application/json", **proof},
        body=question.payload.encode(),
        timeout_seconds=TIMEOUT_SECONDS,
    )
    return await sender.send(request)


def _judge(question: Question, exchange: Exchange) -> dict[str, Json]:
    status_code = exchange.status_code
    accepted = status_code is not None and is_success(status_code)
    refused = status_code is not None and HTTPStatus(400) <= status_code < HTTPStatus(500)
    is_right = accepted if question.is_to_be_accepted else refused
    said = f"{exchange.failure.message}." if exchange.failure else f"Answered {status_code}."
    result = _unasked(question, said if is_right else f"{said} {question.advice}")
    return {**result, "status_code": status_code, "verdict": "right" if is_right else "wrong"}


def _unasked(question: Question, sentence: str) -> dict[str, Json]:
    return {
        "message": question.name,
        "expected": "accepted" if question.is_to_be_accepted else "refused",
        "status_code": None,
        "verdict": "not_sent",
        "sentence": sentence,
    }
