"""A team's incident list, the page of an incident, and the actions on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple
from uuid import UUID, uuid4, uuid5

from starlette.responses import Response

from monitoring.app.form_fields import document_rules
from monitoring.app.formatting import capitalize
from monitoring.app.incidents.timeline import build_incident_timeline
from monitoring.app.live.fingerprints import Shown, Source
from monitoring.app.live.following import live
from monitoring.app.monitors.chart_axes import HOURS, Axis, axis_of_minutes
from monitoring.app.monitors.labels import ERRORS
from monitoring.app.monitors.list_view import read_view
from monitoring.app.monitors.response_chart import Chart, draw_chart
from monitoring.app.monitors.status_summary import name_responders, read_status_summary
from monitoring.app.routing import for_members
from monitoring.app.sentences import REFUSALS
from monitoring.app.visits import Visit, read_form_id
from monitoring.contract.cursors import PagedList, next_cursor
from monitoring.contract.problems import Problem
from monitoring.contract.validation import Check
from monitoring.history.close_up import measure_closely
from monitoring.history.ranges import Range
from monitoring.history.response_times import measure_response_times
from monitoring.history.tallies import Summary
from monitoring.history.timeline import Window
from monitoring.idempotency.service import act_once
from monitoring.incidents import responding, service
from monitoring.incidents.models import Incident, IncidentNote, IncidentState
from monitoring.incidents.representations import represent_note
from monitoring.incidents.service import list_incidents
from monitoring.incidents.spans import read_incident_spans
from monitoring.members.service import name_members
from monitoring.monitors.maintenance.reading import read_spans
from monitoring.monitors.models import Monitor
from monitoring.notifications.alert_coverage import find_alerted_channels
from monitoring.notifications.deliveries import is_somebody_told, list_deliveries_about
from monitoring.notifications.models import Mute, NotificationChannel, NotificationDelivery
from monitoring.notifications.muting import find_mute
from monitoring.notifications.routing import REMINDER
from monitoring.notifications.sweeping import RETENTION
from monitoring.notifications.tasks import nudge
from monitoring.web.replies import Reply

INCIDENTS_A_PAGE = 50

# The chart begins this long before the incident and ends this long after it, but shows at most a day.
AROUND = timedelta(hours=1)
SHOWN = timedelta(hours=24)

# If only hourly data is stored, the chart begins this long before the incident, and shows up to a day.
HOURS_BEFORE = timedelta(hours=6)

# Only this many of the newest notes are shown. An incident may have 500 notes, which would take a megabyte.
NOTES_SHOWN = 100


async def show_incidents(visit: Visit) -> Response:
    """List the team's incidents, newest first. The query's `state` selects open or resolved incidents."""
    sought = visit.query.get("state", "")
    state = sought if sought in set(IncidentState) else None
    page = await list_incidents(visit.team.id, None, state, INCIDENTS_A_PAGE, visit.after_id)
    ids = {each.monitor_id for each in page.rows}
    monitors = Monitor.filter(team_id=visit.team.id, id__in=list(ids)).only("id", "name", "type", "url")
    return visit.render(
        "incidents/list.html",
        incidents=page.rows,
        monitors={each.id: each for each in await monitors} if ids else {},
        responders=await name_responders(visit.team.id, page.rows),
        error_words=ERRORS,
        state=state,
        summary=await read_status_summary(visit.team.id),
        next_cursor=next_cursor(PagedList.INCIDENTS, page.continues_after),
    )


async def _name_sources_of_list(visit: Visit) -> list[Shown]:
    return [Shown(Source.TEAM, visit.team.id)]


async def show_incident(visit: Visit) -> Response:
    """Show an incident's timeline, its response times, and the forms to respond to it."""
    incident = await service.get_incident(visit.team.id, visit.read_id("incident_id"))
    notes = await responding.list_notes(visit.team.id, incident.id, NOTES_SHOWN, None)
    deliveries = await list_deliveries_about(visit.team.id, incident.id)
    monitor = await Monitor.get_or_none(id=incident.monitor_id, team_id=visit.team.id)
    silence = await _find_silence(visit, incident, deliveries)
    people = {incident.acknowledged_by or "", *(note.author for note in notes.rows)}
    if silence and silence.mute:
        people.add(silence.mute.muted_by or "")
    names = await name_members(visit.team.id, people)
    return visit.render(
        "incidents/incident.html",
        incident=incident,
        monitor=monitor,
        timeline=build_incident_timeline(incident, notes.rows, deliveries, names),
        names=names,
        are_notes_left_out=notes.continues_after is not None,
        silence=silence,
        error_words=ERRORS,
        surroundings=await _look_around(incident, monitor, visit) if monitor else None,
        form_id=_choose_form_id(visit, incident.id, notes.rows),
    )


