"""Takes the pictures of the app that a page shows, with a team that looks real: `make screenshots`.

A picture is called after a place of `tests/browser/places.py` and a view: `monitors-phone.png`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from message_pictures import take_messages

from browser.acme.team import TEAM_NAME, form_acme
from browser.chromium import DESKTOP, PHONE, Person, running_chromium
from browser.places import PLACES
from running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterable

DOCS = Path(__file__).parent
FOLDER = DOCS / "screenshots"
SHOWN = re.compile(r"\]\(screenshots/([a-z-]+)-(desktop|phone|dark)\.png\)")


def take_all() -> None:
    """Start a service, form the team, and take each picture that a page shows."""
    shown = {view for page in DOCS.glob("*.md") for view in SHOWN.findall(page.read_text())}
    for old in FOLDER.glob("*.png"):
        old.unlink()
    with (
        TemporaryDirectory() as folder,
        running_service(
            Path(folder),
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
            people = {who: Person(browser, service.base_url) for who in ("stranger", "member", "owner")}
            people["member"].sign_in(acme.member.email, acme.member.password)
            people["owner"].sign_in(acme.owner.email, acme.owner.password)
            for name, place in PLACES.items():
                views = sorted(view for shown_name, view in shown if shown_name == name)
                if views:
                    place.visit(people[place.who], acme)
                for view in views:
                    _take(people[place.who], name, view)
            take_messages(browser, FOLDER)
    messages = set(FOLDER.glob("message-*.png"))
    _shrink(messages, colours=16)
    _shrink(set(FOLDER.glob("*.png")) - messages, colours=64)


def _shrink(pictures: Iterable[Path], *, colours: int) -> None:
    """Give pictures a palette: they have few colours, and become a third as large."""
    command = ["pngquant", "--force", "--ext=.png", "--strip", "--nofs", str(colours), *pictures]
    subprocess.run(command, check=True)  # noqa: S603 - of our own choice


def _take(person: Person, name: str, view: str) -> None:
    person.page.set_viewport_size(PHONE if view == "phone" else DESKTOP)
    person.page.emulate_media(color_scheme="dark" if view == "dark" else "light")
    person.page.screenshot(path=FOLDER / f"{name}-{view}.png", full_page=True, animations="disabled")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    take_all()
    size = sum(path.stat().st_size for path in FOLDER.glob("*.png"))
    print(f"{len(list(FOLDER.glob('*.png')))} pictures, {size / 1e6:.1f} MB", file=sys.stderr)
