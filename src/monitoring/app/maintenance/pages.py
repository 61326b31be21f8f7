"""Settings, maintenance: the windows of a team, a new one, ending, changing and deleting one."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID, uuid4

from starlette.responses import Response

from monitoring.app.channels.routing_form import with_present
from monitoring.app.live.fingerprints import Shown, Source
from monitoring.app.live.following import live
from monitoring.app.maintenance import form as maintenance_form
from monitoring.app.maintenance.form import WHOLE_FORM, Texts, Typed
from monitoring.app.maintenance.labels import DURATIONS, LABELS, RULES, describe_recurrence
from monitoring.app.monitors.choices import offer_monitors, read_ids
from monitoring.app.monitors.form_pages import MENDED_STATUSES
from monitoring.app.routing import for_members
from monitoring.app.sentences import REFUSALS
from monitoring.app.visits import Visit, read_form_id
from monitoring.app.zones import UTC_ZONE
from monitoring.contract.problems import Problem
from monitoring.idempotency.service import act_once
from monitoring.monitors.maintenance import service
from monitoring.monitors.maintenance.covering import next_start_of, occurrence_of
from monitoring.monitors.maintenance.models import MaintenanceWindow
from monitoring.monitors.service import name_monitors
from monitoring.web.replies import Reply

LIST = "/settings/maintenance"

# Most teams have few windows, and those that are over are deleted after a month.
WINDOWS_SHOWN = 200


class Listed(NamedTuple):
    """A window as the list shows it. `names` are those of its monitors that still exist."""

    window: MaintenanceWindow
    active_until: datetime | None
    next_starts_at: datetime | None
    recurrence: str
    names: list[str]


async def show_windows(visit: Visit) -> Response:
    """List the team's windows: those that are active, those to come, and those that are over."""
    page = await service.list_windows(visit.team.id, WINDOWS_SHOWN, None)
    ids = {UUID(each) for window in page.rows for each in window.monitor_ids}
    names = await name_monitors(visit.team.id, ids)
    shown = [_describe(window, visit.now, names) for window in page.rows]
    active = [each for each in shown if each.active_until]
    coming = [each for each in shown if each.next_starts_at and not each.active_until]
    return visit.render(
        "maintenance/list.html",
        active=active,
        coming=sorted(coming, key=lambda each: (each.next_starts_at, each.window.id)),
        past=[each for each in shown if not each.active_until and not each.next_starts_at],
    )


async def show_new_window(visit: Visit) -> Response:
    """Ask when and for what. `?monitor=` ticks a monitor, to whose page the form leads back."""
    form_id = visit.find_form_id()
    monitor_id = visit.query.get("monitor", "")
    if form_id is None:
        return visit.redirect(f"{LIST}/new", monitor=monitor_id, form=str(uuid4()))
    time_zone = visit.zone.key
    if visit.zone == UTC_ZONE:  # or the browser told none
        page = await service.list_windows(visit.team.id, 1, None)
        time_zone = page.rows[0].time_zone if page.rows else time_zone
    typed = maintenance_form.write_new_form(time_zone, [monitor_id] if monitor_id else [])
    return await _render_new(visit, typed, form_id)


async def create_window(visit: Visit) -> Response:
    """Create the window. The same form sent again creates no second one."""
    form = await visit.read_form()
    form_id = str(read_form_id(form.get("form_id", "")))
    typed = maintenance_form.echo_form(form, form.getlist("monitor_ids"))
    notice = "maintenance_created_before"
    try:
        given = maintenance_form.read_form(typed, visit.now)

        async def create() -> Reply:
            nonlocal notice
            notice = "maintenance_created"
            window = await service.create_window(visit.team.id, given, by=visit.actor)
            return Reply({"window_id": str(window.id)}, 201)

        # What was typed, and not what it means: "until 14:00" is shorter when the form is sent again.
        request = ("app", "create_maintenance_window", typed.texts, list(typed.monitor_ids))
        await act_once(visit.team.id, f"app-{form_id}", request, create)
    except Problem as problem:
        is_spent = problem.name == "idempotency_key_reused"
        errors = (
            {WHOLE_FORM: REFUSALS["maintenance_form_spent"]} if is_spent else _explain(visit, problem, typed)
        )
        next_id = str(uuid4()) if is_spent else form_id
        return await _render_new(visit, typed, next_id, errors, _status_of(visit, problem))
    begun_from = await _find_begun_from(visit)
    return visit.redirect(f"/monitors/{begun_from}" if begun_from else LIST, notice=notice)


