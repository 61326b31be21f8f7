"""A monitor's page: state, uptime, response times, checks, incidents and configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import dropwhile
from typing import NamedTuple

from starlette.responses import Response

from monitoring.app.live.fingerprints import Shown, Source
from monitoring.app.live.following import live
from monitoring.app.monitors.assertion_lines import write_assertion
from monitoring.app.monitors.chart_axes import HOURS, Axis, axis_of_minutes
from monitoring.app.monitors.charts import draw_days
from monitoring.app.monitors.form import flatten, labels_of
from monitoring.app.monitors.labels import ERRORS, HEARTBEAT_STATUSES, PINGS, STATUSES, UNANSWERED
from monitoring.app.monitors.mute_lengths import MUTE_LENGTHS
from monitoring.app.monitors.response_chart import PHASES, draw_chart, draw_phases
from monitoring.app.monitors.return_to import remember_list
from monitoring.app.monitors.status_summary import name_responders
from monitoring.app.monitors.type_forms import TYPE_FORMS
from monitoring.app.routing import for_members
from monitoring.app.visits import Visit
from monitoring.backends.encryption import UndecryptableError
from monitoring.contract.document import Json
from monitoring.history.close_up import measure_closely
from monitoring.history.models import CheckResult
from monitoring.history.queries import list_results
from monitoring.history.ranges import Range, WindowName
from monitoring.history.response_times import measure_response_times
from monitoring.history.uptime import measure_uptime
from monitoring.incidents.models import Incident
from monitoring.incidents.service import list_incidents
from monitoring.incidents.spans import read_incident_spans
from monitoring.members.service import name_members
from monitoring.monitors import service
from monitoring.monitors.configuration import configuration_of
from monitoring.monitors.deleting import find_deletion
from monitoring.monitors.health import Outcome
from monitoring.monitors.heartbeats.service import list_pings
from monitoring.monitors.heartbeats.tokens import find_heartbeat, ping_url_of
from monitoring.monitors.maintenance.reading import is_within, read_spans
from monitoring.monitors.models import HEARTBEAT, Monitor
from monitoring.notifications.alert_coverage import find_alerted_channels
from monitoring.notifications.muting import find_mute

CHECKS_SHOWN = 20
PINGS_SHOWN = 20
INCIDENTS_SHOWN = 10
DAYS_SHOWN = 90  # includes today, so the oldest of the 91 UTC days in the 90-day range is left out

UPTIME_RANGES = {
    "24 hours": timedelta(hours=24),
    "7 days": timedelta(days=7),
    "30 days": timedelta(days=30),
    "90 days": timedelta(days=90),
}


class Period(NamedTuple):
    """A period that the response time chart can show: its length, window size and axis."""

    title: str
    length: timedelta
    window: WindowName
    axis: Axis


_DAY = timedelta(days=1)

PERIODS = {
    "24h": Period("24 hours", _DAY, "hour", HOURS),
    "7d": Period("7 days", 7 * _DAY, "hour", Axis("hour", 2 * _DAY, "%-d %b", "%-d %b, %H:%M")),
    "30d": Period("30 days", 30 * _DAY, "day", Axis("day", 7 * _DAY, "%-d %b", "%-d %b")),
    "90d": Period("90 days", 90 * _DAY, "day", Axis("day", 21 * _DAY, "%-d %b", "%-d %b")),
}


def period_of(visit: Visit) -> Period:
    """Return the period that the query's `range` names; 24 hours if it names none."""
    return PERIODS.get(visit.query.get("range", ""), PERIODS["24h"])


