"""The incidents of a team."""

from __future__ import annotations

from starlette.responses import Response

from monitoring.app.incidents import pages as incident
from monitoring.app.live.following import live
from monitoring.app.live.marks import Shown, Source
from monitoring.app.monitors.labels import ERRORS
from monitoring.app.monitors.summary import name_takers, read_news
from monitoring.app.routing import for_members
from monitoring.app.visits import Visit
from monitoring.contract.cursors import encode_cursor
from monitoring.incidents.models import IncidentState
from monitoring.incidents.service import list_incidents
from monitoring.monitors.service import name_monitors

INCIDENTS_A_PAGE = 50


async def show_incidents(visit: Visit) -> Response:
    """List the team's incidents, newest first; `?state=open` leaves out the resolved ones."""
    sought = visit.query.get("state", "")
    state = sought if sought in set(IncidentState) else None
    page = await list_incidents(visit.team.id, None, state, INCIDENTS_A_PAGE, visit.after_id)
    return visit.render(
        "incidents/list.html",
        incidents=page.rows,
        names=await name_monitors(visit.team.id, {each.monitor_id for each in page.rows}),
        takers=await name_takers(visit.team.id, page.rows),
        error_words=ERRORS,
        state=state,
        news=await read_news(visit.team.id),
        next_cursor=encode_cursor(page.continues_after) if page.continues_after else None,
    )


async def _name_sources(visit: Visit) -> list[Shown]:
    return [Shown(Source.TEAM, visit.team.id)]


ROUTES = (for_members("/incidents", get=live(_name_sources, show_incidents)), *incident.ROUTES)
