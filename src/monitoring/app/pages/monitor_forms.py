"""Creating and changing monitors: one form, judged by the document and the rules of the API."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from http import HTTPStatus
from uuid import uuid4

from starlette.responses import Response

from monitoring.app import monitor_form
from monitoring.app.kept_headers import FIELD, ShownHeaders, put_together, take_apart
from monitoring.app.monitor_form import WHOLE_FORM, Texts
from monitoring.app.monitor_words import ERRORS, GROUPS, INTERVALS, LABELS
from monitoring.app.routing import for_members
from monitoring.app.sentences import REFUSALS
from monitoring.app.visits import Visit, read_form_id
from monitoring.auth.limits import count_request
from monitoring.checks.probes.protocol import Finding
from monitoring.contract.document import Json, published_document
from monitoring.contract.problems import Problem
from monitoring.contract.replies import Reply
from monitoring.idempotency.service import act_once
from monitoring.monitors import service
from monitoring.monitors.configuration import Configuration, configuration_of
from monitoring.monitors.models import Monitor

_VERSION = re.compile(r"[0-9]{1,9}")

# A person can fix these problems in the form; every other one gets an error page.
MENDED_STATUSES = {400, 403, 409, 412, 422}
# Whoever tries too often keeps what was typed.
TRIED_STATUSES = MENDED_STATUSES | {429}


async def show_new_monitor(visit: Visit) -> Response:
    """Ask what to check_state. Every field but the URL shows its default."""
    if form_id := visit.find_form_id():
        return _render_new(visit, monitor_form.write_new_form(), form_id)
    return visit.redirect("/monitors/new", form=str(uuid4()))


async def create_monitor(visit: Visit) -> Response:
    """Create the monitor. The same form sent again leads to the same monitor."""
    form = monitor_form.complete_form(await visit.read_form())
    form_id = str(read_form_id(form.get("form_id", "")))
    if form.get("try"):
        return await _try_new(visit, form, form_id)
    notice = "monitor_created_before"
    try:
        given = monitor_form.read_form(form)

        async def create() -> Reply:
            nonlocal notice
            notice = "monitor_created"
            monitor = await service.create_monitor(visit.team.id, given, by=visit.actor)
            return Reply({"monitor_id": str(monitor.id)}, 201)

        reply = await act_once(visit.team.id, f"app-{form_id}", ("app", "create_monitor", given), create)
    except Problem as problem:
        # The form already made a monitor and says something else now. With a new id it makes another.
        is_spent = problem.name == "idempotency_key_reused"
        errors = {WHOLE_FORM: REFUSALS["form_spent"]} if is_spent else _explain(visit, problem, form)
        next_id = str(uuid4()) if is_spent else form_id
        return _render_new(visit, monitor_form.echo_form(form), next_id, errors, _status_of(visit, problem))
    return visit.redirect(f"/monitors/{reply.json_value()['monitor_id']}", notice=notice)


async def _try_new(visit: Visit, form: Mapping[str, str], form_id: str) -> Response:
    values = monitor_form.echo_form(form)
    try:
        finding = await _try(visit, monitor_form.read_form(form))
    except Problem as problem:
        errors = _explain(visit, problem, form, TRIED_STATUSES)
        return _render_new(visit, values, form_id, errors, _status_of(visit, problem))
    return _render_new(visit, values, form_id, finding=finding)


async def _try_edited(
    visit: Visit, form: Mapping[str, str], monitor: Monitor, saved: Configuration
) -> Response:
    values, version = monitor_form.echo_form(form), _read_version(form)
    try:
        patch = monitor_form.patch_from(monitor_form.read_form(form, saved), saved)
        finding = await _try(visit, patch, monitor)
    except Problem as problem:
        errors = _explain(visit, problem, form, TRIED_STATUSES)
        return await _render_edit(visit, values, version, errors, _status_of(visit, problem))
    return await _render_edit(visit, values, version, finding=finding)


async def _try(visit: Visit, given: Mapping[str, Json], monitor: Monitor | None = None) -> Finding:
    """Check what is typed, within the limit of checks that people and keys of the team ask for."""
    await count_request(visit.request, visit.settings.rate_limit_check_now, str(visit.team.id))
    from monitoring.checks.prober import try_configuration  # noqa: PLC0415 - a client for every protocol

    return await try_configuration(given, monitor)


async def show_edit(visit: Visit) -> Response:
    """Show the form to change a monitor."""
    monitor = await service.get_monitor(visit.team.id, visit.read_id("monitor_id"))
    return await _render_edit(visit, monitor_form.write_form(configuration_of(monitor)), str(monitor.version))


async def change_monitor(visit: Visit) -> Response:
    """Change the monitor. If somebody else did since the form was opened, show both versions instead."""
    form = monitor_form.complete_form(put_together(await visit.read_form()))
    monitor_id, version = visit.read_id("monitor_id"), _read_version(form)
    monitor = await service.get_monitor(visit.team.id, monitor_id)
    saved = configuration_of(monitor)
    if form.get("try"):
        return await _try_edited(visit, form, monitor, saved)
    try:
        patch = monitor_form.patch_from(monitor_form.read_form(form, saved), saved)
        await service.update_monitor(visit.team.id, monitor_id, patch, f'"{version}"', by=visit.actor)
    except Problem as problem:
        errors = _explain(visit, problem, form)
        status = _status_of(visit, problem)
        return await _render_edit(visit, monitor_form.echo_form(form), version, errors, status)
    return visit.redirect(f"/monitors/{monitor_id}", notice="monitor_updated")


def _explain(
    visit: Visit, problem: Problem, form: Mapping[str, str], mended: Collection[int] = MENDED_STATUSES
) -> Texts:
    if _status_of(visit, problem) not in mended:
        raise problem
    return monitor_form.place_problem(problem, visit.catalogue, form)


def _status_of(visit: Visit, problem: Problem) -> int:
    return visit.catalogue.templates[problem.name].status


def _read_version(form: Mapping[str, str]) -> str:
    version = form.get("version", "")
    return version if _VERSION.fullmatch(version) else "0"  # which is never current


def _render_new(
    visit: Visit,
    values: Texts,
    form_id: str,
    errors: Texts | None = None,
    status: int = 200,
    **context: object,
) -> Response:
    headers = ShownHeaders(values[FIELD])
    context |= {"values": values, "headers": headers, "errors": errors or {}, "form_id": form_id}
    if status != HTTPStatus.OK or context.get("finding"):
        context["place"] = visit.locate("/monitors/new", form=form_id)
    return _render(visit, "monitors/new.html", status, **context)


async def _render_edit(
    visit: Visit,
    values: Texts,
    version: str,
    errors: Texts | None = None,
    status: int = 200,
    **context: object,
) -> Response:
    """Show the form. If the monitor has changed meanwhile, show what is saved now beside it.

    Sent again, that form replaces what is saved, because its sender has seen it.
    """
    monitor = await service.get_monitor(visit.team.id, visit.read_id("monitor_id"))
    others: Texts = {}
    if status == HTTPStatus.PRECONDITION_FAILED:
        saved = monitor_form.write_form(configuration_of(monitor))
        others = {name: text for name, text in saved.items() if text != values[name]}
        version = str(monitor.version)
    return _render(
        visit,
        "monitors/edit.html",
        status,
        monitor=monitor,
        headers=take_apart(values[FIELD], configuration_of(monitor)[FIELD]),
        values=values,
        errors=errors or {},
        version=version,
        others=others,
        **context,
    )


def _render(visit: Visit, template: str, status: int, **context: object) -> Response:
    methods = published_document().root["components"]["schemas"]["HttpMethod"]["enum"]
    return visit.render(
        template,
        status,
        labels=LABELS,
        hints=monitor_form.write_hints(),
        groups=GROUPS,
        defaults=monitor_form.write_new_form(),
        methods=[(method, method) for method in methods],
        intervals=[*((str(seconds), words) for seconds, words in INTERVALS.items()), ("", "other")],
        error_words=ERRORS,
        whole_form=WHOLE_FORM,
        is_kept=status != HTTPStatus.OK or "finding" in context,
        **{"finding": None} | context,
    )


ROUTES = (
    for_members("/monitors/new", get=show_new_monitor, post=create_monitor),
    for_members("/monitors/{monitor_id}/edit", get=show_edit, post=change_monitor),
)
