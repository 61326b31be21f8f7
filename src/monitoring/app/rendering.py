"""Template rendering: URLs, assets, page headers, and a cache of rendered pages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import Response

from monitoring.app.formatting import FILTERS
from monitoring.app.worlds import place_in_world
from monitoring.app.zones import writing_in
from monitoring.members.refusals import MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS
from monitoring.settings import Settings

ROOT = "/app"

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Allows only the service's own assets: no inline code, nothing from other hosts, and no framing."""

LIVE_POLICY = f"{CONTENT_SECURITY_POLICY}; connect-src 'self'"
"""The policy of live pages, whose script requests the page again when something changed."""

PAGE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "X-Frame-Options": "DENY",
}

# A change reaches all open copies of a live page with the same database poll or one of the next few. A
# rendering is kept for this time, so that all these copies can share it.
KEPT_SECONDS = 3.0

_MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def write_query(values: Mapping[str, str | int | None]) -> str:
    """Return a URL's query string, without the question mark. Values that are None or empty are left out."""
    return urlencode({name: value for name, value in values.items() if value not in (None, "")})


class Pages:
    """Renders the app's templates and serves its assets. Links begin with the path of the public URL."""

    def __init__(self, settings: Settings) -> None:
        self._prefix = urlsplit(settings.base_url).path
        self._assets = {asset.name: asset.read_bytes() for asset in (files(__package__) / "assets").iterdir()}
        self._environment = Environment(
            loader=PackageLoader(__package__, ""),
            autoescape=True,
            auto_reload=False,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= FILTERS
        self._environment.globals |= {
            "asset": self.locate_asset,
            "base_url": settings.base_url,
            "max_password_characters": MAX_PASSWORD_CHARACTERS,
            "min_password_characters": MIN_PASSWORD_CHARACTERS,
            "reference": f"{self._prefix}/docs",
            "url": self.locate,
        }

    def locate(self, path: str, **query: str | int | None) -> str:
        """Return a page's URL in the environment that is shown (live or sandbox).

        Query values that are None or empty are left out.
        """
        written = write_query(query)
        return f"{self._prefix}{ROOT}{place_in_world(path)}" + (f"?{written}" if written else "")

    def locate_asset(self, name: str) -> str:
        """Return an asset's URL, which changes with the asset's content."""
        return self.locate(f"/assets/{name}", v=_version_of(self._assets[name]))

    def render(self, template: str, status: int, context: Mapping[str, Any]) -> Response:
        """Render a page, with times in the visit's time zone."""
        with writing_in(context["visit"].zone):
            content = self._environment.get_template(template).render(context)
        return Response(content, status, PAGE_HEADERS, "text/html")

    def redirect(self, path: str, **query: str | int | None) -> Response:
        """Redirect the browser to a page with status 303, so that it sends a GET."""
        return Response(status_code=303, headers=PAGE_HEADERS | {"Location": self.locate(path, **query)})

    def serve_asset(self, name: str, version: str) -> Response | None:
        """Return an asset, cacheable for a year if `version` is current; None if no asset has this name."""
        content = self._assets.get(name)
        if content is None:
            return None
        kept = _FOREVER if version == _version_of(content) else {}
        return Response(content, 200, PAGE_HEADERS | kept, _MEDIA_TYPES[name.rpartition(".")[2]])


class RenderedPages:
    """A cache of recently rendered pages. One rendering serves all users who may see the same page."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Response]] = {}

    async def render(
        self, key: Hashable, render: Callable[[], Awaitable[Response]], kept_seconds: float = KEPT_SECONDS
    ) -> Response:
        """Return the page that `render` produces, or a page with the same key rendered within `kept_seconds`.

        The key must contain everything that the page depends on.
        """
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.ensure_future(render())
            asyncio.get_running_loop().call_later(kept_seconds, self._tasks.pop, key)
        return await asyncio.shield(task)  # other requests may wait for the same rendering


def _version_of(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]
