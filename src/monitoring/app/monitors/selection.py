"""Bulk actions on the monitors selected in the list: pause, resume, mute, tag, delete, undo deletion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from uuid import UUID

from starlette.datastructures import QueryParams
from starlette.responses import Response

from monitoring.app.monitors.list_filter import read_filter
from monitoring.app.monitors.list_page import RefusedAct, show_list
from monitoring.app.monitors.list_view import read_view
from monitoring.app.monitors.mute_lengths import mute_end
from monitoring.app.routing import for_members
from monitoring.app.sentences import REFUSALS
from monitoring.app.visits import Visit
from monitoring.contract.document import Json, published_document
from monitoring.contract.problems import Problem
from monitoring.monitors import service
from monitoring.monitors.deleting import UNDO_MINUTES, schedule_deletion, undo_deletion
from monitoring.monitors.models import Monitor
from monitoring.monitors.muting import mute_monitors, unmute_monitors
from monitoring.monitors.queries import outline_monitors
from monitoring.monitors.service import set_paused

Change = Callable[[Monitor], Mapping[str, Json]]

# A bulk action stops after this time, because some browsers or proxies wait only a minute for a response.
LONGEST_ACT_SECONDS = 20.0

# The number of monitors that one transaction pauses or resumes.
PORTION = 500

NAMED = 20


async def act_on_selected(visit: Visit) -> Response:
    """Perform the pressed button's action on the selected monitors."""
    form = await visit.read_form()
    chosen = await _read_selected(visit)
    if not chosen:
        return await _refuse(visit, "nothing_selected")
    match form.get("act"):
        case "pause" | "resume" as act:
            return await _set_paused(visit, chosen, paused=act == "pause")
        case "mute" | "unmute" as act:
            return await _mute(visit, chosen, form.get("mute_hours", ""), is_muted=act == "mute")
        case "tag" | "untag" as act:
            return await _tag(visit, chosen, form.get("new_tag", "").strip().lower(), is_added=act == "tag")
        case "delete":
            return await _ask_to_delete(visit, chosen)
    raise Problem("not_found")


async def show_list_again(visit: Visit) -> Response:
    """Redirect to the list, because a browser may request the URL of bulk actions with GET."""
    return _go_back(visit)


async def delete_selected(visit: Visit) -> Response:
    """Schedule the deletion of the selected monitors."""
    await schedule_deletion(visit.team.id, await _read_selected(visit), visit.now, by=visit.actor)
    return _go_back(visit)


async def keep_monitors(visit: Visit) -> Response:
    """Undo a scheduled deletion, unless it is too late."""
    kept = await undo_deletion(visit.team.id, visit.read_id("deletion_id"), by=visit.actor)
    return _go_back(visit, "monitors_kept" if kept else "too_late_to_undo")


async def _read_selected(visit: Visit) -> Sequence[UUID]:
    """Return the selected monitors' ids, or those of all matching monitors if the form has `all`."""
    form = await visit.read_form()
    if form.get("all"):
        order = read_view(visit.query, "").order
        found = await outline_monitors(visit.team.id, read_filter(visit.query), order)
        return [each.id for each in found]
    chosen = dict.fromkeys(form.getlist("monitor"))
    try:
        return [UUID(text) for text in chosen]
    except ValueError:
        raise Problem("not_found") from None


async def _set_paused(visit: Visit, chosen: Sequence[UUID], *, paused: bool) -> Response:
    """Pause or resume monitors in batches, so that check results can be stored between batches."""
    ends_at = monotonic() + LONGEST_ACT_SECONDS
    for start in range(0, len(chosen), PORTION):
        if monotonic() > ends_at:
            return _go_back(visit, "monitors_unfinished")
        portion = chosen[start : start + PORTION]
        await set_paused(visit.team.id, portion, paused=paused, by=visit.actor)
    return _go_back(visit, "monitors_paused" if paused else "monitors_resumed")


