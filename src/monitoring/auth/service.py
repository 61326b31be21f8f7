"""Teams and keys: every function is one transaction or one statement."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monitoring.backends.counters import Mark

# "Last used" is good to the hour, which spares a write with every request.
LAST_USED_GRAIN = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A new key with its secret, which is nowhere else and cannot be read again."""

    key: ApiKey
    client_secret: str


async def create_team(name: str, plan: str, max_monitors: int) -> Team:
    """Create a team. Raises `IntegrityError` if the name is taken."""
    return await Team.create(name=name, plan=plan, max_monitors=max_monitors, created_at=datetime.now(UTC))


async def list_teams() -> list[Team]:
    """Return all teams, oldest first."""
    return await Team.all().order_by("id")


async def create_key(team: Team, name: str, scopes: Sequence[str]) -> CreatedKey:
    """Create a key; any number of them can live at once."""
    secret = generate_client_secret()
    key = await ApiKey.create(
        team=team,
        client_id=generate_client_id(),
        secret_sha256=hash_secret(secret),
        name=name,
        scopes=list(scopes),
        created_at=datetime.now(UTC),
    )
    return CreatedKey(key, secret)


async def find_team(name: str) -> Team | None:
    """Return the team of this name."""
    return await Team.get_or_none(name=name)


async def list_keys(team_name: str | None = None) -> list[ApiKey]:
    """Return a team's keys, or everybody's, oldest first, revoked ones too."""
    keys = ApiKey.filter(team__name=team_name) if team_name else ApiKey.all()
    return await keys.order_by("id").select_related("team")


async def revoke_key(client_id: str) -> ApiKey | None:
    """Revoke a key from the very next request on; None if there is no such key. Twice is once."""
    await ApiKey.filter(client_id=client_id, revoked_at=None).update(revoked_at=datetime.now(UTC))
    await current_backends().remembered.forget_everywhere()
    return await ApiKey.get_or_none(client_id=client_id).select_related("team")


async def authenticate_key(client_id: str, client_secret: str) -> ApiKey | None:
    """Return the living key these credentials belong to. Refusing one that may exist costs the same work."""
    key = await ApiKey.get_or_none(client_id=client_id) if is_client_id(client_id) else None
    is_right = is_same_secret(client_secret, key.secret_sha256 if key else NO_KEY_SHA256)
    return key if key and is_right and key.revoked_at is None else None


async def find_living_key(client_id: str, mark: Mark | None = None) -> ApiKey | None:
    """Return the key unless it is revoked, and note that it was used. Asked with every request.

    With the mark of the request's own hit it may be remembered: until the next revocation, of whichever key.
    """
    remembered = current_backends().remembered
    if key := remembered.recall(client_id, mark):
        return key  # type: ignore[no-any-return]
    good_until = remembered.good_until()
    key = await ApiKey.get_or_none(client_id=client_id, revoked_at=None)
    if key is None:
        return None
    now = datetime.now(UTC)
    if key.last_used_at is None or now - key.last_used_at > LAST_USED_GRAIN:
        await ApiKey.filter(id=key.id).update(last_used_at=now)
    remembered.remember(client_id, mark, good_until, key)
    return key
