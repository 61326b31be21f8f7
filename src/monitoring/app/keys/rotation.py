"""The settings page for key rotation: three steps to replace an API key without downtime."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from starlette.responses import Response

from monitoring.app.routing import for_members
from monitoring.app.visits import Visit
from monitoring.auth.models import ApiKey
from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.auth.service import list_keys
from monitoring.contract.problems import Problem
from monitoring.members.service import name_members

# A key counts as in use until this long after its last request. If a client makes one call an hour, its key
# must also count as in use between the calls.
RECENTLY = timedelta(hours=2)

NOT_BEGUN = dict.fromkeys(("make", "deploy", "revoke"), "")
_SUFFIX = " (new)"


async def show_rotation(visit: Visit) -> Response:
    """Show the steps of a rotation. The query's `old` names the key to replace, and `new` its replacement."""
    keys = await list_keys(visit.team.id)
    living = [key for key in keys if key.revoked_at is None]
    old = _pick(keys, visit.query.get("old"))
    chosen = _pick(keys, visit.query.get("new"))
    if old is None:
        return visit.render("keys/rotation.html", living=living, old=None, new=None, steps=NOT_BEGUN)
    new = find_successor(old, keys, chosen)
    return visit.render(
        "keys/rotation.html",
        living=living,
        old=old,
        new=new,
        names=await name_creators(visit, [new] if new else []),
        successors=list_successors(old, keys),
        steps=judge_rotation(old, new),
        traffic=judge_traffic(old, visit.now),
    )


async def name_creators(visit: Visit, keys: Iterable[ApiKey]) -> dict[str, str]:
    """Return a dictionary with the email and name of each member who created one of these API keys."""
    return await name_members(visit.team.id, {key.created_by for key in keys if key.created_by})


def _pick(keys: Sequence[ApiKey], client_id: str | None) -> ApiKey | None:
    """Return the key with this client_id; None without a client_id. Raises Problem if the key is unknown."""
    if not client_id:
        return None
    found = next((key for key in keys if key.client_id == client_id), None)
    if found is None:
        raise Problem("not_found")
    return found


class Step(StrEnum):
    """The state of a step in a rotation."""

    DONE = "done"
    NOW = "now"
    LATER = "later"


class Traffic(StrEnum):
    """Whether a key is in use: `BUSY` if it was used within `RECENTLY`, `SILENT` if its last use is older."""

    NEVER = "never"
    BUSY = "busy"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Rotation:
    """The states of a rotation's three steps: create a key, deploy it, and revoke the old key."""

    make: Step
    deploy: Step
    revoke: Step


def judge_rotation(old: ApiKey, new: ApiKey | None) -> Rotation:
    """Return each step's state. The first unfinished step is `NOW`; later unfinished steps are `LATER`."""
    done = [new is not None, new is not None and new.last_used_at is not None, old.revoked_at is not None]
    first = done.index(False) if False in done else len(done)
    return Rotation(
        *(
            Step.DONE if is_done else Step.NOW if place == first else Step.LATER
            for place, is_done in enumerate(done)
        )
    )


def judge_traffic(key: ApiKey, now: datetime) -> Traffic:
    """Return whether a key was used within `RECENTLY` before `now`, only earlier than that, or never."""
    if key.last_used_at is None:
        return Traffic.NEVER
    return Traffic.BUSY if now - key.last_used_at <= RECENTLY else Traffic.SILENT


def name_successor(old_name: str) -> str:
    """Return a name for a key's replacement: the old name, shortened if necessary, with a suffix."""
    return old_name[: MAX_NAME_CHARACTERS - len(_SUFFIX)] + _SUFFIX


def list_successors(old: ApiKey, keys: Sequence[ApiKey]) -> list[ApiKey]:
    """Return the keys that could replace `old`: all other keys that are not revoked, newest first."""
    others = (key for key in keys if key.revoked_at is None and key.id != old.id)
    return sorted(others, key=lambda key: key.created_at, reverse=True)


def find_successor(old: ApiKey, keys: Sequence[ApiKey], chosen: ApiKey | None) -> ApiKey | None:
    """Return the replacement of `old`: the chosen key, or else the newest key named by `name_successor`.

    Returns None if there is no such key, or if the chosen key is revoked or is `old` itself.
    """
    for key in list_successors(old, keys):
        is_namesake = key.name == name_successor(old.name) and key.created_at > old.created_at
        if key.id == chosen.id if chosen else is_namesake:
            return key
    return None


ROUTES = (for_members("/settings/api-keys/rotation", get=show_rotation),)