class _Silence(NamedTuple):
    """Why nobody is notified of an incident: its monitor is muted, or no channel has been alerted.

    `channels` are the channels that can be alerted now.
    """

    mute: Mute | None
    channels: list[NotificationChannel]


async def _find_silence(
    visit: Visit, incident: Incident, deliveries: Iterable[NotificationDelivery]
) -> _Silence | None:
    """Return why nobody is notified of an open, unacknowledged incident.

    Returns None if somebody is or will be notified. Also returns None once `RETENTION` has passed since the
    incident was confirmed, because the incident's deliveries may have been deleted.
    """
    is_answered = incident.resolved_at or incident.acknowledged_at
    if is_answered or is_somebody_told(deliveries) or incident.confirmed_at < visit.now - RETENTION:
        return None
    if mute := await find_mute(incident.monitor_id, visit.now):
        return _Silence(mute, [])
    channels = await find_alerted_channels(visit.team.id, incident.monitor_id)
    if any(REMINDER in channel.events for channel in channels):  # a reminder will be sent
        return None
    return _Silence(None, channels)


async def _name_sources(visit: Visit) -> list[Shown]:
    team_id, incident_id = visit.team.id, visit.read_id("incident_id")
    incident = await service.get_incident(team_id, incident_id)
    sources = [Shown(source, team_id) for source in (Source.TEAM, Source.CHANNELS)]
    sources += [Shown(source, incident_id) for source in (Source.INCIDENT, Source.DELIVERIES)]
    if visit.now < _end_of_chart(incident):  # each new check still adds to the chart
        sources.append(Shown(Source.MONITOR, incident.monitor_id))
    return sources


class _Surroundings(NamedTuple):
    """The response times around an incident: a chart, and its data."""

    chart: Chart | None
    windows: list[tuple[Window, Summary]]
    axis: Axis


async def _look_around(incident: Incident, monitor: Monitor, visit: Visit) -> _Surroundings:
    """Measure and draw the response times around an incident, with maintenance and incidents shaded."""
    start, end = incident.started_at - AROUND, min(_end_of_chart(incident), visit.now)
    windows = await measure_closely(monitor, start, end, visit.now)
    axis = axis_of_minutes(windows) if windows else HOURS
    if not windows:
        start = incident.started_at - HOURS_BEFORE
        hours = Range(start, min(start + SHOWN, visit.now), "hour")
        windows = (await measure_response_times(monitor.id, hours, visit.now)).summaries
        end = hours.end
    happened = {
        "maintenance": await read_spans(monitor.id, start, end),
        "incident": await read_incident_spans(monitor.id, start, end),
    }
    return _Surroundings(draw_chart(windows, axis, visit.zone, happened), windows, axis)


def _end_of_chart(incident: Incident) -> datetime:
    latest = incident.started_at - AROUND + SHOWN
    return min(incident.resolved_at + AROUND, latest) if incident.resolved_at else latest


