"""Takes pictures of the app with a team that looks real: `make screenshots`.

A picture is called after a place of `tests/browser/places.py` and a view: `monitors-phone.png`. The folder
`screenshots` beside this file has those that README or a page of the docs shows. `build/screenshots` has
every page in all widths and colours that it is made for, to be looked at.
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from message_pictures import take_messages
from playwright.sync_api import ViewportSize

from browser.acme.monitors import own_monitors
from browser.acme.team import TEAM_NAME, form_acme
from browser.chromium import DESKTOP, PHONE, Person, running_chromium
from browser.places import PLACES
from running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from playwright.sync_api import Page

    from browser.acme.people import Member

DOCS = Path(__file__).parent
FOLDER = DOCS / "screenshots"
EVERY = DOCS.parent / "build" / "screenshots"
PAGES = [DOCS.parent / "README.md", *DOCS.glob("*.md")]
SHOWN = re.compile(r"\]\((?:docs/)?screenshots/([a-z-]+-(?:desktop|top|phone|dark))\.png\)")

TOP = "top"  # what the window shows first; every other view shows the whole page

# The size of the window, the colours, and where the picture goes.
VIEWS: dict[str, tuple[ViewportSize, Literal["light", "dark"], Path]] = {
    "desktop": (DESKTOP, "light", FOLDER),
    TOP: (ViewportSize(width=1280, height=720), "light", FOLDER),
    "phone": (PHONE, "light", FOLDER),
    "dark": (DESKTOP, "dark", FOLDER),
}
for _width in (360, 768, 1440):
    VIEWS[f"{_width}-light"] = (ViewportSize(width=_width, height=900), "light", EVERY)
    VIEWS[f"{_width}-dark"] = (ViewportSize(width=_width, height=900), "dark", EVERY)


def take_all() -> None:
    """Start a service, form the team, and take each picture."""
    shown = {name for page in PAGES for name in SHOWN.findall(page.read_text())}
    for folder in (FOLDER, EVERY):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.png"):
            old.unlink()
    with (
        TemporaryDirectory() as data,
        running_service(
            Path(data),
            article_teams=TEAM_NAME,
            base_url="https://monitoring.acme.example",
            locales="es,pt,fr,it,ca",
            session_cookie_secure=False,
            translator="apertium",
            **dict.fromkeys(("rate_limit_api", "rate_limit_check_now", "rate_limit_notifications")),
        ) as service,
    ):
        acme = form_acme(service)
        with running_chromium() as browser:

            @cache
            def arrive(who: Member | None) -> Person:
                person = Person(browser, service.base_url)
                if who:
                    person.sign_in(who.email, who.password)
                return person

            for name, place in PLACES.items():
                person = arrive(place.find_visitor(acme))
                person.page.set_viewport_size(PHONE)  # rows slide to what is chosen in them at the beginning
                place.visit(person, acme)
                _take(person.page, name, shown)
            for count in (3, 300):
                person = arrive(service.run(own_monitors(count)))
                person.open("/monitors")
                _take(person.page, f"monitors-{count}", shown)
            take_messages(browser, FOLDER)
    messages = set(FOLDER.glob("message-*.png"))
    _shrink(messages, colours=16)
    _shrink(set(FOLDER.glob("*.png")) - messages, colours=64)


def _shrink(pictures: Iterable[Path], *, colours: int) -> None:
    """Give pictures a palette: they have few colours, and become a third as large."""
    command = ["pngquant", "--force", "--ext=.png", "--strip", "--nofs", str(colours), *pictures]
    subprocess.run(command, check=True)  # noqa: S603 - of our own choice


def _take(page: Page, name: str, shown: Container[str]) -> None:
    for view, (size, colours, folder) in VIEWS.items():
        if folder == EVERY or f"{name}-{view}" in shown:
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=colours)
            path = folder / f"{name}-{view}.png"
            page.screenshot(path=path, full_page=view != TOP, animations="disabled")


if __name__ == "__main__":
    take_all()
    size = sum(path.stat().st_size for path in FOLDER.glob("*.png"))
    print(f"{len(list(FOLDER.glob('*.png')))} pictures, {size / 1e6:.1f} MB", file=sys.stderr)
