"""Pictures of every page of the app, with a team that looks real: `make screenshots`.

`made-from.txt` tells from which code; `docs/check.py` compares.
"""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
MONITORING = ROOT / "src" / "monitoring"
FOLDER = ROOT / "docs" / "screenshots"
MADE_FROM = FOLDER / "made-from.txt"

# Whatever may show. That is more than what does: words stand beside rules, in any module.
LOOKS = ("console/**/*.py", "console/templates/**/*.html", "console/assets/*", "members/refusals.py")

DARK = ("monitors", "monitor-down", "api-keys", "api-key-created")

if TYPE_CHECKING:
    from playwright.sync_api import Page


def find_out_what_pages_are_made_of() -> str:
    """Return one hash of everything that shows."""
    digest = sha256()
    for path in sorted({path for pattern in LOOKS for path in MONITORING.glob(pattern)}):
        digest.update(f"{path.relative_to(MONITORING).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def take_all() -> None:
    """Start a service, form the team, and take every picture at both widths."""
    # Tests' rooms, which PYTHONPATH names; the check of the docs does without them.
    from browser.acme.team import TEAM_NAME, form_acme  # noqa: PLC0415
    from browser.chromium import Person, running_chromium  # noqa: PLC0415
    from browser.places import PLACES  # noqa: PLC0415
    from running_service import running_service  # noqa: PLC0415

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
                place.visit(people[place.who], acme)
                _take(people[place.who].page, name)
    # Pages have few colours: a palette makes pictures a third as large.
    command = ["pngquant", "--force", "--ext=.png", "--strip", "--nofs", "64", *FOLDER.glob("*.png")]
    subprocess.run(command, check=True)  # noqa: S603 - of our own choice
    MADE_FROM.write_text(f"{find_out_what_pages_are_made_of()}\n")


def _take(page: Page, name: str) -> None:
    from browser.chromium import DESKTOP, PHONE  # noqa: PLC0415

    for device, size in (("desktop", DESKTOP), ("phone", PHONE)):
        page.set_viewport_size(size)
        page.screenshot(path=FOLDER / f"{name}-{device}.png", full_page=True, animations="disabled")
    if name in DARK:
        page.set_viewport_size(DESKTOP)
        page.emulate_media(color_scheme="dark")
        page.screenshot(path=FOLDER / f"{name}-dark.png", full_page=True, animations="disabled")
        page.emulate_media(color_scheme="light")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    take_all()
    size = sum(path.stat().st_size for path in FOLDER.glob("*.png"))
    print(f"{len(list(FOLDER.glob('*.png')))} pictures, {size / 1e6:.1f} MB", file=sys.stderr)