async def show_window(visit: Visit) -> Response:
    """Show the form to change a window."""
    window = await _get_window(visit)
    return await _render_edit(visit, window, maintenance_form.write_form(window))


async def change_window(visit: Visit) -> Response:
    """Change the window as the form says."""
    form, window = await visit.read_form(), await _get_window(visit)
    typed = maintenance_form.echo_form(form, form.getlist("monitor_ids"))
    try:
        patch = maintenance_form.patch_from(maintenance_form.read_form(typed, visit.now, window))
        await service.update_window(visit.team.id, window.id, patch, by=visit.actor)
    except Problem as problem:
        errors = _explain(visit, problem, typed)
        return await _render_edit(visit, window, typed, errors, _status_of(visit, problem))
    return visit.redirect(LIST, notice="maintenance_updated")


async def end_window(visit: Visit) -> Response:
    """End what is under way. Ending it twice changes nothing more."""
    await service.end_window(visit.team.id, visit.read_id("window_id"), by=visit.actor)
    return visit.redirect(LIST, notice="maintenance_ended")


async def ask_to_delete(visit: Visit) -> Response:
    """Ask before deleting."""
    window = await _get_window(visit)
    return visit.render(
        "maintenance/delete.html", window=window, is_active=service.is_active(window, visit.now)
    )


async def delete_window(visit: Visit) -> Response:
    """Delete the window for good."""
    await service.delete_window(visit.team.id, visit.read_id("window_id"), by=visit.actor)
    return visit.redirect(LIST, notice="maintenance_deleted")


async def _find_begun_from(visit: Visit) -> str | None:
    """Return the id of the monitor on whose page the form was opened, if the team has it."""
    found = await name_monitors(visit.team.id, read_ids([visit.query.get("monitor", "")]))
    return next(map(str, found), None)


async def _get_window(visit: Visit) -> MaintenanceWindow:
    return await service.get_window(visit.team.id, visit.read_id("window_id"))


def _describe(window: MaintenanceWindow, now: datetime, names: dict[UUID, str]) -> Listed:
    occurrence = occurrence_of(window, now)
    return Listed(
        window,
        occurrence.ends_at if occurrence and occurrence.starts_at <= now else None,
        next_start_of(window, now),
        describe_recurrence(window),
        sorted(names[UUID(each)] for each in window.monitor_ids if UUID(each) in names),
    )


def _explain(visit: Visit, problem: Problem, typed: Typed) -> Texts:
    if _status_of(visit, problem) not in MENDED_STATUSES:
        raise problem
    return maintenance_form.place_problem(problem, visit.catalogue, typed)


def _status_of(visit: Visit, problem: Problem) -> int:
    return visit.catalogue.templates[problem.name].status


async def _render_new(
    visit: Visit, typed: Typed, form_id: str, errors: Texts | None = None, status: int = 200
) -> Response:
    begun_from = await _find_begun_from(visit)
    context: dict[str, object] = {"form_id": form_id, "begun_from": begun_from}
    if errors:
        context["place"] = visit.locate(f"{LIST}/new", monitor=begun_from, form=form_id)
    return await _render(visit, "maintenance/new.html", status, typed, errors, **context)


async def _render_edit(
    visit: Visit,
    window: MaintenanceWindow,
    typed: Typed,
    errors: Texts | None = None,
    status: int = 200,
) -> Response:
    return await _render(visit, "maintenance/edit.html", status, typed, errors, window=window)


async def _render(
    visit: Visit, template: str, status: int, typed: Typed, errors: Texts | None, **context: object
) -> Response:
    rule = typed.texts["recurrence"]
    rules = [*RULES.items(), *([] if rule in RULES else [(rule, f"as {rule} says")])]
    return visit.render(
        template,
        status,
        values=typed.texts,
        offered=await offer_monitors(visit.team.id, typed.monitor_ids),
        errors=errors or {},
        labels=LABELS,
        durations=with_present(DURATIONS, typed.texts["duration_seconds"]),
        rules=rules,
        time_zones=maintenance_form.list_time_zones(),
        **context,
    )


async def _name_sources(visit: Visit) -> list[Shown]:
    return [Shown(Source.WINDOWS, visit.team.id)]


ROUTES = (
    for_members(LIST, get=live(_name_sources, show_windows)),
    for_members(f"{LIST}/new", get=show_new_window, post=create_window),
    for_members(f"{LIST}/{{window_id}}", get=show_window, post=change_window),
    for_members(f"{LIST}/{{window_id}}/end", post=end_window),
    for_members(f"{LIST}/{{window_id}}/delete", get=ask_to_delete, post=delete_window),
)
