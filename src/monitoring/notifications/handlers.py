"""Handlers for the operations that the OpenAPI document tags with Notifications."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from uuid import UUID

from starlette.requests import Request

from monitoring.auth.callers import TEST_MODE, Caller
from monitoring.auth.limits import count_request
from monitoring.backends.current import current_backends
from monitoring.backends.pages import take_page
from monitoring.by_key.placing import Conditions
from monitoring.by_key.replies import represent_placed
from monitoring.contract.cursors import decode_cursor
from monitoring.contract.document import Json
from monitoring.contract.entity_tags import version_of
from monitoring.notifications import deliveries, exams, service
from monitoring.notifications.alert_coverage import find_alerted_channels
from monitoring.notifications.channels.targets import demand_reachable
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.representations import (
    represent_channel,
    represent_channels,
    represent_created_channel,
    represent_deliveries,
    represent_delivery,
    represent_exam,
)
from monitoring.notifications.tasks import examine_receiver, nudge
from monitoring.web.endpoint import ActOnce
from monitoring.web.replies import NO_STORE, Reply


async def list_notification_channels(
    *, caller: Caller, limit: int, cursor: str | None = None, monitor_id: str | None = None
) -> Reply:
    """Return a page of the team's channels, or only of the channels that the monitor `monitor_id` alerts."""
    after_id = decode_cursor(cursor)
    if monitor_id:
        told = await find_alerted_channels(caller.team_id, UUID(monitor_id))
        return Reply.tagged(represent_channels(take_page(told, limit, after_id)))
    return Reply.tagged(represent_channels(await service.list_channels(caller.team_id, limit, after_id)))


async def create_notification_channel(body: Json, caller: Caller, act_once: ActOnce) -> Reply:
    """Create a channel. If it is a webhook, only this response contains its secret."""
    await demand_reachable(caller.team_id, body)
    return await act_once(partial(_create_channel, caller, body))


async def _create_channel(caller: Caller, given: Json) -> Reply:
    channel = await service.create_channel(caller.team_id, given, by=caller.actor)
    location = f"/api/notification-channels/{channel.id}"
    body, version = represent_created_channel(channel), version_of(channel.updated_at)
    return Reply.tagged(body, 201, {"Location": location, **NO_STORE}, version=version)


async def put_notification_channel_by_key(  # noqa: PLR0913 - one argument a parameter of the document
    key: str,
    body: Json,
    caller: Caller,
    act_once: ActOnce,
    *,
    if_match: str | None = None,
    if_none_match: str | None = None,
) -> Reply:
    """Create the channel with this key, or replace its configuration.

    The response for a new webhook contains its secret.
    """
    await demand_reachable(caller.team_id, body)
    return await act_once(partial(_put_channel, key, caller, body, Conditions(if_match, if_none_match)))


async def _put_channel(key: str, caller: Caller, given: Json, conditions: Conditions) -> Reply:
    placed = await service.put_channel(caller.team_id, key, given, conditions, by=caller.actor)
    channel = placed.row
    tagged = _reply(channel)
    shown = represent_created_channel(channel) if placed.is_new else tagged.body
    reply = Reply(shown, headers={**tagged.headers, **(NO_STORE if placed.is_new else {})})
    return represent_placed(placed, "notification_channel", reply, f"/api/notification-channels/{channel.id}")


async def get_notification_channel(channel_id: str, caller: Caller) -> Reply:
    """Return one channel."""
    return _reply(await service.get_channel(caller.team_id, UUID(channel_id)))


async def update_notification_channel(
    channel_id: str, body: Json, caller: Caller, act_once: ActOnce, if_match: str | None = None
) -> Reply:
    """Change a channel."""
    await demand_reachable(caller.team_id, body)
    return await act_once(partial(_update_channel, UUID(channel_id), caller, body, if_match))


async def _update_channel(channel_id: UUID, caller: Caller, patch: Json, if_match: str | None) -> Reply:
    return _reply(await service.update_channel(caller.team_id, channel_id, patch, if_match, by=caller.actor))


async def delete_notification_channel(channel_id: str, caller: Caller, if_match: str | None = None) -> Reply:
    """Delete a channel."""
    await service.delete_channel(caller.team_id, UUID(channel_id), if_match, by=caller.actor)
    return Reply.empty()


def _reply(channel: NotificationChannel) -> Reply:
    return Reply.tagged(represent_channel(channel), version=version_of(channel.updated_at))


async def test_notification_channel(  # the OpenAPI document's operation name, not a test
    channel_id: str, caller: Caller, request: Request, act_once: ActOnce
) -> Reply:
    """Queue a test notification, and return the result of its first attempt."""
    await _count(request, caller)
    queued = await _nudged(await act_once(partial(_queue_test, UUID(channel_id), caller)))
    tried = await deliveries.wait_for_attempt(UUID(queued.json_value()["id"]))
    if tried is None:
        return queued
    kept = await _read_kept(caller, [tried])
    return Reply(represent_delivery(tried, kept.get(tried.id)))


async def _queue_test(channel_id: UUID, caller: Caller) -> Reply:
    return Reply(represent_delivery(await deliveries.queue_test(caller.team_id, channel_id, by=caller.actor)))


async def examine_notification_channel(
    channel_id: str, caller: Caller, request: Request, act_once: ActOnce
) -> Reply:
    """Queue an exam of a webhook's receiver, and return its results."""
    await _count(request, caller)
    queued = await act_once(partial(_queue_exam, UUID(channel_id), caller))
    exam_id = queued.json_value()["id"]
    await examine_receiver.send(exam_id)
    exam = await exams.wait_for_report(UUID(exam_id))
    return Reply(represent_exam(exam)) if exam else queued


async def _queue_exam(channel_id: UUID, caller: Caller) -> Reply:
    return Reply(represent_exam(await exams.queue_exam(caller.team_id, channel_id, by=caller.actor)))


async def list_notification_deliveries(
    channel_id: str, *, caller: Caller, limit: int, cursor: str | None = None, status: str | None = None
) -> Reply:
    """Return a page of a channel's deliveries."""
    channel = await service.get_channel(caller.team_id, UUID(channel_id))
    after_id = decode_cursor(cursor)
    page = await deliveries.list_deliveries(channel, status, limit, after_id)
    return Reply(represent_deliveries(page, await _read_kept(caller, page.rows)))


async def _read_kept(caller: Caller, shown: Collection[NotificationDelivery]) -> Mapping[UUID, Json]:
    """Return the requests that a sandbox stored instead of sending. In live mode, there are none."""
    return await deliveries.read_kept_requests(shown) if caller.mode == TEST_MODE else {}


async def redeliver_notification(
    channel_id: str, delivery_id: str, caller: Caller, request: Request, act_once: ActOnce
) -> Reply:
    """Send a delivery again."""
    await _count(request, caller)
    return await _nudged(await act_once(partial(_redeliver, UUID(channel_id), UUID(delivery_id), caller)))


async def _redeliver(channel_id: UUID, delivery_id: UUID, caller: Caller) -> Reply:
    delivery = await deliveries.redeliver(caller.team_id, channel_id, delivery_id, by=caller.actor)
    return Reply(represent_delivery(delivery), 202)


async def _count(request: Request, caller: Caller) -> None:
    """Count a request against the team's rate limit for requests that cause messages to other servers."""
    await count_request(request, current_backends().settings.rate_limit_notifications, str(caller.team_id))


async def _nudged(reply: Reply) -> Reply:
    """Queue a task that sends the delivery that `reply` describes, and return `reply`.

    If the client repeats a request, the second task has no effect.
    """
    await nudge([UUID(reply.json_value()["id"])])
    return reply
