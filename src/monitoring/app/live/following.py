"""Live pages: a script keeps a request open, and the server sends the page again when its data changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from http import HTTPStatus
from time import perf_counter
from typing import TypeAlias

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from monitoring.app.cookies import read_density
from monitoring.app.live.changes import Fingerprints
from monitoring.app.live.fingerprints import Shown, Source
from monitoring.app.rendering import KEPT_SECONDS, LIVE_POLICY, PAGE_HEADERS
from monitoring.app.routing import Handler
from monitoring.app.visits import FOLLOWED_MEDIA_TYPE, Visit
from monitoring.backends.errors import BackendUnavailable
from monitoring.contract.problems import Problem
from monitoring.web.replies import notes_of

Sources: TypeAlias = Callable[[Visit], Awaitable[Sequence[Shown]]]
SendLine: TypeAlias = Callable[[bytes], Awaitable[None]]

log = logging.getLogger(__name__)

# After this time, the response ends, and the script reconnects. Reconnecting updates values that change with
# time alone, such as uptime, and the time when the session was last seen.
FOLLOWED_SECONDS = 300.0

# A proxy that buffers a response until it is complete would delay updates for minutes. This header turns
# buffering off in NGINX.
_HEADERS = PAGE_HEADERS | {"X-Accel-Buffering": "no"}

_SIGN_OF_LIFE = b"\n"


def live(sources: Sources, show: Handler) -> Handler:
    """Return a handler that serves a page from `show` as a live page.

    The page is updated when one of the sources that `sources` returns changes.
    """

    async def serve(visit: Visit) -> Response:
        if visit.is_glance:
            return await _Following(visit, sources, show).glance()
        if visit.is_followed:
            return await _Following(visit, sources, show).begin()
        page = await show(visit)
        page.headers["Content-Security-Policy"] = LIVE_POLICY
        return page

    return serve


class _Following:
    """A live page's request for updates, sent by its script."""

    def __init__(self, visit: Visit, sources: Sources, show: Handler) -> None:
        self._visit = visit
        self._sources = sources
        self._show = show
        self._changes = visit.site.changes
        team_id, role = visit.team.id, visit.standing.role
        look = (visit.zone.key, read_density(visit.request, visit.settings), visit.is_glance)
        self._seen = (team_id, role, look, visit.path, str(visit.query))

    async def begin(self) -> Response:
        """Return a streamed response, whose first line is the current page and each further line an update.

        If the current page is an error page, that page is returned instead.
        """
        shown = tuple(await self._sources(self._visit))
        fingerprints = await self._changes.read_fingerprints(shown)
        with ExitStack() as begun:
            session_id = self._visit.standing.session_id
            begun.enter_context(self._visit.site.turns.follow(session_id, int(FOLLOWED_SECONDS)))
            first = await self._render(fingerprints)
            if first.status_code != HTTPStatus.OK:
                return first
            return _Lines(
                lambda send: self._send_changes(send, shown, fingerprints, first), begun.pop_all().close
            )

    async def glance(self) -> Response:
        """Return one line for a hidden page, of which users see only the title and icon.

        These change only when the team's monitors or incidents change. The line is rendered once for each
        such change, so a hidden page costs little.
        """
        shown = tuple(each for each in await self._sources(self._visit) if each.source is Source.TEAM)
        fingerprints = await self._changes.read_fingerprints(shown)
        return await self._render(fingerprints, FOLLOWED_SECONDS)

    async def _send_changes(
        self, send: SendLine, shown: tuple[Shown, ...], fingerprints: Fingerprints, first: Response
    ) -> None:
        """Send each new state of the page, until its script has to reconnect."""
        await send(bytes(first.body))
        standing = self._visit.standing
        while (found := await self._changes.wait(shown, fingerprints, standing)) is not None:
            if found == fingerprints:
                await send(_SIGN_OF_LIFE)
                continue
            fingerprints = found
            async with self._visit.take_turn():
                line = await self._render(fingerprints)
            if line.status_code != HTTPStatus.OK:
                return
            await send(bytes(line.body))

    async def _render(self, fingerprints: Fingerprints, kept_seconds: float = KEPT_SECONDS) -> Response:
        """Render the page as one line, or return a cached rendering.

        Team members with the same role, URL, time zone and list density share a rendering.
        """
        key = (fingerprints, self._seen)
        return await self._visit.site.rendered_pages.render(key, self._render_now, kept_seconds)

    async def _render_now(self) -> Response:
        self._visit.now = datetime.now(UTC)
        page = await self._show(self._visit)
        if page.status_code != HTTPStatus.OK:
            return page
        line = orjson.dumps(bytes(page.body).decode()) + b"\n"
        return Response(line, headers=_HEADERS, media_type=FOLLOWED_MEDIA_TYPE)


class _Lines(Response):
    """A streamed response, to which `send_changes` sends lines.

    The response ends after `FOLLOWED_SECONDS` or when the client disconnects, and then calls `leave`.
    """

    def __init__(
        self, send_changes: Callable[[SendLine], Awaitable[None]], leave: Callable[[], None]
    ) -> None:
        super().__init__(headers=_HEADERS, media_type=FOLLOWED_MEDIA_TYPE)
        del self.headers["Content-Length"]
        self._send_changes = send_changes
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response until it ends, and record for the telemetry how long it was open."""
        began = perf_counter()
        try:
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            await self._send_until_gone(receive, send)
        finally:
            self._leave()
            notes_of(scope).held_seconds = perf_counter() - began
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_until_gone(self, receive: Receive, send: Send) -> None:
        async def send_line(line: bytes) -> None:
            await send({"type": "http.response.body", "body": line, "more_body": True})

        sending = asyncio.ensure_future(self._send_changes(send_line))
        leaving = asyncio.ensure_future(_wait_until_gone(receive))
        try:
            await asyncio.wait(
                (sending, leaving), timeout=FOLLOWED_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            sending.cancel()
            leaving.cancel()
        with suppress(asyncio.CancelledError):
            await _end(sending)


async def _end(sending: asyncio.Future[None]) -> None:
    """Wait for the end of a stream. Suppress its error, because the script gets it when it reconnects."""
    try:
        await sending
    except (Problem, BackendUnavailable):
        pass
    except Exception:
        log.exception("an open page could not be updated")


async def _wait_until_gone(receive: Receive) -> None:
    """Wait until the client disconnects or cancels the request."""
    with suppress(Problem):  # a body that is too large
        while (await receive())["type"] != "http.disconnect":
            pass
