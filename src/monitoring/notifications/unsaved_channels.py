"""Tests an unsaved channel. The test runs in this process, because a worker can only read saved channels."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.notifications.announcing import make_delivery
from monitoring.notifications.channels import CHANNELS
from monitoring.notifications.channels.keeping import find_keeping_sender
from monitoring.notifications.channels.protocol import AttemptResult
from monitoring.notifications.channels.sender import current_sender, open_sender
from monitoring.notifications.models import EMAIL
from monitoring.notifications.recording import record_act
from monitoring.notifications.routing import TEST, Announcement
from monitoring.notifications.service import change_channel, compose_channel, get_channel


async def try_channel(
    team_id: UUID, given: Mapping[str, Json], channel_id: UUID | None = None, *, by: Actor | None = None
) -> AttemptResult:
    """Send a test notification through a new channel, or through a channel to which a patch is applied.

    Neither the new channel nor the patch is saved, and only the audit log records the test. A sandbox sends
    nothing: a scripted host (`.test`) returns its scripted response, and any other host is treated as if it
    had accepted the test. Raises Problem if the channel could not be saved, or if this machine cannot send
    anything. Also raises Problem for an email channel, because its reader must confirm the address first.
    """
    if given["type"] == EMAIL:
        raise Problem("notification_channel_unconfirmed")
    if channel_id:
        channel = await get_channel(team_id, channel_id)
        change_channel(channel, given)
    else:
        channel = compose_channel(team_id, given)
    now = current_backends().clock.now()
    test = make_delivery(Announcement(team_id=team_id, event=TEST, happened_at=now, subject={}), channel.id)
    async with transaction():
        await record_act(channel, Action.CHANNEL_TESTED, by)
    async with open_sender(current_backends().settings):
        sender = await find_keeping_sender(channel) or current_sender()
        assert sender  # noqa: S101 - it was opened
        try:
            return await CHANNELS[channel.type].send(test, channel, sender, now)
        except OSError:
            raise Problem("service_unavailable") from None
