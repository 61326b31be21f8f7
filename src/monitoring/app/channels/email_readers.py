"""The pages behind links in emails, on which readers confirm or unsubscribe their address without signing in.

Mail systems' link scanners open these pages, so only a POST changes anything. The page's button sends a POST,
and so does a mail program's one-click unsubscription (RFC 8058).
"""

from __future__ import annotations

from starlette.responses import Response

from monitoring.app.routing import for_anyone, for_link_holders
from monitoring.app.sentences import Declined
from monitoring.app.visits import Visit
from monitoring.audit.actions import Action
from monitoring.audit.actors import reader_of
from monitoring.audit.service import record
from monitoring.auth.models import Team
from monitoring.backends.database import transaction
from monitoring.notifications import email_consent
from monitoring.notifications.email_links import CONFIRM, UNSUBSCRIBE, find_linked, is_used_up
from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.tasks import nudge


async def show_confirmation(visit: Visit) -> Response:
    """Show the email address with a button to confirm it. If it is confirmed already, the page says so."""
    token = visit.query.get("token", "")
    return await _render(visit, "channels/confirm.html", await _find_asked(token), token)


async def confirm(visit: Visit) -> Response:
    """Confirm the email address of the form's token, and redirect to the page that the link opened."""
    token = (await visit.read_form()).get("token", "")
    channel = await _find_asked(token)
    async with transaction():
        if await email_consent.confirm(channel):
            await _record(visit, channel, Action.CHANNEL_CONFIRMED)
    return visit.redirect(f"/{CONFIRM}", token=token)


async def show_unsubscribing(visit: Visit) -> Response:
    """Show the email address with a button to unsubscribe it.

    If the channel is off or unconfirmed, the page says that nothing is sent to the address.
    """
    token = visit.query.get("token", "")
    return await _render(visit, "channels/unsubscribe.html", await _find(UNSUBSCRIBE, token), token)


async def unsubscribe(visit: Visit) -> Response:
    """Turn off the channel that the token in the URL identifies. A reader or a mail program requests this."""
    token = visit.query.get("token", "")
    channel = await _find(UNSUBSCRIBE, token)
    async with transaction():
        is_new, told = await email_consent.unsubscribe(channel)
        if is_new:
            await _record(visit, channel, Action.CHANNEL_UNSUBSCRIBED)
    await nudge(told)
    # The page is returned without a redirect, because RFC 8058 §3.1 advises against redirects.
    return await _render(visit, "channels/unsubscribe.html", await _find(UNSUBSCRIBE, token), token)


async def _find_asked(token: str) -> NotificationChannel:
    """Return the channel of a confirmation link. Raises Declined if the link has expired or was used."""
    channel = await _find(CONFIRM, token)
    if channel.is_unconfirmed and is_used_up(token, channel):
        raise Declined("email_link_used")
    return channel


async def _find(purpose: str, token: str) -> NotificationChannel:
    channel = await find_linked(purpose, token)
    if channel is None:
        raise Declined("email_link_expired")
    return channel


async def _record(visit: Visit, channel: NotificationChannel, action: Action) -> None:
    actor = reader_of(channel.settings["address"], visit.address)
    await record(channel.team_id, actor, action, channel.name, channel.id)


async def _render(visit: Visit, template: str, channel: NotificationChannel, token: str) -> Response:
    team = await Team.get(id=channel.team_id)
    return visit.render(
        template,
        channel=channel,
        address=channel.settings["address"],
        team=team,
        token=token,
        place=visit.locate(visit.path, token=token),
    )


ROUTES = (
    for_anyone(f"/{CONFIRM}", get=show_confirmation, post=confirm),
    for_link_holders(f"/{UNSUBSCRIBE}", get=show_unsubscribing, post=unsubscribe),
)
