"""A visit: one user's request for a page, with its session, query, form and response."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from starlette.datastructures import ImmutableMultiDict, QueryParams
from starlette.requests import Request
from starlette.responses import Response

from monitoring.app import cookies
from monitoring.app.live.changes import Changes
from monitoring.app.rendering import ROOT, Pages, RenderedPages
from monitoring.app.sentences import ALERTS, NOTICES, PASSING, Declined, Sentence
from monitoring.app.session_turns import Turns
from monitoring.app.worlds import is_sandbox_shown, place_in_world, showing
from monitoring.app.zones import read_zone
from monitoring.audit.actors import Actor
from monitoring.auth.limits import client_address, count_request
from monitoring.auth.models import Team
from monitoring.auth.sandboxes import visit_sandbox
from monitoring.backends.current import current_backends
from monitoring.contract.bodies import FORM, shorten_header
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.cursors import decode_cursor
from monitoring.contract.problems import Problem
from monitoring.contract.strict_json import REPLACEMENT
from monitoring.contract.urlencoding import parse_pairs
from monitoring.members.models import Role, Session, User
from monitoring.members.sessions import Standing, find_session
from monitoring.settings import Settings
from monitoring.web.bodies import receive_body

Form = ImmutableMultiDict[str, str]

# The media type that a live page's script accepts: each line is a new state of the page.
FOLLOWED_MEDIA_TYPE = "application/x-ndjson"

# The value of the script's `Prefer` header while the page is hidden (RFC 7240 §4.2). It requests one short
# line, which the server sends immediately.
GLANCE = "return=minimal"

# The most fields in a form. The monitor list's form has a checkbox for each monitor, and one for each of its
# groups if the list is grouped.
MAX_FIELDS = 500


class Site(NamedTuple):
    """The objects that all visits of a process share."""

    pages: Pages
    catalogue: Catalogue
    changes: Changes
    rendered_pages: RenderedPages
    turns: Turns


class Visit:
    """One request. `session` is None for anonymous visitors, who have no `user`, `team` or `actor`.

    `is_of_team` is true for a page about the team's data, and false for a page about the user's own account.
    `may_keep_answer` is true if the response to a form may be stored for the browser's Back button.
    `kept_answer_path` is the URL at which the stored response is shown, or None if it is not stored.
    """

    def __init__(self, request: Request, site: Site) -> None:
        self.request = request
        self.site = site
        self.catalogue = site.catalogue
        self.now = datetime.now(UTC)
        self.zone = read_zone(request)
        self.session: Session | None = None
        self.is_of_team = False
        self.may_keep_answer = False
        self.kept_answer_path: str | None = None
        self.is_in_sandbox = is_sandbox_shown()
        self._sandbox: Team | None = None
        self._pages = site.pages
        self._query = QueryParams(
            [(_without_nul(name), _without_nul(text)) for name, text in request.query_params.multi_items()]
        )
        self._form: Form | None = None
        sent = cookies.read_token(request, self.settings)
        self._token = sent or cookies.make_token()
        self._is_token_new = sent is None
        self._is_session_changed = False
        self._known_email: str | None = None

    async def recognise(self) -> None:
        """Look up the session that the cookie names, and the sandbox if one is shown."""
        if not self._is_token_new and self.session is None:
            self.session = await find_session(self._token)
            if self.session and self.is_in_sandbox:
                self._sandbox = await visit_sandbox(self.user.team_id)

    def take_turn(self) -> AbstractAsyncContextManager[None]:
        """Return a context manager that limits the session's concurrent requests.

        Enter it before `recognise`. Browsers without a token are not limited, because their pages cost
        little.
        """
        return nullcontext() if self._is_token_new else self.site.turns.take(self._token)

    async def count(self) -> None:
        """Count a signed-in user's request against the API's rate limit. Raises Problem if it is exceeded."""
        if self.session:
            await count_request(self.request, self.settings.rate_limit_api, f"user:{self.user.id}")

    @property
    def settings(self) -> Settings:
        """The settings of the service."""
        return current_backends().settings

    @property
    def after_id(self) -> UUID | None:
        """The id of the row after which the page's list begins; None if the query has no valid cursor."""
        try:
            return decode_cursor(self.query.get("cursor"))
        except ValueError:
            return None

    @property
    def user(self) -> User:
        """The signed-in user."""
        assert self.session  # noqa: S101 - routes require a session
        return self.session.user

    @property
    def team(self) -> Team:
        """The team whose data is shown: the user's team, or its sandbox."""
        return self._sandbox or self.user.team

    @property
    def standing(self) -> Standing:
        """The session's id with the user's team and role, which decide what the user may see."""
        assert self.session  # noqa: S101 - as above
        return Standing(self.session.id, self.user.team_id, self.user.role)

    @property
    def is_followed(self) -> bool:
        """Whether the script of a live page sent the request, to receive the page's updates."""
        return self.request.headers.get("accept") == FOLLOWED_MEDIA_TYPE and self.request.method == "GET"

    @property
    def is_glance(self) -> bool:
        """Whether the script requests only the title and icon, because the page is hidden."""
        return self.is_followed and self.request.headers.get("prefer") == GLANCE

    @property
    def is_owner(self) -> bool:
        """Whether the user is an owner of the team."""
        return self.session is not None and self.user.role == Role.OWNER

    @property
    def is_viewer(self) -> bool:
        """Whether the user is a viewer, who has read-only access."""
        return self.session is not None and self.user.role == Role.VIEWER

    @property
    def may_change(self) -> bool:
        """Whether the page shows forms and links to forms: false if a viewer opens a team page."""
        return not (self.is_of_team and self.is_viewer)

    @property
    def sees_articles(self) -> bool:
        """Whether the visitor is signed in, and their team may see the blog's articles."""
        return self.session is not None and self.team.name in self.settings.article_teams

    @property
    def actor(self) -> Actor:
        """The user, as the audit log names them."""
        return Actor(self.user.email, self.user.id, self.address)

    @property
    def address(self) -> str:
        """The client's IP address."""
        return client_address(self.request)

    @property
    def path(self) -> str:
        """The page's path without `/app` and `/sandbox`, as `redirect` expects it."""
        path: str = self.request.scope["path"]
        return path.removeprefix(ROOT)

    @property
    def path_in_world(self) -> str:
        """The page's path, with `/sandbox` if the sandbox is shown, so that links keep the environment."""
        return place_in_world(self.path)

    @property
    def path_params(self) -> Mapping[str, str]:
        """The path parameters."""
        return self.request.path_params

    @property
    def query(self) -> QueryParams:
        """The URL's query parameters. U+0000 is read as U+FFFD, as in forms and JSON."""
        return self._query

    def read_id(self, name: str) -> UUID:
        """Read a path parameter as a UUID. Raises `Problem("not_found")` if it is not one."""
        try:
            return UUID(self.path_params[name])
        except ValueError:
            raise Problem("not_found") from None

    async def read_form(self) -> Form:
        """Return the submitted form, which the first call parses.

        Raises Problem if the body is malformed, or its media type is not that of a form.
        """
        if self._form is None:
            content_type = self.request.headers.get("content-type", "")
            if content_type.partition(";")[0].strip().lower() != FORM:
                given = shorten_header(content_type) or "no Content-Type"
                raise Problem("unsupported_media_type", expected=FORM, given=given)
            try:
                pairs = parse_pairs(await receive_body(self.request.scope, self.request.receive), MAX_FIELDS)
            except ValueError:
                raise Problem("malformed_request") from None
            # Browsers submit every line end in a form as CRLF.
            self._form = ImmutableMultiDict((name, text.replace("\r\n", "\n")) for name, text in pairs)
        return self._form

    def keep_form(self) -> str:
        """Return the form of a user whose session has ended, URL-encoded and without passwords.

        Returns "" if no form was submitted, or if the browser does not report the request as same-origin. The
        CSRF token cannot prove the form's origin, because the token became invalid with the session.
        """
        if self._form is None or not self._is_surely_ours:
            return ""
        typed = [(name, text) for name, text in self._form.multi_items() if name != "csrf_token"]
        return urlencode([(name, text) for name, text in typed if "password" not in name])

    def find_form_id(self) -> UUID | None:
        """Return the form id in the query; None if it is not a UUID. Forms that create something have an id.

        The id is in the URL, so the browser's Back button shows the submitted form. A form with a new id
        could create a duplicate.
        """
        try:
            return read_form_id(self.query.get("form", ""))
        except Problem:
            return None

    def require_same_site(self) -> None:
        """Raise Declined if the browser reports a cross-site form submission (CSRF)."""
        if self.request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise Declined("form_out_of_date")

    async def require_csrf_token(self) -> None:
        """Raise Declined if the form's CSRF token does not match this browser's token."""
        form = await self.read_form()
        if not cookies.is_csrf_token(form.get("csrf_token", ""), self._token):
            raise Declined("form_out_of_date")

    def render(self, template: str, status: int = 200, **context: Any) -> Response:  # noqa: ANN401
        """Render a page. Its template gets `context`, the visit, and the notice that the last redirect set.

        The response to a form is stored for the browser's Back button if `is_kept` in `context` is true.
        Without `is_kept`, the response is stored if `status` is an error.
        """
        # The Back button cannot reload the response to a POST, so the page's script sets the URL to `place`.
        place = context.pop("place", None) or (self._pages.locate(self.path) if self.is_form else None)
        is_kept = context.pop("is_kept", status >= HTTPStatus.BAD_REQUEST)
        self.kept_answer_path = place if is_kept and self.may_keep_answer else None
        # The notice is deleted once it is shown, so a live page's script in another tab must not read it.
        notice = None if self.is_followed else cookies.read_notice(self.request, self.settings, self.path)
        given = {
            # Users share a live page's updates, so these contain no token. The script inserts the user's own.
            "csrf_token": "" if self.is_followed else cookies.csrf_token_of(self._token),
            "notice": NOTICES.get(notice) if notice else None,
            "is_alert": notice in ALERTS,
            "is_passing": notice in PASSING,
            "place": None if self.kept_answer_path else place,
            "visit": self,
        }
        response = self._with_cookie(self._pages.render(template, status, given | context))
        if notice:
            cookies.drop_notice(response, self.settings)
        return response

    def render_error(self, sentence: Sentence, retry_after_seconds: str | None) -> Response:
        """Render an error page with a message and a link back.

        The response sets no cookie. Browsers send no cookies with a cross-site form, so the request of a
        signed-in user may look anonymous, and a new token would replace the token of the user's session.
        """
        back = self._find_way_back()
        given = {
            "back": back,
            "csrf_token": cookies.csrf_token_of(self._token),
            "notice": None,
            "place": back,
            "retry_after_seconds": retry_after_seconds,
            "sentence": sentence,
            "visit": self,
        }
        return self._pages.render("layout/error.html", sentence.status, given)

    def _find_way_back(self) -> str | None:
        """Return the path and query of the app page that the Referer header names.

        Returns None if the header names no page of the app, or if a GET request comes from the same page.
        """
        came_from = urlsplit(self.request.headers.get("referer", ""))
        is_ours = came_from.path.startswith(self._pages.locate("/"))
        is_elsewhere = self.is_form or came_from.path != self._pages.locate(self.path)
        if not is_ours or not is_elsewhere:
            return None
        return f"{came_from.path}?{came_from.query}" if came_from.query else came_from.path

    @property
    def _is_surely_ours(self) -> bool:
        """Whether the browser reports the request as same-origin. Old browsers report nothing."""
        return self.request.headers.get("sec-fetch-site") == "same-origin"

    @property
    def is_form(self) -> bool:
        """Whether the request submits a form (POST)."""
        return self.request.method == "POST"

    def locate(self, path: str, **query: str | int | None) -> str:
        """Return a page's URL in the environment that is shown (live or sandbox)."""
        return self._pages.locate(path, **query)

    def locate_live(self, path: str) -> str:
        """Return a page's URL in the live environment, even while the sandbox is shown."""
        with showing(sandbox=False):
            return self._pages.locate(path)

    def redirect(self, path: str, notice: str | None = None, **query: str | int | None) -> Response:
        """Redirect to the page at `path`, which shows the named notice once: `notice="monitor_paused"`.

        The response sets no token for anonymous visitors. Browsers send no cookies with a cross-site form, so
        the request of a signed-in user may look anonymous, and a new token would replace the session's token.
        """
        response = self._pages.redirect(path, **query)
        if notice and (self._is_session_changed or not self._is_token_new or self._is_surely_ours):
            cookies.set_notice(response, notice, self.settings, path)
        return self._with_cookie(response) if self._is_session_changed else response

    def begin_session(self, token: str, email: str) -> None:
        """Set a session's token in the browser, and a device cookie for the email address.

        The new token replaces the browser's old token, which an attacker may know (session fixation).
        """
        self._replace_token(token)
        self._known_email = email

    def end_session(self) -> None:
        """Forget the session for the rest of the visit, and give the browser a new anonymous token."""
        self.session = None
        self._replace_token(cookies.make_token())

    @property
    def last_email(self) -> str:
        """The email address of this browser's last sign-in; empty if none, or after signing out."""
        return cookies.read_email(self.request, self.settings)

    def _replace_token(self, token: str) -> None:
        self._token, self._is_token_new, self._is_session_changed = token, True, True

    def _with_cookie(self, response: Response) -> Response:
        if self._is_token_new:
            cookies.set_token(response, self._token, self.settings)
        if email := self._known_email:
            # An existing device token is kept, so that the sign-in attempts counted for it still count.
            device = cookies.read_device(self.request, self.settings, email) or cookies.make_token()
            cookies.set_device(response, device, self.settings, email)
            cookies.set_email(response, email, self.settings)
        elif self._is_session_changed:
            cookies.drop_email(response, self.settings)
        return response


def _without_nul(text: str) -> str:
    """Replace U+0000, which PostgreSQL can neither store nor compare."""
    return text.replace("\0", REPLACEMENT)


def read_form_id(text: str) -> UUID:
    """Parse a form's id, which ensures that submitting the form twice creates one row. Raises Problem."""
    try:
        return UUID(text)
    except ValueError:
        raise Problem("malformed_request") from None
