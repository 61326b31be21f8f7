"""Idempotent writes: a retry with the same Idempotency-Key within 24 hours gets the stored response."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from uuid import UUID

import orjson

from monitoring.auth.callers import Caller
from monitoring.auth.models import Team
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.encrypted_columns import Encrypted, encrypt_column
from monitoring.backends.encryption import decrypt, encrypt
from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.idempotency.models import IdempotencyKey
from monitoring.web.replies import NO_STORE, Reply

LIFETIME = timedelta(hours=24)
MAX_KEY_CHARACTERS = 255  # as the document says


async def act_once(
    team_id: UUID, key: str | None, request: tuple[Json, ...], act: Callable[[], Awaitable[Reply]]
) -> Reply:
    """Call `act`, and store and return its response.

    If the team already has a stored response for this key, return that response without calling `act`. If
    `key` is None, only call `act`. The effects of `act` and its response are stored in one transaction. If
    `act` raises, nothing is stored. Raises Problem if the key was used with a different `request`.
    """
    if key is None:
        return await act()
    request_sha256 = _hash_request(request)
    async with transaction():
        # A concurrent request with the same key waits here, and then finds the first request's response.
        await Team.lock(team_id)
        answers = IdempotencyKey.filter(team_id=team_id, key__in=_spellings_of(key))
        stored = await answers.order_by("-id").first()
        if stored and stored.created_at > current_backends().clock.now() - LIFETIME:
            return _repeat(stored, request_sha256)
        if stored:
            await answers.delete()
        reply = await act()
        await IdempotencyKey.create(
            team_id=team_id,
            key=key,
            request_sha256=request_sha256,
            reply_status=reply.status,
            reply_headers=dict(reply.headers),
            reply_body=_store_body(reply),
            created_at=current_backends().clock.now(),
        )
        return reply


async def act_once_for_caller(
    caller: Caller, key: str | None, request: tuple[Json, ...], act: Callable[[], Awaitable[Reply]]
) -> Reply:
    """Call `act_once` for the team of an API client."""
    return await act_once(caller.team_id, key, request, act)


async def delete_expired_keys(now: datetime) -> int:
    """Delete expired keys with their responses, and return the number of keys."""
    return await IdempotencyKey.filter(created_at__lte=now - LIFETIME).delete()


async def encrypt_stored_answers() -> Encrypted:
    """Encrypt stored responses with the first encryption key.

    Earlier releases did not encrypt the stored responses that may contain credentials.
    """
    return await encrypt_column(IdempotencyKey.exclude(reply_body=""), "reply_body")


def _spellings_of(key: str) -> list[str]:
    """Return both forms of a key, without and with quotes, because clients may send either form.

    The draft of the Idempotency-Key header requires the quotes, as for any string of RFC 9651 §3.3.3.
    """
    bare = key[1:-1] if len(key) > 2 and key[0] == key[-1] == '"' else key  # noqa: PLR2004 - the quotes
    return [spelling for spelling in (bare, f'"{bare}"') if len(spelling) <= MAX_KEY_CHARACTERS]


def _store_body(reply: Reply) -> str:
    """Return a response's body as it is stored.

    The body of a `no-store` response is encrypted, because it contains a secret.
    """
    body = reply.payload().decode()
    return encrypt(body) if reply.headers.items() >= NO_STORE.items() else body


def _repeat(stored: IdempotencyKey, request_sha256: str) -> Reply:
    if stored.request_sha256 != request_sha256:
        raise Problem("idempotency_key_reused")
    if not stored.reply_body:
        return Reply.empty(stored.reply_status, stored.reply_headers)
    return Reply(decrypt(stored.reply_body).encode(), stored.reply_status, stored.reply_headers)


def _hash_request(request: tuple[Json, ...]) -> str:
    return hashlib.sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()
