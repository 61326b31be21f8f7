"""The deliveries of a notification channel: what was sent, what came of it, and sending it again."""

from __future__ import annotations

from starlette.responses import Response

from monitoring.app.channels.delivery_words import describe_delivery
from monitoring.app.live.following import live
from monitoring.app.live.marks import Shown, Source
from monitoring.app.routing import for_members
from monitoring.app.visits import Visit
from monitoring.auth.limits import count_request
from monitoring.contract.cursors import encode_cursor
from monitoring.notifications.deliveries import list_deliveries, redeliver
from monitoring.notifications.service import get_channel
from monitoring.notifications.tasks import nudge

DELIVERIES_A_PAGE = 50

_PATH = "/settings/notifications/{channel_id}/deliveries"


async def show_deliveries(visit: Visit) -> Response:
    """List the deliveries of the last 30 days, newest first."""
    channel = await get_channel(visit.team.id, visit.read_id("channel_id"))
    page = await list_deliveries(channel, None, DELIVERIES_A_PAGE, visit.after_id)
    return visit.render(
        "channels/deliveries.html",
        channel=channel,
        deliveries=[(each, describe_delivery(each)) for each in page.rows],
        next_cursor=encode_cursor(page.continues_after) if page.continues_after else None,
    )


async def send_again(visit: Visit) -> Response:
    """Send one again, within the rate limit that the team's keys share."""
    channel_id, delivery_id = visit.read_id("channel_id"), visit.read_id("delivery_id")
    channel = await get_channel(visit.team.id, channel_id)
    await count_request(visit.request, visit.settings.rate_limit_notifications, str(visit.team.id))
    delivery = await redeliver(visit.team.id, channel.id, delivery_id, by=visit.actor)
    await nudge([delivery.id])
    return visit.redirect(_PATH.format(channel_id=channel_id), notice="delivery_sent_again")


async def _name_sources(visit: Visit) -> list[Shown]:
    return [Shown(Source.CHANNELS, visit.team.id), Shown(Source.CHANNEL, visit.read_id("channel_id"))]


ROUTES = (
    for_members(_PATH, get=live(_name_sources, show_deliveries)),
    for_members(f"{_PATH}/{{delivery_id}}/send-again", post=send_again),
)
