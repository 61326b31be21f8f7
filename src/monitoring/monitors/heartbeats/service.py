"""Operations that clients can perform only on heartbeats. Each function is one transaction."""

from __future__ import annotations

from uuid import UUID

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.backends.database import transaction
from monitoring.backends.pages import Page, read_page
from monitoring.contract.problems import Problem
from monitoring.monitors.heartbeats.models import Heartbeat, Ping
from monitoring.monitors.heartbeats.tokens import new_token, ping_url_of
from monitoring.monitors.recording import record_act
from monitoring.monitors.service import get_monitor


async def renew_ping_url(team_id: UUID, monitor_id: UUID, *, by: Actor) -> str:
    """Give a heartbeat a new ping URL, and return the URL. The old URL stops working at once.

    Raises Problem if the team has no such monitor, or if the monitor is not a heartbeat.
    """
    async with transaction():
        monitor = await get_monitor(team_id, monitor_id)
        heartbeat = await Heartbeat.select_for_update().get_or_none(monitor_id=monitor.id)
        if heartbeat is None:
            raise Problem("monitor_takes_no_pings")
        await heartbeat.update_from_dict(new_token()).save(update_fields=["token_sha256", "encrypted_token"])
        await record_act(monitor, Action.PING_URL_RENEWED, by)
        return ping_url_of(heartbeat.encrypted_token)


async def list_pings(team_id: UUID, monitor_id: UUID, limit: int, after_id: UUID | None) -> Page[Ping]:
    """Return a page of a heartbeat's pings, newest first. The page is empty for a monitor of another type.

    Raises Problem if the team has no such monitor.
    """
    monitor = await get_monitor(team_id, monitor_id)
    return await read_page(Ping.filter(monitor_id=monitor.id), limit, after_id)
