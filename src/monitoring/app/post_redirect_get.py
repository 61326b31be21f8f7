"""Responds to an invalid form with a redirect to the page that shows its errors (post, redirect, get).

A browser's Back button can reload a page, but not the response to a POST. Unless a script has replaced the
URL, the browser shows its own error (ERR_CACHE_MISS). For signed-in users, the page with the form's errors is
stored in the database. Anonymous visitors must not fill the database, so their page is stored in an encrypted
cookie.
"""

from __future__ import annotations

from base64 import b85decode, b85encode
from contextlib import suppress
from uuid import UUID, uuid4
from zlib import compress, decompress

from starlette.responses import Response

from monitoring.app import cookies
from monitoring.app.rendering import PAGE_HEADERS
from monitoring.app.visits import Visit
from monitoring.backends.encryption import UndecryptableError, decrypt, encrypt, is_encrypted
from monitoring.backends.errors import BackendUnavailable
from monitoring.members.kept_answers import Answer, find_answer, keep_answer

_ANSWER = "answer"  # the query parameter with the stored response's id

# Proxies accept only a few kilobytes of headers. If a page needs a longer cookie than this, the page is
# returned without a redirect.
_MAX_COOKIE_CHARACTERS = 2500

# The URL of a page for anonymous visitors may contain a token, so it must not be sent as a referrer.
_STRANGERS_HEADERS = PAGE_HEADERS | {"Referrer-Policy": "no-referrer"}


async def redirect_to_kept(answer: Response, visit: Visit) -> Response:
    """Store the response to a form, and return a redirect to it.

    A response that should not or cannot be stored is returned unchanged.
    """
    place = visit.kept_answer_path
    if place is None:
        return answer
    kept, cookie = Answer(answer.status_code, bytes(answer.body).decode()), ""
    answer_id: UUID | None = None
    if visit.session:
        with suppress(BackendUnavailable):
            answer_id = await keep_answer(visit.session.id, kept)
    else:
        answer_id = uuid4()
        cookie = _write_cookie(visit, answer_id, kept)
    if answer_id is None or len(cookie) > _MAX_COOKIE_CHARACTERS:
        return answer
    address = f"{place}{'&' if '?' in place else '?'}{_ANSWER}={answer_id}"
    headers = PAGE_HEADERS | {"Location": address}
    response = Response(status_code=303, headers=headers, background=answer.background)
    if cookie:
        cookies.set_answer(response, cookie, visit.settings)
    return response


async def find_kept(visit: Visit) -> Response | None:
    """Return the stored response whose id is in the query.

    Returns None if the query has no id, or the response is no longer stored.
    """
    named = visit.query.get(_ANSWER)
    if named is None:
        return None
    if visit.session is None:
        kept = _read_cookie(visit, named)
        return Response(kept.page, kept.status, _STRANGERS_HEADERS, "text/html") if kept else None
    with suppress(ValueError):
        if kept := await find_answer(visit.session.id, UUID(named)):
            return Response(kept.page, kept.status, PAGE_HEADERS, "text/html")
    return None


def _write_cookie(visit: Visit, answer_id: UUID, kept: Answer) -> str:
    page = b85encode(compress(kept.page.encode(), 9)).decode()
    return encrypt(" ".join((*_name(visit, str(answer_id)), str(kept.status), page)))


def _read_cookie(visit: Visit, named: str) -> Answer | None:
    """Return the response in the cookie; None unless it was stored for this browser with the id `named`."""
    cookie = cookies.read_answer(visit.request, visit.settings)
    if not is_encrypted(cookie):
        return None
    with suppress(UndecryptableError):
        token, answer_id, status, page = decrypt(cookie).split(" ")
        if (token, answer_id) == _name(visit, named):
            return Answer(int(status), decompress(b85decode(page)).decode())
    return None


def _name(visit: Visit, answer_id: str) -> tuple[str, str]:
    """Return what identifies a stored response: the browser's CSRF token and the response's id.

    The form in the response contains the CSRF token. Once the browser's token changes, the form is invalid.
    """
    return cookies.csrf_token_of(cookies.read_token(visit.request, visit.settings) or ""), answer_id
