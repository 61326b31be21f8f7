"""Settings, API keys, replace a key: three steps without downtime, with the team's own keys."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from monitoring.app.keys.rotation import find_successor, judge_rotation, judge_traffic, list_successors
from monitoring.app.routing import for_members
from monitoring.app.visits import Visit
from monitoring.auth.models import ApiKey
from monitoring.auth.service import list_keys
from monitoring.contract.problems import Problem

NOT_BEGUN = dict.fromkeys(("make", "deploy", "revoke"), "")


async def show_rotation(visit: Visit) -> Response:
    """Show the steps. `?old=` names the key to replace, `?new=` its replacement."""
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
        successors=list_successors(old, keys),
        steps=judge_rotation(old, new),
        traffic=judge_traffic(old, visit.now),
    )


def _pick(keys: Sequence[ApiKey], client_id: str | None) -> ApiKey | None:
    """Return the chosen key; None if none was chosen. Raises Problem if the team has no such key."""
    if not client_id:
        return None
    found = next((key for key in keys if key.client_id == client_id), None)
    if found is None:
        raise Problem("not_found")
    return found


ROUTES = (for_members("/settings/api-keys/rotation", get=show_rotation),)
