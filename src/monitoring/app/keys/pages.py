"""The settings pages that list, create and revoke API keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from starlette.responses import Response

from monitoring.app.forms import CreateForm, InvalidForm
from monitoring.app.keys import rotation
from monitoring.app.keys.rotation import judge_traffic, name_creators, name_successor
from monitoring.app.routing import for_members, for_owners
from monitoring.app.sentences import REFUSALS
from monitoring.app.visits import Form, Visit
from monitoring.auth import service
from monitoring.auth.models import ApiKey
from monitoring.auth.names import is_name
from monitoring.auth.scopes import SCOPES
from monitoring.contract.problems import Problem

LIST = "/settings/api-keys"

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
        "Read articles and their translations, if the operator of the service allows it for your team.",
    ),
    "articles:write": (
        "Correct translations",
        "Correct translations segment by segment, if the operator of the service allows it for your team.",
    ),
}
"""A title and a sentence for each scope, which say what it allows."""


@dataclass(frozen=True, slots=True)
class KeyForm:
    """The submitted values of a new key's form. `old` is the client_id of the key to replace, or empty."""

    name: str
    scopes: Sequence[str]
    old: str

    @property
    def scopes_in_order(self) -> list[str]:
        """The chosen scopes in the order of `SCOPES`, without duplicates."""
        return [scope for scope in SCOPES if scope in self.scopes]

    def find_errors(self) -> dict[str, str]:
        """Return the errors by field."""
        errors = {}
        if not is_name(self.name.strip()):
            errors["name"] = REFUSALS["name_invalid"]
        if not self.scopes:
            errors["scopes"] = REFUSALS["scope_missing"]
        elif set(self.scopes) - set(SCOPES):
            errors["scopes"] = REFUSALS["scope_unknown"]
        return errors


async def show_settings(visit: Visit) -> Response:
    """Redirect to the first page of the settings."""
    return visit.redirect(LIST)


async def show_keys(visit: Visit) -> Response:
    """List the team's keys, newest first, without secrets."""
    keys = sorted(await service.list_keys(visit.team.id), key=lambda key: key.created_at, reverse=True)
    return visit.render(
        "keys/list.html",
        names=await name_creators(visit, keys),
        living=[key for key in keys if key.revoked_at is None],
        revoked=[key for key in keys if key.revoked_at],
    )


class KeyForms(CreateForm[KeyForm]):
    """The form of a new key. Keys cannot be changed.

    The form's id becomes the key's id, so a resubmitted form creates no second key.
    """

    path = f"{LIST}/new"
    new_template = "keys/new.html"

    async def blank(self, visit: Visit) -> KeyForm:
        """Return a form with only the first scope selected.

        If the query's `old` names a key to replace, return a form with the scopes of the old key, and a name
        derived from the old name.
        """
        client_id = visit.query.get("old", "")
        if not client_id:
            return KeyForm("", [SCOPES[0]], "")
        old = await find_key_of(visit, client_id)
        return KeyForm(name_successor(old.name), old.scopes, client_id)

    def echo(self, form: Form) -> KeyForm:
        """Return the submitted values."""
        return KeyForm(form.get("name", ""), form.getlist("scopes"), form.get("old", ""))

    async def make(self, visit: Visit, typed: KeyForm, form_id: UUID) -> Response:
        """Create the key. Its secret is shown once, on a page that no browser or proxy may store."""
        if errors := typed.find_errors():
            raise InvalidForm(errors)
        if typed.old:
            await find_key_of(visit, typed.old)
        try:
            created = await service.create_key(
                visit.team, typed.name.strip(), typed.scopes_in_order, by=visit.actor, key_id=form_id
            )
        except service.KeyExistsError:
            return await self._show_created_before(visit, form_id, typed.old)
        return visit.render(
            "keys/created.html",
            key=created.key,
            client_secret=created.client_secret,
            old=typed.old,
            place=visit.locate(LIST),
        )

    async def context(self, _visit: Visit, _typed: KeyForm) -> dict[str, object]:
        """Return the scopes' labels for the template."""
        return {"scope_words": SCOPE_WORDS}

    async def explain(self, _visit: Visit, problem: Problem, _typed: KeyForm) -> dict[str, str]:
        """Raise the problem. It concerns no field, because the API has no operation that creates keys."""
        raise problem

    def query(self, _: Visit, typed: KeyForm) -> dict[str, str]:
        """Return the query parameter with the client_id of the key to replace."""
        return {"old": typed.old}

    @staticmethod
    async def _show_created_before(visit: Visit, key_id: UUID, old: str) -> Response:
        """Show the key that an earlier submission of the form created, without its secret.

        Raises Problem if the key belongs to another team.
        """
        keys = await service.list_keys(visit.team.id)
        key = next((key for key in keys if key.id == key_id), None)
        if key is None:
            raise Problem("malformed_request")  # another team's key has this id, so the form was forged
        return visit.render("keys/created_before.html", 409, key=key, old=old)


async def ask_to_revoke(visit: Visit) -> Response:
    """Ask for confirmation before revoking a key. Show the consequences, and whether the key is in use."""
    return await _render_revocation(visit, await find_key_of(visit, visit.path_params["client_id"]))


async def revoke_key(visit: Visit) -> Response:
    """Revoke the key. If the confirmation box is not ticked, show the page again with an error."""
    key = await find_key_of(visit, visit.path_params["client_id"])
    form = await visit.read_form()
    if form.get("understood") != "on":
        return await _render_revocation(visit, key, REFUSALS["revocation_not_confirmed"])
    await service.revoke_key(key.client_id, team_id=visit.team.id, by=visit.actor)
    if new := form.get("new"):  # the key was revoked in a rotation, so show the rotation's last step
        path = "/settings/api-keys/rotation"
        return visit.redirect(path, old=key.client_id, new=new, notice="api_key_revoked")
    return visit.redirect(LIST, notice="api_key_revoked")


async def find_key_of(visit: Visit, client_id: str) -> ApiKey:
    """Return the team's key with this client_id. Raises Problem if the team has none."""
    key = await service.find_key(client_id, visit.team.id)
    if key is None:
        raise Problem("not_found")
    return key


async def _render_revocation(visit: Visit, key: ApiKey, error: str = "") -> Response:
    keys = await service.list_keys(visit.team.id)
    return visit.render(
        "keys/revoke.html",
        400 if error else 200,
        names=await name_creators(visit, [key]),
        key=key,
        traffic=judge_traffic(key, visit.now),
        new=visit.query.get("new", ""),
        is_last=not any(other.revoked_at is None for other in keys if other.id != key.id),
        error=error,
    )


FORMS = KeyForms()

ROUTES = (
    for_members("/settings", get=show_settings),
    *rotation.ROUTES,
    for_members(LIST, get=show_keys),
    for_owners(FORMS.path, get=FORMS.show_new, post=FORMS.create),
    for_owners(f"{LIST}/{{client_id}}/revoke", get=ask_to_revoke, post=revoke_key),
)
