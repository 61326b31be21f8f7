"""The settings pages that list, create, end, change and delete maintenance windows."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from starlette.responses import Response

from monitoring.app.form_fields import include_present
from monitoring.app.forms import EditForm, create_once
from monitoring.app.live.fingerprints import Shown, Source
from monitoring.app.live.following import live
from monitoring.app.maintenance import form as maintenance_form
from monitoring.app.maintenance.form import Texts, Typed
from monitoring.app.maintenance.labels import DURATIONS, LABELS, RULES, describe_recurrence, name_rule
from monitoring.app.monitors.choices import list_monitor_choices, read_ids
from monitoring.app.routing import for_members
from monitoring.app.visits import Form, Visit
from monitoring.app.zones import UTC_ZONE
from monitoring.contract.problems import Problem
from monitoring.monitors.maintenance import service
from monitoring.monitors.maintenance.covering import next_start_of, occurrence_of
from monitoring.monitors.maintenance.models import MaintenanceWindow
from monitoring.monitors.service import name_monitors

LIST = "/settings/maintenance"

# The list is not paged, because most teams have few windows, and past ones are deleted after a month.
WINDOWS_SHOWN = 200


class Listed(NamedTuple):
    """A window in the list. `names` are the names of its monitors that still exist."""

    window: MaintenanceWindow
    active_until: datetime | None
    next_starts_at: datetime | None
    recurrence: str
    names: list[str]


async def show_windows(visit: Visit) -> Response:
    """List the team's active, upcoming and past windows."""
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


class WindowForms(EditForm[Typed, MaintenanceWindow]):
    """The form for a maintenance window.

    If the query's `monitor` names a monitor, a new form has this monitor ticked, and creating the window
    redirects to the monitor's page.
    """

    path = f"{LIST}/new"
    new_template = "maintenance/new.html"
    edit_template = "maintenance/edit.html"
    spent = "maintenance_form_spent"

    async def blank(self, visit: Visit) -> Typed:
        """Return a form for half an hour of maintenance from now, in the user's time zone.

        If the user's time zone is UTC, the form has the newest window's time zone instead.
        """
        time_zone = visit.zone.key
        if visit.zone == UTC_ZONE:  # this may mean that the browser sent no time zone
            page = await service.list_windows(visit.team.id, 1, None)
            time_zone = page.rows[0].time_zone if page.rows else time_zone
        monitor_id = visit.query.get("monitor")
        return maintenance_form.write_new_form(time_zone, [monitor_id] if monitor_id else [])

    def echo(self, form: Form) -> Typed:
        """Return the submitted values."""
        return maintenance_form.echo_form(form, form.getlist("monitor_ids"))

    async def make(self, visit: Visit, typed: Typed, form_id: UUID) -> Response:
        """Create the window."""
        given = maintenance_form.read_form(typed, visit.now)

        async def create() -> UUID:
            return (await service.create_window(visit.team.id, given, by=visit.actor)).id

        # A resubmitted form is recognised by its typed text, because `given` depends on the current time. For
        # example, "until 14:00" gives a shorter window when the form is resubmitted.
        request = ("create_maintenance_window", typed.texts, list(typed.monitor_ids))
        created = await create_once(visit, form_id, request, create)
        origin_id = await _find_origin(visit)
        notice = "maintenance_created" if created.is_new else "maintenance_created_before"
        return visit.redirect(f"/monitors/{origin_id}" if origin_id else LIST, notice=notice)

    async def find(self, visit: Visit) -> MaintenanceWindow:
        """Return the window that the URL names. Raises Problem if it does not exist."""
        return await _get_window(visit)

    def write(self, row: MaintenanceWindow) -> Typed:
        """Return the values of a saved window's form."""
        return maintenance_form.write_form(row)

    async def save(self, visit: Visit, row: MaintenanceWindow, typed: Typed) -> Response:
        """Change the window."""
        patch = maintenance_form.patch_from(maintenance_form.read_form(typed, visit.now, row))
        await service.update_window(visit.team.id, row.id, patch, by=visit.actor)
        return visit.redirect(LIST, notice="maintenance_updated")

    async def explain(self, visit: Visit, problem: Problem, typed: Typed) -> Texts:
        """Return the problem's messages by field."""
        return maintenance_form.place_problem(problem, visit.catalogue, typed)

    async def context(self, visit: Visit, typed: Typed) -> dict[str, object]:
        """Return the fields' labels and options, and the monitor from whose page the form was opened."""
        rule = typed.texts["recurrence"]
        others = [] if rule in RULES else [(rule, name_rule(rule, typed.texts["starts_at"]))]
        return {
            "labels": LABELS,
            "offered": await list_monitor_choices(visit.team.id, typed.monitor_ids),
            "durations": include_present(DURATIONS, typed.texts["duration_seconds"]),
            "rules": [*RULES.items(), *others],
            "time_zones": maintenance_form.list_time_zones(),
            "origin_id": await _find_origin(visit),
        }

    def query(self, visit: Visit, _: Typed) -> dict[str, str]:
        """Return the query parameter that names the monitor from whose page the form was opened."""
        return {"monitor": visit.query.get("monitor", "")}


async def end_window(visit: Visit) -> Response:
    """End the window's current maintenance. Ending it again changes nothing."""
    await service.end_window(visit.team.id, visit.read_id("window_id"), by=visit.actor)
    return visit.redirect(LIST, notice="maintenance_ended")


async def ask_to_delete(visit: Visit) -> Response:
    """Ask for confirmation before deleting a window."""
    window = await _get_window(visit)
    return visit.render(
        "maintenance/delete.html", window=window, is_active=service.is_active(window, visit.now)
    )


async def delete_window(visit: Visit) -> Response:
    """Delete the window for good."""
    await service.delete_window(visit.team.id, visit.read_id("window_id"), by=visit.actor)
    return visit.redirect(LIST, notice="maintenance_deleted")


async def _find_origin(visit: Visit) -> str | None:
    """Return the id of the query's monitor, from whose page the form was opened.

    Returns None if the team has no such monitor.
    """
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


async def _name_sources(visit: Visit) -> list[Shown]:
    return [Shown(Source.WINDOWS, visit.team.id)]


FORMS = WindowForms()

ROUTES = (
    for_members(LIST, get=live(_name_sources, show_windows)),
    for_members(FORMS.path, get=FORMS.show_new, post=FORMS.create),
    for_members(f"{LIST}/{{window_id}}", get=FORMS.show_edit, post=FORMS.change),
    for_members(f"{LIST}/{{window_id}}/end", post=end_window),
    for_members(f"{LIST}/{{window_id}}/delete", get=ask_to_delete, post=delete_window),
)
