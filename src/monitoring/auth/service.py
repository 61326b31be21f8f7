"""Operations on teams, keys and tokens. Each function is one transaction or one statement.

A token can be revoked before it expires (RFC 7009) and introspected (RFC 7662).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import orjson
from tortoise.exceptions import IntegrityError
from tortoise.expressions import Q

from monitoring.audit.actions import Action
from monitoring.audit.actors import COMMAND_LINE, Actor
from monitoring.audit.service import record
from monitoring.auth.callers import TEST_MODE, mode_of
from monitoring.auth.credentials import (
    NO_KEY_SHA256,
    generate_client_id,
    generate_client_secret,
    hash_secret,
    is_client_id,
    is_same_secret,
)
from monitoring.auth.models import ApiKey, RevokedToken, Team
from monitoring.auth.queries import read_living_key, read_living_sha256
from monitoring.auth.sandboxes import note_use
from monitoring.auth.tokens import InvalidTokenError, TokenClaims, verify_token
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.fields import read_id, read_moment, uuid7

# "Last used" is accurate to the minute, which avoids a write for every request.
LAST_USED_GRAIN = timedelta(minutes=1)


class AnotherClientsTokenError(Exception):
    """The token to revoke was issued to another client."""


class KeyExistsError(Exception):
    """A key with this id already exists."""


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A new key with its secret, which is not stored and cannot be read again."""

    key: ApiKey
    client_secret: str


@dataclass(frozen=True, slots=True)
class LivingKey:
    """The properties of an active key that requests need."""

    client_id: str
    team_id: UUID
    scopes: frozenset[str]
    name: str


async def create_team(name: str, plan: str, max_monitors: int) -> Team:
    """Create a team. Raises `IntegrityError` if the name is taken."""
    async with transaction():
        team = await Team.create(
            name=name, plan=plan, max_monitors=max_monitors, created_at=datetime.now(UTC)
        )
        await record(team.id, COMMAND_LINE, Action.TEAM_CREATED, name, team.id)
        return team


async def change_plan(name: str, plan: str, max_monitors: int) -> Team | None:
    """Change a team's plan and return the team. None if there is no such team.

    If the team has more monitors than the new plan allows, all of them are kept.
    """
    async with transaction():
        team = await Team.select_for_update(no_key=True).get_or_none(name=name, sandbox_of=None)
        if team is None:
            return None
        changes = {"plan": plan, "max_monitors": max_monitors}
        await team.update_from_dict(changes).save(update_fields=changes)
        await Team.filter(sandbox_of_id=team.id).update(**changes)
        await record(team.id, COMMAND_LINE, Action.PLAN_CHANGED, plan, team.id)
        return team


async def list_teams() -> list[Team]:
    """Return all teams except sandboxes, oldest first."""
    return await Team.filter(sandbox_of=None).order_by("id")


async def create_key(
    team: Team, name: str, scopes: Sequence[str], by: Actor = COMMAND_LINE, key_id: UUID | None = None
) -> CreatedKey:
    """Create a key for a team, which can have any number of keys. A sandbox's key is a test key.

    A caller that may retry can choose `key_id`, so that only one key is created. Raises `KeyExistsError` if a
    key with this id already exists.
    """
    secret = generate_client_secret()
    try:
        async with transaction():
            key = await ApiKey.create(
                id=key_id or uuid7(),
                team=team,
                client_id=generate_client_id(is_test=team.sandbox_of_id is not None),
                secret_sha256=hash_secret(secret),
                name=name,
                scopes=list(scopes),
                created_by=by.name,
                created_at=datetime.now(UTC),
            )
            await record(team.id, by, Action.KEY_CREATED, name, key.client_id)
    except IntegrityError:
        raise KeyExistsError from None
    return CreatedKey(key, secret)


async def find_team(name: str) -> Team | None:
    """Return the team with this name. None if there is none, or if it is a sandbox."""
    return await Team.get_or_none(name=name, sandbox_of=None)


