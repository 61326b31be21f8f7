"""Sends JSON requests for channels, and classifies the responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus

from monitoring.contract.document import Json
from monitoring.notifications.channels.protocol import AttemptResult, Reception
from monitoring.notifications.channels.sender import Sender
from monitoring.outbound.exchanges import BodyReader, Exchange, OutboundRequest
from monitoring.outbound.failures import FailureCode
from monitoring.outbound.retry_after import read_retry_after

TIMEOUT_SECONDS = 15.0

# A gateway returns these statuses if it forwarded the request, but received no valid response (RFC 9110
# §15.6.3 and §15.6.5). The receiver may therefore have received the request.
_SAID_BY_GATEWAYS = {HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT}

# After one of these failures, no request was sent. After any other failure, the receiver may have received
# the request.
_NEVER_SENT = {
    FailureCode.DNS_FAILURE,
    FailureCode.CONNECTION_REFUSED,
    FailureCode.TLS_INVALID,
    FailureCode.BLOCKED_ADDRESS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A request to a provider. The body is serialised as JSON."""

    url: str
    body: Json
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)


async def send_json(  # noqa: PLR0913 - the parts of a request
    sender: Sender,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    method: str = "POST",
    body_reader: BodyReader | None = None,
) -> Exchange:
    """Send a JSON request without following redirects. Raises OSError if this machine cannot send anything.

    If `body_reader` is None, the response body is not read.
    """
    has_a_type = any(name.lower() == "content-type" for name in headers)
    request = OutboundRequest(
        method=method,
        url=url,
        headers=headers if has_a_type else {"Content-Type": "application/json", **headers},
        body=body,
        timeout_seconds=TIMEOUT_SECONDS,
    )
    return await sender.send(request, body_reader)


def is_success(status_code: int) -> bool:
    """Return whether a status code is 2xx."""
    return HTTPStatus(200) <= status_code < HTTPStatus(300)


def judge_answer(exchange: Exchange) -> AttemptResult:
    """Return the attempt result of an exchange: a 2xx status is delivered, and everything else is retried."""
    status_code = exchange.status_code
    if exchange.failure:
        return AttemptResult(
            reception=Reception.TRY_AGAIN,
            error_message=exchange.failure.message,
            may_have_arrived=exchange.failure.code not in _NEVER_SENT,
        )
    if status_code and is_success(status_code):
        return AttemptResult(reception=Reception.DELIVERED, status_code=status_code)
    return AttemptResult(
        reception=Reception.TRY_AGAIN,
        status_code=status_code,
        error_message=f"Answered {status_code}",
        retry_after_seconds=read_retry_after(exchange.retry_after, datetime.now(UTC)),
        may_have_arrived=status_code in _SAID_BY_GATEWAYS,
    )


def on_one_line(text: str) -> str:
    """Return untrusted text as a single line without control characters."""
    line = "".join(each if each.isprintable() else " " for each in text)
    return " ".join(line.split())
