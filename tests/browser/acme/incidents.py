"""What Acme's people do about incidents, and what their channels were told of them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from monitoring.incidents.models import Incident, IncidentNote
from monitoring.incidents.responding import write_note
from monitoring.incidents.service import announcement_of
from monitoring.monitors.models import Monitor
from monitoring.notifications.acknowledge_links import write_acknowledge_link
from monitoring.notifications.announcing import announce
from monitoring.notifications.models import DeliveryStatus, NotificationDelivery

if TYPE_CHECKING:
    from uuid import UUID

    from browser.acme.people import Member
    from monitoring.auth.models import Team


async def answer_incidents(team: Team, owner: Member, member: Member) -> dict[str, UUID]:
    """Tell the channels of an open and a resolved incident, and answer the latter. Return their ids."""
    incidents = Incident.filter(team_id=team.id)
    opened = await incidents.filter(resolved_at=None).order_by("id").first()
    resolved = await incidents.filter(resolved_at__isnull=False).order_by("-id").first()
    assert opened
    assert resolved
    for incident in (opened, resolved):
        monitor = await Monitor.get(id=incident.monitor_id)
        await announce([announcement_of("incident.opened", incident.confirmed_at, incident, monitor)])
    told = NotificationDelivery.filter(subject_id=resolved.id)
    await told.update(
        status=DeliveryStatus.DELIVERED,
        due_at=None,
        attempts=1,
        delivered_at=resolved.confirmed_at + timedelta(seconds=1),
    )
    resolved.acknowledged_at = resolved.confirmed_at + timedelta(seconds=50)
    resolved.acknowledged_by = owner.actor.name
    await resolved.save()
    note = await write_note(
        team.id, resolved.id, member.actor, "The new release ran out of connections.\nI am rolling it back."
    )
    at = resolved.confirmed_at + timedelta(seconds=70)
    await IncidentNote.filter(id=note.id).update(created_at=at)
    return {"open": opened.id, "resolved": resolved.id}


async def find_acknowledge_token(incident_id: UUID) -> str:
    """Return the token that a message about an incident came with."""
    delivery = await NotificationDelivery.filter(subject_id=incident_id).first()
    assert delivery
    return (write_acknowledge_link(delivery, "") or "").partition("token=")[2]
