"""A form that is wrong is answered by a redirect to a page that says so.

A browser that goes back can ask for a page again, but not for the answer to a form: without script it shows
an error of its own (ERR_CACHE_MISS).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import UUID

from starlette.responses import Response

from monitoring.app.rendering import PAGE_HEADERS
from monitoring.backends.errors import BackendUnavailable
from monitoring.members.kept_answers import Answer, find_answer, keep_answer

if TYPE_CHECKING:
    from monitoring.app.visits import Visit

_NAME = "answer"  # of the part of an address that tells which answer is meant


async def lead_to(answer: Response, visit: Visit) -> Response:
    """Keep the answer to a form and send the browser there, if it is one to come back to."""
    place = visit.place_of_answer
    if place is None or visit.session is None:
        return answer
    with suppress(BackendUnavailable):
        page = bytes(answer.body).decode()
        if answer_id := await keep_answer(visit.session.id, Answer(answer.status_code, page)):
            address = f"{place}{'&' if '?' in place else '?'}{_NAME}={answer_id}"
            return Response(status_code=303, headers=PAGE_HEADERS | {"Location": address})
    return answer


async def come_back(visit: Visit) -> Response | None:
    """Return the answer that the address names; None if it names none, or one that is no longer kept."""
    named = visit.query.get(_NAME)
    if named is None or visit.session is None:
        return None
    with suppress(ValueError):
        if kept := await find_answer(visit.session.id, UUID(named)):
            return Response(kept.page, kept.status, PAGE_HEADERS, "text/html")
    return None