async def acknowledge(visit: Visit) -> Response:
    """Acknowledge the incident, and redirect to the page whose button was pressed.

    A second acknowledgement changes nothing.
    """
    incident_id = visit.read_id("incident_id")
    incident, delivery_ids = await responding.acknowledge(visit.team.id, incident_id, visit.actor)
    await nudge(delivery_ids)
    notice = "incident_acknowledged"
    match visit.query.get("back"):
        case "incidents":
            return visit.redirect("/incidents", notice, state=visit.query.get("state"))
        case "monitor":
            return visit.redirect(f"/monitors/{incident.monitor_id}", notice)
        case "monitors":
            return visit.redirect("/monitors", notice, **read_view(visit.query, "").place)
        case _:
            return visit.redirect(f"/incidents/{incident_id}", notice)


async def tell_now(visit: Visit) -> Response:
    """Send an incident's alert now if nobody has been notified of the incident. Idempotent."""
    incident_id = visit.read_id("incident_id")
    told = await responding.tell_now(visit.team.id, incident_id, visit.actor)
    await nudge(told)
    return visit.redirect(f"/incidents/{incident_id}", "incident_told" if told else None)


async def show_note_form(visit: Visit) -> Response:
    """Show the form for a note on a page of its own.

    A browser requests this page when the user's note was refused and the user reloads the page.
    """
    incident = await service.get_incident(visit.team.id, visit.read_id("incident_id"))
    return await _render_note(visit, incident, str(uuid4()))


async def write_note(visit: Visit) -> Response:
    """Add a note. Resubmitting the same form adds no second note."""
    incident = await service.get_incident(visit.team.id, visit.read_id("incident_id"))
    form = await visit.read_form()
    form_id = str(read_form_id(form.get("form_id", "")))
    given = {"text": form.get("text", "").strip()}
    try:
        judge_note()(given)

        async def write() -> Reply:
            note = await responding.write_note(visit.team.id, incident.id, visit.actor, given["text"])
            return Reply(represent_note(note), 201)

        request = ("app", "write_note", str(incident.id), given)
        await act_once(visit.team.id, f"app-{form_id}", request, write)
    except Problem as problem:
        reply = visit.catalogue.respond(problem.name, problem.headers, problem.values)
        words, status = (
            reply.body["error"].removeprefix("text: "),
            visit.catalogue.templates[problem.name].status,
        )
        error = capitalize(words)
        if problem.name == "idempotency_key_reused":
            # This form's id was already used for a note with different text. A new id allows a second note.
            error, form_id = REFUSALS["note_form_spent"], str(uuid4())
        return await _render_note(visit, incident, form_id, given["text"], error, status)
    return visit.redirect(f"/incidents/{incident.id}", notice="note_written")


@cache
def judge_note() -> Check:
    """Return the schema validator for a note."""
    return document_rules().request_check({"$ref": "#/components/schemas/IncidentNoteCreate"}, "form")


async def _render_note(  # noqa: PLR0913, PLR0917 - what the form shows
    visit: Visit, incident: Incident, form_id: str, text: str = "", error: str = "", status: int = 200
) -> Response:
    monitor = await Monitor.get_or_none(id=incident.monitor_id, team_id=visit.team.id)
    context = {"incident": incident, "monitor": monitor, "form_id": form_id, "text": text, "error": error}
    return visit.render("incidents/note.html", status, **context)


def _choose_form_id(visit: Visit, incident_id: UUID, notes: Sequence[IncidentNote]) -> UUID:
    """Return the id of the note form. The id changes only when a note is added.

    A new id for each rendering would make a live page update when nothing has changed.
    """
    newest = notes[0].id if notes else ""
    return uuid5(incident_id, f"{visit.user.id} {newest}")


ROUTES = (
    for_members("/incidents", get=live(_name_sources_of_list, show_incidents)),
    for_members("/incidents/{incident_id}", get=live(_name_sources, show_incident)),
    for_members("/incidents/{incident_id}/acknowledge", post=acknowledge),
    for_members("/incidents/{incident_id}/tell", post=tell_now),
    for_members("/incidents/{incident_id}/notes", get=show_note_form, post=write_note),
)
