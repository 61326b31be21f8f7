"""Which monitors have somebody who is told when they go down."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.routing import Route, route_of


async def list_alert_routes(team_id: UUID) -> list[Route]:
    """Return the routes of a team's channels that tell of an incident now."""
    return [
        route_of(channel)
        for channel in await NotificationChannel.filter(team_id=team_id, enabled=True)
        if "incident.opened" in channel.events and not channel.is_unconfirmed
    ]


def is_alerted(routes: Sequence[Route], monitor_id: UUID, tags: Collection[str]) -> bool:
    """Say whether one of the routes leads from a monitor to somebody."""
    return any(route.concerns(monitor_id, tags) for route in routes)
