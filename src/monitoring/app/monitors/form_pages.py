"""The pages that create and change monitors. They share one form, validated by the API's schema and rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from monitoring.app.form_fields import WHOLE_FORM
from monitoring.app.forms import FIXABLE_STATUSES, NO_FAULTS, EditForm, Faults, create_once
from monitoring.app.monitors import form as monitor_form
from monitoring.app.monitors.form import Texts
from monitoring.app.monitors.kept_headers import (
    FIELD,
    SECRETS,
    ShownHeaders,
    mask_kept_secrets,
    put_together,
    take_apart,
)
from monitoring.app.monitors.labels import ERRORS, INTERVALS
from monitoring.app.monitors.type_forms import TYPE_FORMS
from monitoring.app.routing import for_members
from monitoring.app.visits import Form, Visit
from monitoring.auth.limits import count_request
from monitoring.backends.encryption import MASK
from monitoring.checks.probes.protocol import Finding
from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.monitors import service
from monitoring.monitors.configuration import configuration_of
from monitoring.monitors.contracts.preparing import prepare_contract
from monitoring.monitors.models import Monitor

_VERSION = re.compile(r"[0-9]{1,9}")


class MonitorForms(EditForm[Texts, Monitor]):
    """The form for a monitor. Its *Test now* button runs a check and shows the result, but saves nothing."""

    path = "/monitors/new"
    new_template = "monitors/new.html"
    edit_template = "monitors/edit.html"
    fixable = FIXABLE_STATUSES | {HTTPStatus.TOO_MANY_REQUESTS}  # tests have a rate limit
    spent = "monitor_form_spent"

    async def blank(self, visit: Visit) -> Texts:
        """Return a form with the defaults of the query's type, or of `http` if it has no known type."""
        wanted = visit.query.get("type", "")
        return monitor_form.write_new_form(wanted if wanted in TYPE_FORMS else "http")

    def query(self, _: Visit, typed: Texts) -> Mapping[str, str]:
        """Return the query parameter that names the type. The default type, `http`, needs no parameter."""
        return {} if typed["type"] == "http" else {"type": typed["type"]}

    def echo(self, form: Form) -> Texts:
        """Return the submitted texts, completed by `complete_form`. Raises Problem for an unknown type."""
        return monitor_form.echo_form(monitor_form.complete_form(form))

    def echo_edit(self, form: Form, row: Monitor) -> Texts:
        """Return the submitted texts, with masks for credentials that are kept, and the type of `row`."""
        kept = {**put_together(form), **mask_kept_secrets(form), "type": row.type}
        return monitor_form.echo_form(monitor_form.complete_form(kept))

    async def make(self, visit: Visit, typed: Texts, form_id: UUID) -> Response:
        """Create the monitor. If *Test now* was pressed, only test it."""
        given = monitor_form.read_form(typed)
        if (await visit.read_form()).get("try"):
            finding = await _try(visit, given)
            return await self.render_new(visit, typed, form_id, finding=finding, is_kept=True)

        prepared = await prepare_contract(visit.team.id, given)

        async def create() -> UUID:
            return (await service.create_monitor(visit.team.id, prepared, by=visit.actor)).id

        created = await create_once(visit, form_id, ("create_monitor", given), create)
        notice = "monitor_created" if created.is_new else "monitor_created_before"
        return visit.redirect(f"/monitors/{created.id}", notice=notice)

    async def find(self, visit: Visit) -> Monitor:
        """Return the monitor that the URL names. Raises Problem if it does not exist."""
        return await service.get_monitor(visit.team.id, visit.read_id("monitor_id"))

    def write(self, row: Monitor) -> Texts:
        """Return the texts of a monitor's form."""
        return monitor_form.write_form(configuration_of(row))

    async def save(self, visit: Visit, row: Monitor, typed: Texts) -> Response:
        """Change the monitor. If *Test now* was pressed, only test it.

        Raises Problem if the monitor has been changed since the form was shown.
        """
        form, saved = await visit.read_form(), configuration_of(row)
        patch = monitor_form.patch_from(monitor_form.read_form(typed, saved), saved)
        if form.get("try"):
            finding = await _try(visit, patch, row)
            return await self.render_edit(visit, row, typed, finding=finding, is_kept=True)
        version = f'"{_read_version(form)}"'
        prepared = await prepare_contract(visit.team.id, patch, row)
        await service.update_monitor(visit.team.id, row.id, prepared, version, by=visit.actor)
        return visit.redirect(f"/monitors/{row.id}", notice="monitor_updated")

    async def explain(self, visit: Visit, problem: Problem, typed: Texts) -> Texts:
        """Return the problem's messages by field."""
        return monitor_form.place_problem(problem, visit.catalogue, typed)

    async def context(self, _: Visit, typed: Texts) -> dict[str, object]:
        """Return the templates' variables, such as the labels, hints and options of the fields."""
        monitor_type = typed["type"]
        return {
            "types": TYPE_FORMS,
            "type_form": TYPE_FORMS[monitor_type],
            "labels": monitor_form.labels_of(monitor_type),
            "hints": monitor_form.write_hints(monitor_type),
            "kinds": monitor_form.kinds_of(monitor_type),
            "many_lines": monitor_form.MANY_LINES,
            "choices": monitor_form.choices_of(monitor_type),
            "defaults": monitor_form.write_new_form(monitor_type),
            "intervals": [*((str(seconds), words) for seconds, words in INTERVALS.items()), ("", "other")],
            "headers": ShownHeaders(typed.get(FIELD, "")),
            "kept_secrets": (),
            "mask": MASK,
            "error_words": ERRORS,
            "whole_form": WHOLE_FORM,
            "finding": None,
        }

    async def render_edit(
        self, visit: Visit, row: Monitor, typed: Texts, faults: Faults = NO_FAULTS, **context: object
    ) -> Response:
        """Render the form. After a version conflict, also show the saved values that differ from the form's.

        Resubmitting the form then overwrites these saved values, because the user has seen them.
        """
        version = str(row.version)
        if visit.is_form:
            row = await self.find(visit)
            version = _read_version(await visit.read_form())
        others: Texts = {}
        if faults.status == HTTPStatus.PRECONDITION_FAILED:
            others = {name: text for name, text in self.write(row).items() if text != typed[name]}
            version = str(row.version)
        saved = configuration_of(row)
        headers = take_apart(typed.get(FIELD, ""), saved[FIELD])
        context |= {
            "headers": headers,
            "kept_secrets": [name for name in SECRETS if monitor_form.flatten(saved).get(name) == MASK],
            "version": version,
            "others": others,
        }
        return await super().render_edit(visit, row, typed, faults, **context)


async def _try(visit: Visit, given: Mapping[str, Json], monitor: Monitor | None = None) -> Finding:
    """Check an unsaved configuration. The check counts against the team's rate limit for requested checks."""
    await count_request(visit.request, visit.settings.rate_limit_check_now, str(visit.team.id))
    from monitoring.checks.prober import try_configuration  # noqa: PLC0415 - imports clients of all protocols

    return await try_configuration(visit.team.id, given, monitor)


def _read_version(form: Form) -> str:
    version = form.get("version", "")
    return version if _VERSION.fullmatch(version) else "0"  # a version that is never current


FORMS = MonitorForms()

ROUTES = (
    for_members(FORMS.path, get=FORMS.show_new, post=FORMS.create),
    for_members("/monitors/{monitor_id}/edit", get=FORMS.show_edit, post=FORMS.change),
)
