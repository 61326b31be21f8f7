"""Pages that renew themselves: the script of one follows it, and is sent what it has become, line by line."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Hashable, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from http import HTTPStatus
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from monitoring.app.cookies import read_density
from monitoring.app.live.changes import Marks
from monitoring.app.live.marks import Shown, Source
from monitoring.app.rendering import LIVE_POLICY, PAGE_HEADERS
from monitoring.app.routing import Handler
from monitoring.app.visits import FOLLOWED_MEDIA_TYPE, Visit
from monitoring.backends.errors import BackendUnavailable
from monitoring.contract.problems import Problem
from monitoring.contract.replies import notes_of

if TYPE_CHECKING:
    from monitoring.app.application import App

Sources: TypeAlias = Callable[[Visit], Awaitable[Sequence[Shown]]]

T = TypeVar("T")

log = logging.getLogger(__name__)

# Then the script asks anew. So it gets what moves with time alone, such as uptime, and the session is seen.
FOLLOWED_SECONDS = 300.0

# Pages are told of a change within the same look, or within the next ones.
KEPT_SECONDS = 3.0

# What changed and changed back between two looks has the same mark, so nothing is remembered for ever.
REMEMBERED_SECONDS = 60.0
MAX_REMEMBERED = 1000

# Proxies that keep an answer until it is whole would keep it for minutes. NGINX reads this.
_HEADERS = PAGE_HEADERS | {"X-Accel-Buffering": "no"}

_SIGN_OF_LIFE = b"\n"


class Rendered(NamedTuple):
    """A page without anything of a person, and the line that tells it."""

    page: Response
    line: bytes


class Renderings:
    """Pages as they are now. One rendering serves all who may see the same."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Rendered]] = {}

    async def render(
        self, key: Hashable, render: Callable[[], Awaitable[Response]], kept_seconds: float = KEPT_SECONDS
    ) -> Rendered:
        """Render, unless somebody else does or just did. The key names all that the page depends on."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(_write(render))
            asyncio.get_running_loop().call_later(kept_seconds, self._tasks.pop, key)
        return await asyncio.shield(task)  # whoever began it may leave


class Readings:
    """What followed pages have read. Its key has the marks of all that it depends on."""

    def __init__(self) -> None:
        self._read: dict[Hashable, Any] = {}

    async def recall_or_read(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """Read, unless it was read under the same key."""
        if key in self._read:
            found: T = self._read[key]
        else:
            found = await read()
            if len(self._read) >= MAX_REMEMBERED:
                self._read.clear()
            self._read[key] = found
            asyncio.get_running_loop().call_later(REMEMBERED_SECONDS, self._read.pop, key, None)
        return found


async def read_once(
    visit: Visit, sources: Collection[Source], read: Callable[..., Awaitable[T]], *arguments: Hashable
) -> T:
    """Call `read`. For followed pages, do so once for each change of these sources of the team.

    Nothing else may change what it returns. What moves with time alone may be a minute old. The page names
    the sources among those that it shows.
    """
    if not visit.marks:
        return await read(*arguments)
    app: App = visit.request.app
    marks = tuple(visit.marks[Shown(source, visit.team.id)] for source in sources)
    return await app.readings.recall_or_read(
        (visit.team.id, marks, read, arguments), lambda: read(*arguments)
    )


async def _write(render: Callable[[], Awaitable[Response]]) -> Rendered:
    page = await render()
    return Rendered(page, orjson.dumps(bytes(page.body).decode()) + b"\n")


def live(sources: Sources, show: Handler) -> Handler:
    """Make the handler of a page that renews itself when something of its sources changes."""

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
    """A page that a script follows."""

    def __init__(self, visit: Visit, sources: Sources, show: Handler) -> None:
        self._visit = visit
        self._sources = sources
        self._show = show
        self._app: App = visit.request.app
        _, team_id, role = visit.standing
        look = (visit.zone.key, read_density(visit.request, visit.settings), visit.is_glance)
        self._seen = (team_id, role, look, visit.path, str(visit.query))

    async def begin(self) -> Response:
        """Answer with lines, of which the first is the page as it is. An error is answered as it is."""
        shown = tuple(await self._sources(self._visit))
        marks = await self._app.changes.read_marks(shown)
        with ExitStack() as begun:
            begun.enter_context(
                self._app.turns.follow(self._visit.standing.session_id, int(FOLLOWED_SECONDS))
            )
            first = await self._render_at(shown, marks)
            if first.page.status_code != HTTPStatus.OK:
                return first.page
            return _Lines(lambda send: self._tell(send, shown, marks, first), begun.pop_all().close)

    async def glance(self) -> Response:
        """Answer with the title and the icon. They change only with the team's monitors and incidents.

        They are read rarely and rendered once for each change, so that a page in the background costs
        next to nothing.
        """
        shown = tuple(each for each in await self._sources(self._visit) if each.source is Source.TEAM)
        marks = await self._app.changes.read_marks(shown)
        rendered = await self._render(marks, FOLLOWED_SECONDS)
        if rendered.page.status_code != HTTPStatus.OK:
            return rendered.page
        return Response(rendered.line, headers=_HEADERS, media_type=FOLLOWED_MEDIA_TYPE)

    async def _tell(
        self,
        send: Callable[[bytes], Awaitable[None]],
        shown: tuple[Shown, ...],
        marks: Marks,
        first: Rendered,
    ) -> None:
        """Tell what the page has become, until its script is to ask anew."""
        await send(first.line)
        standing = self._visit.standing
        while (moved := await self._app.changes.wait(shown, marks, standing)) is not None:
            if moved == marks:
                await send(_SIGN_OF_LIFE)
                continue
            marks = moved
            async with self._visit.take_turn():
                rendered = await self._render_at(shown, marks)
            if rendered.page.status_code != HTTPStatus.OK:
                return
            await send(rendered.line)

    async def _render_at(self, shown: tuple[Shown, ...], marks: Marks) -> Rendered:
        """Render a page that may read things once for these marks."""
        self._visit.marks = dict(zip(shown, marks, strict=True))
        return await self._render(marks)

    async def _render(self, marks: Marks, kept_seconds: float = KEPT_SECONDS) -> Rendered:
        """Render for all of the team who look at the same address in the same way."""
        return await self._app.renderings.render((marks, self._seen), self._render_now, kept_seconds)

    async def _render_now(self) -> Response:
        self._visit.now = datetime.now(UTC)
        return await self._show(self._visit)


class _Lines(Response):
    """An answer of lines, which end after a while, or when the browser leaves. Then it calls `leave`."""

    def __init__(
        self, tell: Callable[[Callable[[bytes], Awaitable[None]]], Awaitable[None]], leave: Callable[[], None]
    ) -> None:
        super().__init__(headers=_HEADERS, media_type=FOLLOWED_MEDIA_TYPE)
        del self.headers["Content-Length"]
        self._tell = tell
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve."""
        began = perf_counter()
        try:
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            await self._tell_until_gone(receive, send)
        finally:
            self._leave()
            notes_of(scope).held_seconds = perf_counter() - began
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _tell_until_gone(self, receive: Receive, send: Send) -> None:
        async def send_line(line: bytes) -> None:
            await send({"type": "http.response.body", "body": line, "more_body": True})

        telling = asyncio.ensure_future(self._tell(send_line))
        leaving = asyncio.ensure_future(_wait_until_gone(receive))
        try:
            await asyncio.wait(
                (telling, leaving), timeout=FOLLOWED_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            telling.cancel()
            leaving.cancel()
        with suppress(asyncio.CancelledError):
            await _end(telling)


async def _end(telling: asyncio.Future[None]) -> None:
    """Let the lines end without an error. The script asks anew, and is then told."""
    try:
        await telling
    except (Problem, BackendUnavailable):
        pass
    except Exception:
        log.exception("a page could not be renewed")


async def _wait_until_gone(receive: Receive) -> None:
    """Wait until the browser has closed the connection, or given up this request."""
    with suppress(Problem):  # a body that is too large
        while (await receive())["type"] != "http.disconnect":
            pass
