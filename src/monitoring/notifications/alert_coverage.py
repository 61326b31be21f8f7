"""Finds the channels that a monitor would alert if it went down."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.monitor_subjects import find_monitor
from monitoring.notifications.routing import ALERTS, Route, route_of


async def find_alerted_channels(team_id: UUID, monitor_id: UUID) -> list[NotificationChannel]:
    """Return the enabled channels that a monitor's incidents would alert, newest first.

    Returns an empty list if the team has no such monitor.
    """
    monitor = await find_monitor(team_id, monitor_id)
    if monitor is None:
        return []
    channels = await _list_alert_channels(team_id)
    return [channel for channel in channels if route_of(channel).concerns(monitor_id, monitor.tags)]


async def list_alert_routes(team_id: UUID) -> list[Route]:
    """Return the routes of a team's enabled, confirmed channels that subscribe to incident alerts."""
    return [route_of(channel) for channel in await _list_alert_channels(team_id)]


def is_alerted(routes: Sequence[Route], monitor_id: UUID, tags: Collection[str]) -> bool:
    """Return whether any of the routes accepts the monitor's incidents."""
    return any(route.concerns(monitor_id, tags) for route in routes)


async def _list_alert_channels(team_id: UUID) -> list[NotificationChannel]:
    enabled = NotificationChannel.filter(team_id=team_id, enabled=True).order_by("-id")
    return [each for each in await enabled if not (each.is_unconfirmed or ALERTS.isdisjoint(each.events))]
