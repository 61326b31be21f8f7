"""Debian's Chromium without windows, which takes half the CPU, and the rules that every page must keep."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from playwright.sync_api import ViewportSize, sync_playwright

from debian_programs import find_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from playwright.sync_api import APIResponse, Browser, ConsoleMessage, Dialog, Page, Request, Response

    from browser.acme.people import Member

DESKTOP = ViewportSize(width=1280, height=900)
PHONE = ViewportSize(width=390, height=844)

# The name of the app's cookie when it is served over plain HTTP.
COOKIE = "session"

# Fills in the named fields of a page's first form, and sends it as a press does: the browser may refuse to.
FILL_IN = """
fields => {
  const form = document.querySelector("main form[method=post]");
  let pressed = null;
  for (const [name, text] of Object.entries(fields)) {
    const found = form.querySelectorAll(`[name="${name}"]`);
    if (!found.length) throw new Error(`no field ${name}`);
    for (const field of found)
      if (field.type === "checkbox") field.checked = field.value === text;
      else if (field.type === "submit") pressed = field.value === text ? field : pressed;
      else field.value = text;
  }
  form.requestSubmit(pressed);
}
"""

# Finds elements that reach beyond the edge and are neither cut off nor scrollable; innermost first.
TOO_WIDE = """
() => {
  const edge = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= edge) return [];
  return [
    `a page of ${document.documentElement.scrollWidth} px in ${edge} px`,
    ...[...document.body.querySelectorAll('*')]
      .filter(element => element.getBoundingClientRect().right > edge)
      .reverse().slice(0, 5).map(element => element.outerHTML.slice(0, 200)),
  ];
}
"""

# A page may well be refused, which Chromium reports on the console with these words.
STATUS_TOLD = "Failed to load resource: the server responded with a status of"


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """Start a browser. No other event loop can run in this thread until it is closed."""
    executable = find_program("chromium-headless-shell")
    arguments = ["--disable-lcd-text", "--font-render-hinting=none"]  # the same pixels everywhere
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")  # Chromium's sandbox does not work for root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


def write_storage_state(token: str) -> dict[str, Any]:
    """Write a session's cookie as Playwright's `storage_state`."""
    place = {"name": COOKIE, "value": token, "domain": "127.0.0.1", "path": "/", "expires": -1}
    flags = {"httpOnly": True, "secure": False, "sameSite": "Lax"}
    return {"cookies": [place | flags], "origins": []}


class Arrive(Protocol):
    """Opens a browser for somebody, who is signed in if `who` is given."""

    def __call__(self, who: Member | None = None, base_url: str | None = None, **options: Any) -> Person:
        """Open the browser. The options are those of Playwright's contexts, and a `script` for every page."""


class Person:
    """Somebody with their own browser and a fresh profile. All of its requests are recorded.

    The script runs in every page.
    """

    def __init__(self, browser: Browser, base_url: str, script: str = "", **options: Any) -> None:
        self.base_url = base_url
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self._opened: set[str] = set()
        self._is_forgiven = False
        self._size: ViewportSize = options.setdefault("viewport", DESKTOP)
        self.context = browser.new_context(
            base_url=base_url, **({"locale": "en-GB", "timezone_id": "UTC"} | options)
        )
        self.context.set_default_timeout(15_000)
        self.context.on("request", self._note_request)
        self.context.on("console", self._note_message)
        self.context.on("weberror", lambda error: self.complaints.append(f"error: {error.error}"))
        self.context.on("dialog", self._note_dialog)
        # Chromium's own words on the console differ from version to version.
        self.context.add_init_script(
            "addEventListener('securitypolicyviolation', violation =>"
            " console.error('policy violated:', violation.violatedDirective, violation.blockedURI));" + script
        )
        self.page: Page = self.context.new_page()

    def open(self, path: str) -> Response:
        """Go to a page of the app; `path` is without /app."""
        answer = self.page.goto(f"{self.base_url}/app{path}")
        assert answer
        return answer

    def follow(self, name: str) -> None:
        """Click a link."""
        self.page.get_by_role("link", name=name, exact=True).first.click()

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def fill_in(self, fields: Mapping[str, str]) -> Response:
        """Fill in the page's first form, hidden fields too, and send it.

        Boxes with a given value are ticked, and a button with one is pressed.
        """
        with self.page.expect_navigation() as arrived:
            self.page.evaluate(FILL_IN, dict(fields))
        answer = arrived.value
        assert answer
        return answer

    def ask(self, path: str) -> APIResponse:
        """Get a page with this browser's cookies, but do not show it, which would take most of the time."""
        return self.context.request.get(f"{self.base_url}/app{path}")

    def send(self, path: str, form: Mapping[str, str]) -> APIResponse:
        """Send a form with this browser's cookies, but not from a page."""
        return self.context.request.post(f"{self.base_url}/app{path}", form=dict(form), max_redirects=0)

    def sign_in(self, email: str, password: str) -> None:
        """Sign in, and wait for a page that only members see."""
        self.open("/sign-in")
        self.page.get_by_label("Email").fill(email)
        self.page.get_by_label("Password").fill(password)
        self.press("Sign in")
        self.page.wait_for_url(lambda url: not urlsplit(url).path.endswith("/sign-in"))

    def cookies(self) -> dict[str, dict[str, Any]]:
        """Return the service's cookies by name."""
        return {cookie["name"]: dict(cookie) for cookie in self.context.cookies(self.base_url)}

    def find_fault(self) -> list[str]:
        """Return every request to another host and every error of a page. An empty list is good."""
        if self._is_forgiven:
            return []
        home = urlsplit(self.base_url)[:2]
        strangers = [
            url for url in self.asked if urlsplit(url)[:2] != home and urlsplit(url).scheme != "data"
        ]
        return [*(f"asked a stranger: {url}" for url in strangers), *self.complaints]

    def begin_anew(self) -> None:
        """Be a window of the first size again, in the usual colours."""
        self.page.set_viewport_size(self._size)
        self.page.emulate_media(color_scheme="null", reduced_motion="null")

    def forgive(self) -> None:
        """Ignore past and future faults, because pages of another site were open."""
        self._is_forgiven = True

    def _note_request(self, request: Request) -> None:
        self.asked.append(request.url)
        if request.is_navigation_request():
            self._opened.add(request.url)

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        is_of_document = message.location["url"] in self._opened
        if not (is_of_document and message.text.startswith(STATUS_TOLD)):
            self.complaints.append(f"console: {message.text} ({message.location['url']})")

    def _note_dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def unfold(page: Page) -> None:
    """Open folded parts of the page, so that they are examined too."""
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")


def find_what_is_too_wide(page: Page) -> list[str]:
    """Name the elements that make a page scroll sideways."""
    found: list[str] = page.evaluate(TOO_WIDE)
    return found