async def _tag(visit: Visit, chosen: Sequence[UUID], tag: str, *, is_added: bool) -> Response:
    try:
        is_tag = read_filter(QueryParams(tag=tag)).tags == (tag,)
    except Problem:
        is_tag = False
    if not is_tag:
        return await _refuse(visit, "tag_refused")
    is_full = False

    def change(monitor: Monitor) -> Mapping[str, Json]:
        nonlocal is_full
        if not is_added:
            return {"tags": [each for each in monitor.tags if each != tag]}
        if tag not in monitor.tags and len(monitor.tags) >= _max_tags():
            is_full = True
            return {}
        return {"tags": list(dict.fromkeys((*monitor.tags, tag)))}

    notice = "monitors_tagged" if is_added else "monitors_untagged"
    response = await _change_all(visit, chosen, change, notice)
    return _go_back(visit, "monitors_tagged_in_part") if is_full else response


async def _change_all(visit: Visit, chosen: Sequence[UUID], change: Change, notice: str) -> Response:
    """Apply `change` to one monitor at a time, as a monitor's own page does. Skip deleted monitors.

    After `LONGEST_ACT_SECONDS`, the remaining monitors are skipped, and the notice says so. The user can then
    repeat the action, which soon gets past the monitors that are already changed.
    """
    ends_at = monotonic() + LONGEST_ACT_SECONDS
    for monitor_id in chosen:
        if monotonic() > ends_at:
            return _go_back(visit, "monitors_unfinished")
        await _change(visit, monitor_id, change)
    return _go_back(visit, notice)


async def _change(visit: Visit, monitor_id: UUID, change: Change) -> None:
    try:
        before = await service.get_monitor(visit.team.id, monitor_id)
        patch = {name: value for name, value in change(before).items() if getattr(before, name) != value}
        if patch:
            await service.update_monitor(visit.team.id, monitor_id, patch, by=visit.actor)
    except Problem as problem:
        if problem.name != "monitor_not_found":
            raise


async def _mute(visit: Visit, chosen: Sequence[UUID], hours: str, *, is_muted: bool) -> Response:
    if is_muted:
        await mute_monitors(visit.team.id, chosen, mute_end(hours, visit.now), visit.now, by=visit.actor)
    else:
        await unmute_monitors(visit.team.id, chosen, by=visit.actor)
    return _go_back(visit, "monitors_muted" if is_muted else "monitors_unmuted")


async def _ask_to_delete(visit: Visit, chosen: Sequence[UUID]) -> Response:
    form, view = await visit.read_form(), read_view(visit.query, "")
    return visit.render(
        "monitors/delete_selected.html",
        monitors=await service.name_monitors(visit.team.id, chosen),
        all=bool(form.get("all")),
        named=NAMED,
        undo_minutes=UNDO_MINUTES,
        view=view,
        place=visit.locate("/monitors", **view.place),
    )


async def _refuse(visit: Visit, reason: str) -> Response:
    """Show the list again, with the reason for the refusal, the selection and the typed tag."""
    form = await visit.read_form()
    selected = frozenset(form.getlist("monitor"))
    refused = RefusedAct(REFUSALS[reason], selected, bool(form.get("all")), form.get("new_tag", ""))
    return await show_list(visit, refused)


def _go_back(visit: Visit, notice: str | None = None) -> Response:
    return visit.redirect("/monitors", notice=notice, **read_view(visit.query, "").place)


def _max_tags() -> int:
    document = published_document()
    properties = document.root["components"]["schemas"]["MonitorCreate"]["properties"]
    return int(document.follow(properties["tags"])["maxItems"])


ROUTES = (
    for_members("/monitors/selected", get=show_list_again, post=act_on_selected),
    for_members("/monitors/selected/delete", post=delete_selected),
    for_members("/monitors/deletions/{deletion_id}/undo", post=keep_monitors),
)
