"""The page that a link in an alert opens, on which readers acknowledge the incident without signing in.

Link scanners open the page, too. Therefore, opening it changes nothing, and only its button acknowledges the
incident.
"""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import Response

from monitoring.app.routing import for_anyone
from monitoring.app.sentences import Declined
from monitoring.app.visits import Visit
from monitoring.audit.actors import reader_of
from monitoring.auth.models import Team
from monitoring.contract.problems import Problem
from monitoring.incidents.models import Incident
from monitoring.incidents.responding import acknowledge
from monitoring.members.service import name_members
from monitoring.notifications.acknowledge_links import read_acknowledge_link
from monitoring.notifications.channels import label_monitor, list_facts
from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.monitor_subjects import describe_monitor, find_monitor
from monitoring.notifications.tasks import nudge


class _Linked(NamedTuple):
    incident: Incident
    channel: NotificationChannel


async def show_confirmation(visit: Visit) -> Response:
    """Show the incident with a button to acknowledge it, or the name of the person who acknowledged it."""
    token = visit.query.get("token", "")
    linked = await _find_linked(token)
    team = await Team.get(id=linked.channel.team_id)
    monitor = await find_monitor(team.id, linked.incident.monitor_id)
    described = describe_monitor(monitor) if monitor else None
    responder = linked.incident.acknowledged_by or ""
    names = await name_members(team.id, {responder})
    return visit.render(
        "incidents/acknowledge.html",
        incident=linked.incident,
        label=label_monitor(described) if described else None,
        facts=list(list_facts({"monitor": described or {}, "team": team.name})),
        token=token,
        responder=names[responder],
    )


async def acknowledge_linked(visit: Visit) -> Response:
    """Acknowledge the incident on behalf of the signed-in user, if the user is in the team.

    Otherwise, the acknowledgement is attributed to "a reader of" the channel.
    """
    token = (await visit.read_form()).get("token", "")
    incident, channel = await _find_linked(token)
    actor = reader_of(channel.name, visit.address)
    if visit.session and visit.team.id == channel.team_id:
        actor = visit.actor
    try:
        _, delivery_ids = await acknowledge(channel.team_id, incident.id, actor)
    except Problem as problem:
        if problem.name != "incident_resolved":
            raise
    else:
        await nudge(delivery_ids)
    return visit.redirect("/acknowledge", token=token)


async def _find_linked(token: str) -> _Linked:
    """Return the incident and channel of a link's token.

    Raises Declined if the token is invalid, or if the incident or the channel was deleted.
    """
    link = read_acknowledge_link(token)
    channel = await NotificationChannel.get_or_none(id=link.channel_id) if link else None
    if link is None or channel is None:
        raise Declined("link_expired")
    incident = await Incident.get_or_none(id=link.incident_id, team_id=channel.team_id)
    if incident is None:
        raise Declined("link_expired")
    return _Linked(incident, channel)


ROUTES = (for_anyone("/acknowledge", get=show_confirmation, post=acknowledge_linked),)