async def show_monitor(visit: Visit) -> Response:
    """Show a monitor: its state, uptime, response times, last checks, incidents and configuration."""
    now = visit.now
    monitor = await service.get_monitor(visit.team.id, visit.read_id("monitor_id"))
    checks = await list_results(monitor.id, limit=CHECKS_SHOWN)
    measured = {
        title: await measure_uptime(monitor, Range(now - length, now, "day"))
        for title, length in UPTIME_RANGES.items()
    }
    uptimes = {
        title: (UPTIME_RANGES[title].total_seconds(), uptime.whole[1]) for title, uptime in measured.items()
    }
    mute = await find_mute(monitor.id, now)
    period = period_of(visit)
    drawn = Range(now - period.length, now, period.window)
    response_times = await measure_response_times(monitor.id, drawn, now)
    windows = response_times.summaries
    close_up = (
        await measure_closely(monitor, max(drawn.start, monitor.created_at), now, now)
        if period.length == _DAY
        else []
    )
    incident_page = await list_incidents(visit.team.id, monitor.id, None, INCIDENTS_SHOWN, None)
    since = min(drawn.start, *(check.checked_at for check in checks), now)
    spans = await read_spans(monitor.id, since, now)
    happened = {
        "maintenance": spans,
        "incident": await read_incident_spans(monitor.id, drawn.start, drawn.end),
    }
    axis = axis_of_minutes(close_up) if close_up else period.axis
    drawing = (close_up or windows, axis, visit.zone, happened)
    page = visit.render(
        "monitors/monitor.html",
        monitor=monitor,
        configuration=_show_configuration(monitor),
        labels=labels_of(monitor.type),
        type_form=TYPE_FORMS[monitor.type],
        status_words=(HEARTBEAT_STATUSES if monitor.type == HEARTBEAT else STATUSES)[monitor.status],
        ping_url=await _read_ping_url(monitor),
        pings=(await list_pings(visit.team.id, monitor.id, PINGS_SHOWN, None)).rows,
        ping_words=PINGS,
        status_since=_date_status(monitor, incident_page.rows),
        last_error=_explain_last_error(monitor, checks),
        checks=checks,
        error_words=ERRORS,
        uptimes=uptimes,
        days=draw_days(measured["90 days"].windows[-DAYS_SHOWN:]),
        unanswered=UNANSWERED,
        windows=windows,
        checked_windows=list(dropwhile(lambda each: not each[1].check_count, windows)),
        periods=PERIODS,
        period=period,
        chart=draw_chart(*drawing),
        phase_chart=draw_phases(*drawing),
        phases=PHASES,
        checked_in_maintenance={each.checked_at for each in checks if is_within(spans, each.checked_at)},
        incidents=incident_page.rows,
        open_incident=next((each for each in incident_page.rows if not each.resolved_at), None),
        responders=await name_responders(visit.team.id, incident_page.rows),
        answered=next((each for each in incident_page.rows if each.answer), None),
        told=await find_alerted_channels(visit.team.id, monitor.id),
        mute=mute,
        names=await name_members(visit.team.id, {mute.muted_by or ""}) if mute else {},
        mute_lengths=MUTE_LENGTHS,
        deletion=await find_deletion(monitor.id),
    )
    remember_list(visit, page, monitor.id)
    return page


def _show_configuration(monitor: Monitor) -> Mapping[str, Json]:
    """Return the configuration for display: assertions as lines, and a certificate authority as "set"."""
    return {
        **flatten(configuration_of(monitor)),
        "assertions": "\n".join(map(write_assertion, monitor.assertions)) or None,
        "certificate_authority": "set" if monitor.certificate_authority else None,
    }


async def _read_ping_url(monitor: Monitor) -> str | None:
    """Return a heartbeat's ping URL; None for other monitors, or if no encryption key decrypts it."""
    with suppress(UndecryptableError):
        heartbeat = await find_heartbeat(monitor)
        return ping_url_of(heartbeat.encrypted_token) if heartbeat else None
    return None


def _date_status(monitor: Monitor, incidents: Sequence[Incident]) -> datetime:
    """Return when the monitor's current status began. Downtime begins with the first failed check."""
    if monitor.status == Outcome.DOWN and incidents and not incidents[0].resolved_at:
        return incidents[0].started_at
    return monitor.status_changed_at


def _explain_last_error(monitor: Monitor, checks: Sequence[CheckResult]) -> str | None:
    """Return the last check's error message, or else its error code's label; None if it had no error."""
    if monitor.check_state.last_error is None:
        return None
    message = checks[0].error_message if checks else None
    return message or ERRORS[monitor.check_state.last_error]


async def _name_sources(visit: Visit) -> list[Shown]:
    of_team = [Shown(source, visit.team.id) for source in (Source.TEAM, Source.CHANNELS)]
    return [*of_team, Shown(Source.MONITOR, visit.read_id("monitor_id"))]


ROUTES = (for_members("/monitors/{monitor_id}", get=live(_name_sources, show_monitor)),)
