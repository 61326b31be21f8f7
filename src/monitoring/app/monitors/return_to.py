"""Returns users to the monitor list that they came from, after they delete a monitor on its own page."""

from __future__ import annotations

from urllib.parse import urlsplit
from uuid import UUID

from starlette.datastructures import QueryParams
from starlette.responses import Response

from monitoring.app import cookies
from monitoring.app.monitors.list_view import read_view
from monitoring.app.rendering import write_query
from monitoring.app.visits import Visit

# A longer query is not stored, because browsers limit cookies to 4,096 bytes.
MAX_QUERY_CHARACTERS = 2000


def remember_list(visit: Visit, page: Response, monitor_id: UUID) -> None:
    """Store the list's query in a cookie of `page` if the monitor's page was opened from the list.

    The updates of a live page set no cookie, because the same update is sent to several users.
    """
    came_from = urlsplit(visit.request.headers.get("referer", ""))
    if visit.is_followed or not visit.may_change or came_from.path != visit.locate("/monitors"):
        return
    place = read_view(QueryParams(came_from.query), "").place
    query = write_query(place)
    if len(query) <= MAX_QUERY_CHARACTERS:
        cookies.set_list(page, query, visit.settings, monitor_id)


def return_to_list(visit: Visit, monitor_id: UUID) -> Response:
    """Redirect to the list from which the monitor was opened, with its filter, order and page."""
    query = cookies.read_list(visit.request, visit.settings, monitor_id)
    return visit.redirect("/monitors", notice=None, **read_view(QueryParams(query), "").place)
