"""Classifies HTTP errors of engines as transient or permanent. Error messages contain no secrets."""

from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus

from monitoring.articles.translation.engines.protocol import PermanentEngineError, TransientEngineError
from monitoring.outbound.retry_after import read_retry_after

_MAX_MESSAGE_CHARACTERS = 200
_PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
# For these statuses, the server's message is omitted, because it may quote part of the API key.
_ABOUT_THE_KEY = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
_QUOTA_EXCEEDED = 456  # DeepL's own status
_WORDS = {
    HTTPStatus.UNAUTHORIZED: "refused the key",
    HTTPStatus.FORBIDDEN: "refused the key",
    HTTPStatus.PAYMENT_REQUIRED: "requires a payment",
    HTTPStatus.TOO_MANY_REQUESTS: "received too many requests",
    _QUOTA_EXCEEDED: "has used up its quota",
}


def judge_status(
    engine: str, status: int, headers: Mapping[str, str], *, message: object = None, secret: str = ""
) -> TransientEngineError | PermanentEngineError:
    """Return the error for an HTTP status of 300 or more.

    `message` is the server's message, if any. `secret` is removed from the message.
    """
    is_failure = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    reason = f"{engine} {_WORDS.get(status, 'failed' if is_failure else 'refused the request')} ({status})"
    if isinstance(message, str) and message and status not in _ABOUT_THE_KEY:
        told = " ".join(message.replace(secret or "\0", "...").split())
        reason = f"{reason}: {told[:_MAX_MESSAGE_CHARACTERS]}"
    if is_failure or status in _PASSING:
        retry_after = headers.get("Retry-After", "")
        return TransientEngineError(reason, read_retry_after(retry_after, datetime.now(UTC)))
    return PermanentEngineError(reason)


def no_answer(engine: str, error: BaseException) -> TransientEngineError:
    """Return the error for a request without a response. The message names only the type of `error`."""
    return TransientEngineError(f"{engine} did not respond ({type(error).__name__})")


def unreadable_answer(engine: str) -> TransientEngineError:
    """Return the error for a response that does not have the documented format."""
    return TransientEngineError(f"{engine} returned a response in an unexpected format")
