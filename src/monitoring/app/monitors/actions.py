"""The actions on one monitor, each behind a button: pause, resume, mute, check now, delete."""

from __future__ import annotations

from starlette.responses import Response

from monitoring.app.monitors.mute_lengths import mute_end
from monitoring.app.monitors.return_to import return_to_list
from monitoring.app.routing import for_members
from monitoring.app.visits import Visit
from monitoring.audit.actions import Action
from monitoring.audit.service import record
from monitoring.auth.limits import count_request
from monitoring.backends.database import transaction
from monitoring.checks.requests import request_check
from monitoring.monitors import service
from monitoring.monitors.deleting import UNDO_MINUTES, find_deletion, schedule_deletion, undo_deletion
from monitoring.monitors.heartbeats.service import renew_ping_url
from monitoring.monitors.models import Monitor
from monitoring.monitors.muting import mute_monitors, unmute_monitors


async def pause_monitor(visit: Visit) -> Response:
    """Stop the monitor's checks. Pausing a paused monitor changes nothing."""
    return await _set_paused(visit, "monitor_paused", paused=True)


async def resume_monitor(visit: Visit) -> Response:
    """Start the monitor's checks again. Resuming a monitor that is not paused changes nothing."""
    return await _set_paused(visit, "monitor_resumed", paused=False)


async def mute_monitor(visit: Visit) -> Response:
    """Mute the monitor: send no notifications about it for the chosen time."""
    form = await visit.read_form()
    monitor, until = await _get_monitor(visit), mute_end(form.get("mute_hours", ""), visit.now)
    await mute_monitors(visit.team.id, [monitor.id], until, visit.now, by=visit.actor)
    return visit.redirect(f"/monitors/{monitor.id}", notice="monitor_muted")


async def unmute_monitor(visit: Visit) -> Response:
    """Send notifications about the monitor again. Unmuting a monitor that is not muted changes nothing."""
    monitor = await _get_monitor(visit)
    await unmute_monitors(visit.team.id, [monitor.id], by=visit.actor)
    return visit.redirect(f"/monitors/{monitor.id}", notice="monitor_unmuted")


async def check_now(visit: Visit) -> Response:
    """Request a check of the monitor. It counts against the team's rate limit for requested checks."""
    monitor = await _get_monitor(visit)
    await count_request(visit.request, visit.settings.rate_limit_check_now, str(visit.team.id))
    async with transaction():
        await request_check(monitor.id, visit.now)
        await record(visit.team.id, visit.actor, Action.CHECK_REQUESTED, monitor.name, monitor.id)
    return visit.redirect(f"/monitors/{monitor.id}", notice="check_requested")


async def renew_address(visit: Visit) -> Response:
    """Replace a heartbeat's ping URL. The previous URL becomes invalid."""
    monitor_id = visit.read_id("monitor_id")
    await renew_ping_url(visit.team.id, monitor_id, by=visit.actor)
    return visit.redirect(f"/monitors/{monitor_id}", notice="ping_url_renewed")


async def ask_to_delete(visit: Visit) -> Response:
    """Explain the effects of deletion, and ask for confirmation."""
    return visit.render("monitors/delete.html", monitor=await _get_monitor(visit), undo_minutes=UNDO_MINUTES)


async def delete_monitor(visit: Visit) -> Response:
    """Schedule the monitor's deletion, and redirect to the monitor list, which offers to undo it."""
    monitor = await _get_monitor(visit)
    await schedule_deletion(visit.team.id, [monitor.id], visit.now, by=visit.actor)
    return return_to_list(visit, monitor.id)


async def keep_monitor(visit: Visit) -> Response:
    """Undo the monitor's scheduled deletion, if there is one, and redirect to the monitor's page."""
    monitor = await _get_monitor(visit)
    if deletion := await find_deletion(monitor.id):
        await undo_deletion(visit.team.id, deletion.deletion_id, by=visit.actor)
    return visit.redirect(f"/monitors/{monitor.id}", notice="monitors_kept")


async def _set_paused(visit: Visit, notice: str, *, paused: bool) -> Response:
    monitor_id = visit.read_id("monitor_id")
    await service.update_monitor(visit.team.id, monitor_id, {"paused": paused}, by=visit.actor)
    return visit.redirect(f"/monitors/{monitor_id}", notice=notice)


async def _get_monitor(visit: Visit) -> Monitor:
    return await service.get_monitor(visit.team.id, visit.read_id("monitor_id"))


ROUTES = (
    for_members("/monitors/{monitor_id}/pause", post=pause_monitor),
    for_members("/monitors/{monitor_id}/resume", post=resume_monitor),
    for_members("/monitors/{monitor_id}/mute", post=mute_monitor),
    for_members("/monitors/{monitor_id}/unmute", post=unmute_monitor),
    for_members("/monitors/{monitor_id}/check", post=check_now),
    for_members("/monitors/{monitor_id}/renew-ping-url", post=renew_address),
    for_members("/monitors/{monitor_id}/delete", get=ask_to_delete, post=delete_monitor),
    for_members("/monitors/{monitor_id}/keep", post=keep_monitor),
)
