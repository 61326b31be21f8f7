"""What workers do for notifications."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from monitoring.backends.tasks import task
from monitoring.notifications.claims import claim_delivery
from monitoring.notifications.delivering import attempt_delivery
from monitoring.notifications.turns import call_next

# Attempts only wait for strangers' servers, on the event loop.
DELIVERIES_AT_ONCE = 32


@task(queue_name="notifications", at_once=DELIVERIES_AT_ONCE)
async def deliver_notification(delivery_id: str) -> None:
    """Send a notification if it is due, then nudge the team's next one. A second message does nothing.

    A failed attempt is repeated when another one calls the delivery, or when the sweep finds it due.
    Without a sender the rows wait.
    """
    from monitoring.notifications.channels.sending import current_sender  # noqa: PLC0415 - others only nudge

    sender = current_sender()
    if sender and (claim := await claim_delivery(UUID(delivery_id))):
        told = await attempt_delivery(claim, sender)
        await nudge([*told, *await call_next(claim.channel.team_id)])


async def nudge(delivery_ids: Iterable[UUID]) -> None:
    """Ask workers to send deliveries, after the commit. Never raises: the sweep finds what was not nudged."""
    for delivery_id in delivery_ids:
        await deliver_notification.send(str(delivery_id))
