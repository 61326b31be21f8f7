"""Background tasks that send notifications and examine webhook receivers."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from monitoring.backends.tasks import task
from monitoring.notifications.attempts import attempt_delivery
from monitoring.notifications.claims import claim_delivery
from monitoring.notifications.exams import run_exam
from monitoring.notifications.scheduling import make_next_due

# Many attempts may run at the same time, because they spend most of their time waiting for other servers.
DELIVERIES_AT_ONCE = 32
EXAMS_AT_ONCE = 8


@task(queue_name="notifications", at_once=DELIVERIES_AT_ONCE)
async def deliver_notification(delivery_id: str) -> None:
    """Send a delivery if it is due, then queue the team's next delivery. A duplicate task has no effect.

    A failed attempt queues no task for its retry. Once the retry is due, the next sweep or the end of another
    attempt starts it. Without a current sender, the delivery stays pending.
    """
    from monitoring.notifications.channels.sender import current_sender  # noqa: PLC0415 - only workers send

    sender = current_sender()
    if sender and (claim := await claim_delivery(UUID(delivery_id))):
        told = await attempt_delivery(claim, sender)
        await nudge([*told, *await make_next_due(claim.channel.team_id)])


@task(queue_name="exams", at_once=EXAMS_AT_ONCE)
async def examine_receiver(exam_id: str) -> None:
    """Examine a webhook's receiver. Without a current sender, the exam stays pending."""
    from monitoring.notifications.channels.sender import current_sender  # noqa: PLC0415 - only workers send

    if sender := current_sender():
        await run_exam(UUID(exam_id), sender)


async def nudge(delivery_ids: Iterable[UUID]) -> None:
    """Queue tasks that send these deliveries. Call this function after the commit.

    It never raises an exception. If a task cannot be queued, the sweep finds the delivery later.
    """
    for delivery_id in delivery_ids:
        await deliver_notification.send(str(delivery_id))