async def list_keys(team_id: UUID | None = None, *, of_both_worlds: bool = False) -> list[ApiKey]:
    """Return a team's keys, or all keys if `team_id` is None, oldest first, including revoked keys.

    With `of_both_worlds`, the keys of the team's sandbox are included.
    """
    of_sandbox = Q(team__sandbox_of_id=team_id) if of_both_worlds else Q()
    keys = ApiKey.filter(Q(team_id=team_id) | of_sandbox) if team_id else ApiKey.all()
    return await keys.order_by("id").select_related("team")


async def find_key(client_id: str, team_id: UUID | None) -> ApiKey | None:
    """Return a team's key, active or revoked. None if there is no such key.

    If `team_id` is None, the key may be any team's.
    """
    if not is_client_id(client_id):
        return None
    keys = ApiKey.filter(team_id=team_id) if team_id else ApiKey.all()
    return await keys.get_or_none(client_id=client_id).select_related("team")


async def revoke_key(
    client_id: str, *, team_id: UUID | None = None, by: Actor = COMMAND_LINE
) -> ApiKey | None:
    """Revoke a key, effective from the next request, and return it. None if there is no such key.

    Idempotent.
    """
    async with transaction():
        key = await find_key(client_id, team_id)
        if key is None:
            return None
        living = ApiKey.filter(id=key.id, revoked_at=None)
        if await living.update(revoked_at=datetime.now(UTC)):
            await record(key.team_id, by, Action.KEY_REVOKED, key.name, key.client_id)
        return await find_key(client_id, team_id)


async def authenticate_key(client_id: str, client_secret: str) -> ApiKey | None:
    """Return the active key for these credentials. None if they are wrong or the key is unknown or revoked.

    All three failures take the same time: one statement that returns one row, and one comparison.
    """
    name = client_id if is_client_id(client_id) else ""
    if not is_same_secret(client_secret, await read_living_sha256(name, NO_KEY_SHA256)):
        return None
    return await ApiKey.get_or_none(client_id=client_id, revoked_at=None)


async def find_living_key(claims: TokenClaims) -> LivingKey | None:
    """Return a token's key, and update when it was last used. Called for every request.

    None if the key was revoked. Raises `InvalidTokenError` if the token itself was revoked.
    """
    row = await read_living_key(claims.client_id, claims.token_id)
    if row is None:
        return None
    if row["is_token_revoked"]:
        raise InvalidTokenError
    now, last_used_at = datetime.now(UTC), read_moment(row["last_used_at"])
    if last_used_at is None or now - last_used_at > LAST_USED_GRAIN:
        await ApiKey.filter(client_id=claims.client_id).update(last_used_at=now)
        if mode_of(claims.client_id) == TEST_MODE:
            await note_use(read_id(row["team_id"]), now)
    scopes = frozenset(orjson.loads(row["scopes"]))
    return LivingKey(claims.client_id, read_id(row["team_id"]), scopes, row["name"])


async def revoke_token(client: ApiKey, token: str) -> None:
    """Revoke a token, effective in every process from the next request. Idempotent.

    Does nothing if the token is already invalid. Raises `AnotherClientsTokenError` if it is another client's.
    """
    backends = current_backends()
    try:
        claims = verify_token(backends.settings, token)
    except InvalidTokenError:
        return
    if claims.client_id != client.client_id:
        raise AnotherClientsTokenError
    ends_at = datetime.fromtimestamp(claims.expires_at_seconds, UTC)
    await RevokedToken.bulk_create(
        [RevokedToken(token_id=claims.token_id, expires_at=ends_at)], ignore_conflicts=True
    )


async def find_active_token(team_id: UUID, token: str) -> TokenClaims | None:
    """Return the claims of a team's active token, with its current scopes. None if it is not active.

    A scope that the key no longer has is omitted.
    """
    try:
        claims = verify_token(current_backends().settings, token)
        key = await find_living_key(claims)
    except InvalidTokenError:
        return None
    if key is None or key.team_id != team_id:
        return None
    return replace(claims, scopes=claims.scopes & key.scopes)
