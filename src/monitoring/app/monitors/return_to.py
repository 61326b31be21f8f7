"""Which list of monitors to return to after a monitor was deleted on its own page."""

from __future__ import annotations

from urllib.parse import urlsplit
from uuid import UUID

from starlette.datastructures import QueryParams
from starlette.responses import Response

from monitoring.app import cookies
from monitoring.app.monitors.list_view import read_view
from monitoring.app.rendering import write_query
from monitoring.app.visits import Visit

# A longer query is forgotten: browsers keep cookies of 4,096 bytes.
MAX_QUERY_CHARACTERS = 2000


def remember_list(visit: Visit, page: Response, monitor_id: UUID) -> None:
    """Remember the list in a cookie if a link there led to this page of a monitor.

    The answer to a script that follows a page is sent to others too, so nothing is remembered for it.
    """
    came_from = urlsplit(visit.request.headers.get("referer", ""))
    if visit.is_followed or not visit.may_change or came_from.path != visit.locate("/monitors"):
        return
    place = read_view(QueryParams(came_from.query), "").place
    query = write_query(place)
    if len(query) <= MAX_QUERY_CHARACTERS:
        cookies.set_list(page, query, visit.settings, monitor_id)


def return_to_list(visit: Visit, monitor_id: UUID) -> Response:
    """Redirect to the list that led to the monitor, as it was filtered, ordered and paged."""
    query = cookies.read_list(visit.request, visit.settings, monitor_id)
    return visit.redirect("/monitors", notice=None, **read_view(QueryParams(query), "").place)
