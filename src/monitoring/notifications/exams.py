"""Queues and runs exams of webhook receivers. Each channel keeps only its last exam."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.repeating import wait_until
from monitoring.contract.problems import Problem
from monitoring.notifications.channels import examine
from monitoring.notifications.channels.keeping import find_keeping_sender
from monitoring.notifications.channels.sender import Sender
from monitoring.notifications.models import WEBHOOK, NotificationChannel, ReceiverExam
from monitoring.notifications.recording import record_act

# How long a caller waits for an exam: the time until a worker begins it, plus its maximum duration.
PATIENCE = timedelta(seconds=35)


async def queue_exam(team_id: UUID, channel_id: UUID, *, by: Actor | None = None) -> ReceiverExam:
    """Queue an exam of a channel's receiver. The new exam replaces the channel's previous exam.

    Raises Problem if the channel is missing, disabled or not a webhook.
    """
    async with transaction():
        locked = NotificationChannel.select_for_update(no_key=True)
        channel = await locked.get_or_none(id=channel_id, team_id=team_id)
        if channel is None:
            raise Problem("notification_channel_not_found")
        if channel.type != WEBHOOK:
            raise Problem("notification_channel_not_examinable")
        if not channel.enabled:
            raise Problem("notification_channel_disabled")
        await ReceiverExam.filter(channel_id=channel_id).delete()
        now = current_backends().clock.now()
        exam = await ReceiverExam.create(channel_id=channel_id, created_at=now)
        await record_act(channel, Action.CHANNEL_EXAMINED, by)
        return exam


async def run_exam(exam_id: UUID, sender: Sender) -> None:
    """Examine a receiver and store the results, unless the exam has already begun or was deleted.

    A sandbox sends nothing. A scripted host (`.test`) returns its scripted response, and any other host is
    treated as if it had accepted every message.
    """
    now = current_backends().clock.now()
    if not await ReceiverExam.filter(id=exam_id, started_at=None).update(started_at=now):
        return
    exam = await ReceiverExam.get_or_none(id=exam_id).select_related("channel")
    if exam is not None:
        results = await examine(exam.channel, await find_keeping_sender(exam.channel) or sender, now)
        await ReceiverExam.filter(id=exam_id).update(results=results)


async def wait_for_report(exam_id: UUID) -> ReceiverExam | None:
    """Return an exam once it has ended, or after PATIENCE, or None if another exam has replaced it.

    The exam runs in a worker, because API processes should not need outgoing connections.
    """
    return await wait_until(
        lambda exam: exam is None or exam.results is not None,
        lambda: ReceiverExam.get_or_none(id=exam_id),
        PATIENCE,
    )
