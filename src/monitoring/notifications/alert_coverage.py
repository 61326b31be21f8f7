"""Which monitors would alert a channel if they went down."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.routing import ALERTS, Route, route_of


async def list_alert_routes(team_id: UUID) -> list[Route]:
    """Return the routes of a team's enabled, confirmed channels that subscribe to incident alerts."""
    return [
        route_of(channel)
        for channel in await NotificationChannel.filter(team_id=team_id, enabled=True)
        if not ALERTS.isdisjoint(channel.events) and not channel.is_unconfirmed
    ]


def is_alerted(routes: Sequence[Route], monitor_id: UUID, tags: Collection[str]) -> bool:
    """Return whether any of the routes accepts the monitor's incidents."""
    return any(route.concerns(monitor_id, tags) for route in routes)
