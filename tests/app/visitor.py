"""A person with a simple browser, which keeps cookies and sends forms."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Self
from uuid import uuid4

import httpx

from monitoring.audit.actors import COMMAND_LINE
from monitoring.members.invitations import accept_invitation, invite

if TYPE_CHECKING:
    from monitoring.auth.models import Team
    from monitoring.members.models import Role, User
    from running_service import RunningService

PASSWORD = "correct horse battery staple"


class Stranger(httpx.Client):
    """Opens pages of the app and sends their forms. Paths are written without /app."""

    def __init__(self, service: RunningService, address: str = "127.0.0.1") -> None:
        super().__init__(
            base_url=f"{service.base_url}/app/",
            timeout=30,
            follow_redirects=True,
            transport=httpx.HTTPTransport(local_address=address),
        )

    def __enter__(self) -> Self:
        """Return the client. Signing in has opened it already, which httpx allows only once."""
        return self

    def open(self, path: str) -> httpx.Response:
        """Open a page."""
        return self.get(path)

    def submit(self, path: str, action: str | None = None, **fields: str | list[str]) -> httpx.Response:
        """Open a page and send its form, with these fields changed.

        `action` is the form's path, if it differs from the page's.
        """
        opened = self.open(path)
        target = f"/app{action or path.partition('?')[0]}"
        forms = read_forms(opened.text)
        assert target in forms, f"{path} answers {opened.status_code} with forms {sorted(forms)}"
        return self.post(target.removeprefix("/app"), data=forms[target] | fields)

    def sign_in(self, email: str, password: str) -> httpx.Response:
        """Sign in."""
        return self.submit("/sign-in", email=email, password=password)


class Visitor(Stranger):
    """A member of a team, signed in."""

    def __init__(self, service: RunningService, team: Team, role: Role | str = "owner") -> None:
        super().__init__(service)
        self.team = team
        self.email, self.password = f"{uuid4()}@example.com", PASSWORD
        self.user = service.run(self._join(role))
        self.follow_redirects = False  # nobody would read the page that signing in leads to
        self.sign_in(self.email, self.password)
        self.follow_redirects = True

    async def _join(self, role: Role | str) -> User:
        invited = await invite(self.team.id, self.email, role, by=COMMAND_LINE)
        return await accept_invitation(invited.code, "Alice", self.password)


def read_forms(page: str) -> dict[str, dict[str, str | list[str]]]:
    """Return the fields of each POST form by its action, as a browser would send them."""
    reader = _FormReader()
    reader.feed(page)
    return reader.forms


def read_text(page: str) -> str:
    """Return a page's text without markup, with one space between words."""
    reader = _TextReader()
    reader.feed(page)
    return " ".join("".join(reader.parts).split())


class _FormReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: dict[str, dict[str, str | list[str]]] = {}
        self._fields: dict[str, str | list[str]] | None = None
        self._open_field = ""
        self._has_option = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form" and attributes.get("method") == "post":
            self._fields = self.forms.setdefault(attributes["action"], {})
        elif self._fields is None:
            return
        elif tag == "input" and "name" in attributes:
            if attributes.get("type") not in ("checkbox", "radio"):
                self._fields[attributes["name"]] = attributes.get("value", "")
            elif "checked" in attributes:
                several = self._fields.setdefault(attributes["name"], [])
                assert isinstance(several, list)
                several.append(attributes.get("value", "on"))
        elif tag in ("select", "textarea"):
            self._open_field = attributes["name"]
            self._fields[self._open_field] = ""
            self._has_option = False
        elif tag == "option" and (not self._has_option or "selected" in attributes):
            self._fields[self._open_field] = attributes["value"]
            self._has_option = True

    def handle_data(self, data: str) -> None:
        if self._fields is not None and self.get_starttag_text() and self._open_field:
            known = self._fields[self._open_field]
            if (self.get_starttag_text() or "").startswith("<textarea"):
                self._fields[self._open_field] = f"{known}{data}".removeprefix("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._fields = None
        elif tag in ("select", "textarea"):
            self._open_field = ""


class _TextReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("a", "strong", "em", "code", "span", "time", "wbr"):
            self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)
