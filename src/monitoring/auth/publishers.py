"""Authenticates publishers by the operator's secret, Ghost's signature or Outrank's access token."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Sequence

from pydantic import SecretStr
from starlette.requests import Request

from monitoring.contract.problems import Problem
from monitoring.web.bodies import receive_early

SIGNATURE_TOLERANCE_SECONDS = 300

_SIGNATURE = re.compile(r"sha256=([0-9a-f]{64}), ?t=([0-9]{13})")
_BEARER = re.compile("bearer +", re.IGNORECASE)


def is_any_secret(sent: str, secrets: Iterable[SecretStr]) -> bool:
    """Return whether `sent` equals any of the secrets, comparing with each in constant time."""
    return _is_any(sent.encode(), [secret.get_secret_value().encode() for secret in secrets])


def has_access_token(request: Request, tokens: Sequence[SecretStr]) -> bool:
    """Return whether the request has one of Outrank's access tokens, as `Authorization: Bearer <token>`."""
    sent = request.headers.getlist("authorization")
    matched = _BEARER.match(sent[0]) if len(sent) == 1 else None
    return matched is not None and is_any_secret(sent[0][matched.end() :], tokens)


async def find_fault_of_signature(request: Request, secrets: Sequence[SecretStr]) -> Problem | None:
    """Verify `X-Ghost-Signature`. Returns None if one of the secrets signed the body, otherwise a Problem.

    The body is read unless the header is malformed or too old. Since July 2024, Ghost signs the body followed
    by the time (https://github.com/TryGhost/Ghost/pull/20500). Older versions sign only the body. Their
    signatures are refused, because requests could be replayed. Raises Problem if the body is too large.
    """
    matched = _SIGNATURE.fullmatch(request.headers.get("x-ghost-signature", ""))
    if not matched:
        return Problem("ghost_signature_unreadable")
    signature, sent_at = matched.groups()
    if abs(time.time() - int(sent_at) / 1000) > SIGNATURE_TOLERANCE_SECONDS:
        return Problem("ghost_signature_expired")
    signed = await receive_early(request) + sent_at.encode()
    expected = [
        hmac.digest(secret.get_secret_value().encode(), signed, hashlib.sha256).hex().encode()
        for secret in secrets
    ]
    return None if _is_any(signature.encode(), expected) else Problem("ghost_signature_invalid")


def _is_any(sent: bytes, accepted: Iterable[bytes]) -> bool:
    return sum(hmac.compare_digest(sent, one) for one in accepted) > 0
