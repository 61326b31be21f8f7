"""Settings, API keys: the list, a new key, and revoking one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from starlette.responses import Response

from monitoring.app.keys import rotation
from monitoring.app.keys.rotation import judge_traffic, name_successor
from monitoring.app.routing import for_members, for_owners
from monitoring.app.sentences import REFUSALS
from monitoring.app.visits import Visit, read_form_id
from monitoring.auth import service
from monitoring.auth.models import ApiKey
from monitoring.auth.names import is_name
from monitoring.auth.scopes import SCOPES
from monitoring.backends.fields import uuid7
from monitoring.contract.problems import Problem

SCOPE_WORDS = {
    "monitors:read": (
        "Read",
        "See monitors, their checks, uptime and incidents, and notification channels with their deliveries.",
    ),
    "monitors:write": (
        "Change",
        "Create, change, pause, check and delete monitors and notification channels.",
    ),
    "articles:read": (
        "Read articles",
        "Read articles and their translations, if whoever runs the service lets your team.",
    ),
    "articles:write": (
        "Correct translations",
        "Correct translations segment by segment, if whoever runs the service lets your team.",
    ),
}
"""What each scope allows, in words: a title and a sentence."""


@dataclass(frozen=True, slots=True)
class KeyForm:
    """What was typed. `form_id` will be the key's id; `old` is the client_id of the key it replaces."""

    form_id: str
    name: str
    scopes: Sequence[str]
    old: str

    @property
    def scopes_in_order(self) -> list[str]:
        """The scopes in their usual order, without repetitions."""
        return [scope for scope in SCOPES if scope in self.scopes]

    def judge(self) -> dict[str, str]:
        """Return what is wrong, by field."""
        errors = {}
        if not is_name(self.name.strip()):
            errors["name"] = REFUSALS["name_invalid"]
        if not self.scopes:
            errors["scopes"] = REFUSALS["scope_missing"]
        elif set(self.scopes) - set(SCOPES):
            errors["scopes"] = REFUSALS["scope_unknown"]
        return errors


async def show_settings(visit: Visit) -> Response:
    """Show the first page of the settings."""
    return visit.redirect("/settings/api-keys")


async def show_keys(visit: Visit) -> Response:
    """List the team's keys, newest first, and never a secret."""
    keys = sorted(await service.list_keys(visit.team.id), key=lambda key: key.created_at, reverse=True)
    return visit.render(
        "keys/list.html",
        living=[key for key in keys if key.revoked_at is None],
        revoked=[key for key in keys if key.revoked_at],
    )


async def show_new_key(visit: Visit) -> Response:
    """Ask for a name and scopes; `?old=client_id` proposes those of the key to replace."""
    client_id = visit.query.get("old", "")
    form_id = visit.find_form_id()
    if form_id is None:
        return visit.redirect("/settings/api-keys/new", old=client_id, form=str(uuid7()))
    old = await find_key_of(visit, client_id) if client_id else None
    # The form carries the id of the key it makes, so that sending it again makes no second key.
    form = KeyForm(
        form_id=form_id,
        name=name_successor(old.name) if old else "",
        scopes=old.scopes if old else [SCOPES[0]],
        old=client_id,
    )
    return _render_form(visit, form)


async def create_key(visit: Visit) -> Response:
    """Create the key and show its secret, only on this page, which no browser or proxy may keep."""
    sent = await visit.read_form()
    form = KeyForm(sent.get("form_id", ""), sent.get("name", ""), sent.getlist("scopes"), sent.get("old", ""))
    if errors := form.judge():
        return _render_form(visit, form, errors)
    key_id, old = read_form_id(form.form_id), form.old
    if old:
        await find_key_of(visit, old)
    try:
        created = await service.create_key(
            visit.team, form.name.strip(), form.scopes_in_order, by=visit.actor, key_id=key_id
        )
    except service.KeyExistsError:
        return await _show_created_before(visit, key_id, old)
    return visit.render(
        "keys/created.html",
        key=created.key,
        client_secret=created.client_secret,
        old=old,
        place=visit.locate("/settings/api-keys"),
    )


async def ask_to_revoke(visit: Visit) -> Response:
    """Ask before revoking a key. Say what revoking does and whether the key is still in use."""
    return await _render_revocation(visit, await find_key_of(visit, visit.path_params["client_id"]))


async def revoke_key(visit: Visit) -> Response:
    """Revoke the key, provided the box is ticked."""
    key = await find_key_of(visit, visit.path_params["client_id"])
    form = await visit.read_form()
    if form.get("understood") != "on":
        return await _render_revocation(visit, key, REFUSALS["revocation_not_confirmed"])
    await service.revoke_key(key.client_id, team_id=visit.team.id, by=visit.actor)
    if new := form.get("new"):  # the form was part of a rotation: show its end
        path = "/settings/api-keys/rotation"
        return visit.redirect(path, old=key.client_id, new=new, notice="api_key_revoked")
    return visit.redirect("/settings/api-keys", notice="api_key_revoked")


async def find_key_of(visit: Visit, client_id: str) -> ApiKey:
    """Return the team's key with this client_id. Raises Problem if it has none, even if another team does."""
    key = await service.find_key(client_id, visit.team.id)
    if key is None:
        raise Problem("not_found")
    return key


def _render_form(visit: Visit, form: KeyForm, errors: dict[str, str] | None = None) -> Response:
    context: dict[str, object] = {"asked": form, "errors": errors or {}, "scope_words": SCOPE_WORDS}
    if errors:
        context["place"] = visit.locate("/settings/api-keys/new", old=form.old, form=form.form_id)
    return visit.render("keys/new.html", 400 if errors else 200, **context)


async def _render_revocation(visit: Visit, key: ApiKey, error: str = "") -> Response:
    keys = await service.list_keys(visit.team.id)
    return visit.render(
        "keys/revoke.html",
        400 if error else 200,
        key=key,
        traffic=judge_traffic(key, visit.now),
        new=visit.query.get("new", ""),
        is_last=not any(other.revoked_at is None for other in keys if other.id != key.id),
        error=error,
    )


async def _show_created_before(visit: Visit, key_id: UUID, old: str) -> Response:
    """Answer a form that was sent before."""
    keys = await service.list_keys(visit.team.id)
    key = next((key for key in keys if key.id == key_id), None)
    if key is None:
        raise Problem("malformed_request")  # none of our forms carries the id of another team's key
    return visit.render("keys/created_before.html", 409, key=key, old=old)


ROUTES = (
    for_members("/settings", get=show_settings),
    *rotation.ROUTES,
    for_members("/settings/api-keys", get=show_keys),
    for_owners("/settings/api-keys/new", get=show_new_key, post=create_key),
    for_owners("/settings/api-keys/{client_id}/revoke", get=ask_to_revoke, post=revoke_key),
)
