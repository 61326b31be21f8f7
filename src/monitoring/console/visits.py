"""A request of a person: who it is, what was sent, and how to answer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from starlette.datastructures import ImmutableMultiDict

from monitoring.audit.actors import Actor
from monitoring.auth.limits import client_address, count_request
from monitoring.backends.current import current_backends
from monitoring.console import cookies
from monitoring.console.rendering import ROOT
from monitoring.console.sentences import NOTICES, Declined
from monitoring.contract.problems import Problem
from monitoring.contract.urlencoding import parse_pairs
from monitoring.members.models import Role
from monitoring.members.sessions import find_session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.datastructures import QueryParams
    from starlette.requests import Request
    from starlette.responses import Response

    from monitoring.auth.models import Team
    from monitoring.console.rendering import Pages
    from monitoring.contract.catalogue import Catalogue
    from monitoring.members.models import Session, User
    from monitoring.settings import Settings

FORM = "application/x-www-form-urlencoded"
MAX_FORM_FIELDS = 100

Form = ImmutableMultiDict[str, str]


class Visit:
    """One request. `session` is None for strangers; what only members have is then not to be asked for."""

    def __init__(self, request: Request, pages: Pages, catalogue: Catalogue) -> None:
        self.request = request
        self.catalogue = catalogue
        self.now = datetime.now(UTC)
        self.session: Session | None = None
        self._pages = pages
        self._form: Form | None = None
        sent = cookies.read_token(request, self.settings)
        self._token = sent or cookies.make_token()
        self._is_token_new = sent is None
        self._is_session_changed = False

    async def recognise(self) -> None:
        """Find the session of the cookie, if there is one."""
        if not self._is_token_new:
            self.session = await find_session(self._token)

    @property
    def settings(self) -> Settings:
        """The settings of the service."""
        return current_backends().settings

    @property
    def user(self) -> User:
        """Who is signed in."""
        assert self.session  # noqa: S101 - routes let only members here
        return self.session.user

    @property
    def team(self) -> Team:
        """Whose things are shown."""
        return self.user.team

    @property
    def is_owner(self) -> bool:
        """Whether it is an owner of the team."""
        return self.session is not None and self.user.role == Role.OWNER

    @property
    def sees_articles(self) -> bool:
        """Whether the blog's articles are the team's business."""
        return self.session is not None and self.team.name in self.settings.article_teams

    @property
    def actor(self) -> Actor:
        """Who it is in the audit log."""
        return Actor(self.user.email, self.user.id, self.address)

    @property
    def address(self) -> str:
        """Where the request comes from."""
        return client_address(self.request)

    @property
    def path(self) -> str:
        """The path of the page, as `redirect` takes it."""
        path: str = self.request.scope["path"]
        return path.removeprefix(ROOT)

    @property
    def path_params(self) -> Mapping[str, str]:
        """The variable parts of the path."""
        return self.request.path_params

    @property
    def query(self) -> QueryParams:
        """What stands behind the question mark."""
        return self.request.query_params

    def read_id(self, name: str) -> UUID:
        """Read an id of the path. Raises Problem for what is none: nothing has it."""
        try:
            return UUID(self.path_params[name])
        except ValueError:
            raise Problem("not_found") from None

    async def read_form(self) -> Form:
        """Read the form that was sent. Raises Problem for what no browser sends."""
        if self._form is None:
            media_type, _, _ = self.request.headers.get("content-type", "").partition(";")
            if media_type.strip().lower() != FORM:
                raise Problem("unsupported_media_type")
            try:
                pairs = parse_pairs(await self.request.body(), MAX_FORM_FIELDS)
            except ValueError:
                raise Problem("malformed_request") from None
            # Browsers end lines in a form with CR LF, whatever was typed.
            self._form = ImmutableMultiDict((name, text.replace("\r\n", "\n")) for name, text in pairs)
        return self._form

    def demand_own_site(self) -> None:
        """Refuse what the browser says a page of another site has sent (cross-site request forgery)."""
        if self.request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise Declined("form_out_of_date")

    async def demand_own_form(self) -> None:
        """Refuse a form that no page of ours gave to this browser, and more of them than a key may send."""
        form = await self.read_form()
        if not cookies.is_csrf_token(form.get("csrf_token", ""), self._token):
            raise Declined("form_out_of_date")
        if self.session:
            await count_request(self.request, self.settings.rate_limit_api, f"user:{self.user.id}")

    def render(self, template: str, status: int = 200, **context: Any) -> Response:  # noqa: ANN401
        """Answer a page. Every page knows the visit, and the notice that a redirect brought along."""
        given = {
            "csrf_token": cookies.csrf_token_of(self._token),
            "notice": NOTICES.get(self.query.get("notice", "")),
            "visit": self,
        }
        return self._with_cookie(self._pages.render(template, status, given | context))

    def redirect(self, path: str, **query: str | int | None) -> Response:
        """Answer with another page; `notice="monitor_deleted"` lets it say what was done.

        A stranger gets no cookie: browsers leave theirs out when another site sends a form, and would take
        the new one in place of the session's.
        """
        response = self._pages.redirect(path, **query)
        return self._with_cookie(response) if self._is_session_changed else response

    def begin_session(self, token: str) -> None:
        """Give the browser a session's token, in place of whatever it had: nobody else knows this one."""
        self._token, self._is_token_new, self._is_session_changed = token, True, True

    def end_session(self) -> None:
        """Make the browser a stranger's."""
        self.session = None
        self.begin_session(cookies.make_token())

    def _with_cookie(self, response: Response) -> Response:
        if self._is_token_new:
            cookies.set_token(response, self._token, self.settings)
        return response
