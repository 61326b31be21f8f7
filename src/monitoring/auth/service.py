"""Teams and keys: every function is one transaction or one statement."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from tortoise.exceptions import IntegrityError

from monitoring.audit.actions import Action
from monitoring.audit.actors import COMMAND_LINE
from monitoring.audit.service import record
from monitoring.auth.credentials import (
    NO_KEY_SHA256,
    generate_client_id,
    generate_client_secret,
    hash_secret,
    is_client_id,
    is_same_secret,
)
from monitoring.auth.models import ApiKey, Team
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.fields import uuid7

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from monitoring.audit.actors import Actor
    from monitoring.backends.counters import Mark

# "Last used" is good to the hour, which spares a write with every request.
LAST_USED_GRAIN = timedelta(hours=1)


class KeyExistsError(Exception):
    """There is a key of this id already."""


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A new key with its secret, which is nowhere else and cannot be read again."""

    key: ApiKey
    client_secret: str


async def create_team(name: str, plan: str, max_monitors: int, by: Actor = COMMAND_LINE) -> Team:
    """Create a team. Raises `IntegrityError` if the name is taken."""
    async with transaction():
        team = await Team.create(
            name=name, plan=plan, max_monitors=max_monitors, created_at=datetime.now(UTC)
        )
        await record(team.id, by, Action.TEAM_CREATED, name, team.id)
        return team


async def change_plan(name: str, plan: str, max_monitors: int, by: Actor = COMMAND_LINE) -> Team | None:
    """Move a team to a plan; None if there is no such team. Monitors beyond a smaller plan stay."""
    async with transaction():
        team = await Team.select_for_update(no_key=True).get_or_none(name=name)
        if team is None:
            return None
        changes = {"plan": plan, "max_monitors": max_monitors}
        await team.update_from_dict(changes).save(update_fields=changes)
        await record(team.id, by, Action.PLAN_CHANGED, plan, team.id)
        return team


async def list_teams() -> list[Team]:
    """Return all teams, oldest first."""
    return await Team.all().order_by("id")


async def create_key(
    team: Team, name: str, scopes: Sequence[str], by: Actor = COMMAND_LINE, key_id: UUID | None = None
) -> CreatedKey:
    """Create a key; any number of them can live at once.

    Whoever chose a `key_id` gets one key for it, however often it is sent: again raises `KeyExistsError`.
    """
    secret = generate_client_secret()
    try:
        async with transaction():
            key = await ApiKey.create(
                id=key_id or uuid7(),
                team=team,
                client_id=generate_client_id(),
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
    """Return the team of this name."""
    return await Team.get_or_none(name=name)


async def list_keys(team_id: UUID | None = None) -> list[ApiKey]:
    """Return a team's keys, or everybody's, oldest first, revoked ones too."""
    keys = ApiKey.filter(team_id=team_id) if team_id else ApiKey.all()
    return await keys.order_by("id").select_related("team")


async def find_key(client_id: str, team_id: UUID | None) -> ApiKey | None:
    """Return a key of the team, or anybody's, revoked or not; None if there is no such key."""
    if not is_client_id(client_id):
        return None
    keys = ApiKey.filter(team_id=team_id) if team_id else ApiKey.all()
    return await keys.get_or_none(client_id=client_id).select_related("team")


async def revoke_key(
    client_id: str, *, team_id: UUID | None = None, by: Actor = COMMAND_LINE
) -> ApiKey | None:
    """Revoke a key from the very next request on; None if the team has no such key. Twice is once."""
    async with transaction():
        key = await find_key(client_id, team_id)
        if key is None:
            return None
        living = ApiKey.filter(id=key.id, revoked_at=None)
        if await living.update(revoked_at=datetime.now(UTC)):
            await record(key.team_id, by, Action.KEY_REVOKED, key.name, key.client_id)
        key = await find_key(client_id, team_id)
    await current_backends().remembered.forget_everywhere()
    return key


async def authenticate_key(client_id: str, client_secret: str) -> ApiKey | None:
    """Return the living key these credentials belong to. Refusing one that may exist costs the same work."""
    key = await ApiKey.get_or_none(client_id=client_id) if is_client_id(client_id) else None
    is_right = is_same_secret(client_secret, key.secret_sha256 if key else NO_KEY_SHA256)
    return key if key and is_right and key.revoked_at is None else None


async def find_living_key(client_id: str, mark: Mark | None = None) -> ApiKey | None:
    """Return the key unless it is revoked, and note that it was used. Asked with every request.

    With the mark of the request's own hit it may be remembered: until the next revocation, of whichever key.
    """
    read = partial(_read_living_key, client_id)
    return await current_backends().remembered.recall_or_read(client_id, mark, read)


async def _read_living_key(client_id: str) -> ApiKey | None:
    key = await ApiKey.get_or_none(client_id=client_id, revoked_at=None)
    now = datetime.now(UTC)
    if key and (key.last_used_at is None or now - key.last_used_at > LAST_USED_GRAIN):
        await ApiKey.filter(id=key.id).update(last_used_at=now)
    return key
