"""From an invitation to a revoked key, in a browser. The service and commands run as operators run them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import pytest

from browser.chromium import DESKTOP, PHONE
from monitoring.app.sentences import NOTICES
from service_process import Installation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from browser.chromium import Arrive, Person
    from running_service import RunningService

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

PASSWORD = "correct horse battery staple"
KEY_NAME = "Deploy"


class Place:
    """An installation, its service, and a team that is to have one member."""

    def __init__(self, installation: Installation, base_url: str) -> None:
        self._installation = installation
        self.base_url = base_url
        self.email = f"alice-{uuid4()}@acme.example"
        self._team = f"Acme {uuid4()}"
        installation.run("teams", "create", self._team)

    def invite(self) -> dict[str, Any]:
        """Invite the member with the operators' command, and return what it printed."""
        printed = self._installation.run("users", "invite", self.email, "--team", self._team, "--json")
        invited: dict[str, Any] = json.loads(printed)
        assert invited["address"].endswith("/app/join")
        assert invited["code"] not in invited["address"]
        return invited

    def get_token(self, client_id: str, client_secret: str) -> str:
        """Get a token as a program does."""
        form = {"client_id": client_id, "client_secret": client_secret}
        answer = httpx.post(f"{self.base_url}/api/oauth/token", data=form, timeout=30)
        token: str = answer.raise_for_status().json()["access_token"]
        return token


@contextmanager
def serve(folder: Path, **environment: str) -> Iterator[tuple[Installation, str]]:
    """Serve, with some environment besides. Yields the installation and where it listens."""
    installation = Installation(folder)
    installation.environment |= {"SESSION_COOKIE_SECURE": "false"} | environment
    installation.make_tables()
    with installation.serve() as serving:
        yield installation, serving.base_url


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, str]]:
    with serve(tmp_path_factory.mktemp("served")) as served:
        yield served


@pytest.fixture
def place(served: tuple[Installation, str]) -> Place:
    return Place(*served)


@pytest.fixture
def checking_place(tmp_path: Path) -> Iterator[Place]:
    """Make a place with a checker, which may check the service itself."""
    with serve(tmp_path, CHECKS_AT_ONCE="1", ALLOWED_NETWORKS="127.0.0.0/8") as served:
        yield Place(*served)


@pytest.mark.parametrize(
    "options",
    [
        {"viewport": DESKTOP},
        {"viewport": PHONE, "is_mobile": True, "has_touch": True},
        {"viewport": DESKTOP, "java_script_enabled": False},
    ],
    ids=["desktop", "phone", "without JavaScript"],
)
def test_the_whole_journey(
    options: dict[str, Any], place: Place, arrive: Arrive, app_service: RunningService
) -> None:
    alice = arrive(base_url=place.base_url, **options)
    join(alice, place.invite()["code"])
    client_id, client_secret = create_key(alice)
    assert client_secret not in read(alice, "/settings/api-keys")

    headers = {"Authorization": f"Bearer {place.get_token(client_id, client_secret)}"}
    with httpx.Client(base_url=place.base_url, headers=headers, timeout=30) as program:
        program.post(
            "/api/monitors", json={"name": "From the API", "url": "https://a.example/"}
        ).raise_for_status()
        assert "From the API" in read(alice, "/monitors")
        look_after_a_monitor(alice, program)

        alice.open("/settings/api-keys")
        alice.page.get_by_role("link", name=f"Revoke {KEY_NAME}").click()
        alice.press("Revoke the key")  # without the tick, neither the browser nor the service does anything
        assert program.get("/api/monitors").status_code == 200
        alice.open(f"/settings/api-keys/{client_id}/revoke")
        alice.page.get_by_label("I know that callers with this key are refused at once").check()
        alice.press("Revoke the key")
        alice.page.get_by_text(NOTICES["api_key_revoked"]).wait_for()
        refused = program.get("/api/monitors")
        assert (refused.status_code, refused.json()) == (
            401,
            app_service.app.contract.catalogue.templates["api_key_invalid"].body,
        )
    told = read(alice, "/settings/audit-log")
    assert place.email in told
    assert KEY_NAME in told


def test_an_open_page_shows_what_the_checker_finds_without_being_loaded_again(
    checking_place: Place, arrive: Arrive
) -> None:
    alice = arrive(base_url=checking_place.base_url)
    join(alice, checking_place.invite()["code"])
    alice.open("/monitors/new")
    alice.page.get_by_label("URL").fill(f"{checking_place.base_url}/app/sign-in")
    alice.page.get_by_label("Interval", exact=True).select_option("1 day")
    alice.press("Create the monitor")
    checks = alice.page.get_by_role("table", name="Checks, newest first").locator("tbody tr")
    checks.get_by_text("up", exact=True).wait_for()
    alice.press("Check now")
    alice.page.get_by_text(NOTICES["check_requested"]).wait_for()
    checks.nth(1).get_by_text("up", exact=True).wait_for()


def test_the_keyboard_alone_is_enough(place: Place, arrive: Arrive) -> None:
    join(arrive(base_url=place.base_url), place.invite()["code"])
    alice = arrive(base_url=place.base_url)
    alice.open("/sign-in")
    type_into(alice, "Email", place.email)
    type_into(alice, "Password", PASSWORD)
    alice.page.keyboard.press("Enter")
    go_to(alice, "Settings")
    go_to(alice, "API keys")
    go_to(alice, "New API key")
    type_into(alice, "Name", KEY_NAME)
    tab_to(alice, "Create the key")
    alice.page.keyboard.press("Enter")
    go_to(alice, "I have saved it: back to the list")
    go_to(alice, f"Revoke {KEY_NAME}")
    tab_to(alice, "I know that callers with this key are refused at once")
    alice.page.keyboard.press("Space")
    tab_to(alice, "Revoke the key")
    alice.page.keyboard.press("Enter")
    alice.page.get_by_text(NOTICES["api_key_revoked"]).wait_for()


def join(person: Person, code: str) -> None:
    person.open("/join")
    person.page.get_by_label("Code").fill(code)
    person.press("Continue")
    person.page.get_by_label("Your name").fill("Alice Almeida")
    person.page.get_by_label("Password").fill(PASSWORD)
    person.press("Join")
    person.page.get_by_role("heading", name="Monitors", exact=True).wait_for()
    assert code not in " ".join(person.asked)


def create_key(person: Person) -> tuple[str, str]:
    """Make a key in Settings, and read what the page shows only once."""
    person.follow("Settings")
    person.follow("API keys")
    person.follow("New API key")
    person.page.get_by_label("Name").fill(KEY_NAME)
    for box in person.page.get_by_role("checkbox").all():
        box.check()
    person.press("Create the key")
    client_id = person.page.locator("#client-id").inner_text()
    client_secret = person.page.locator("#client-secret").inner_text()
    assert client_secret not in " ".join(person.asked)
    return client_id, client_secret


def look_after_a_monitor(person: Person, program: httpx.Client) -> None:
    """Create, edit, pause, resume and delete a monitor, and keep it. The API shows each step."""
    person.open("/monitors")
    person.follow("New monitor")
    person.page.get_by_label("URL").fill("https://shop.acme.example/")
    person.page.get_by_label("Name").fill("Shop")
    person.page.get_by_label("Tags").fill("shop, public")
    person.press("Create the monitor")
    person.page.get_by_text(NOTICES["monitor_created"]).wait_for()
    assert find_monitor(program, "Shop")["tags"] == ["shop", "public"]

    person.follow("Edit")
    person.page.get_by_label("Name").fill("Web shop")
    person.page.get_by_label("Interval", exact=True).select_option("other")
    person.page.get_by_label("Interval in seconds", exact=True).fill("ten")
    person.press("Save")
    person.page.get_by_text("Nothing is saved yet").wait_for()
    assert person.page.get_by_label("Name").input_value() == "Web shop"
    person.page.get_by_label("Interval", exact=True).select_option("10 minutes")
    person.press("Save")
    person.page.get_by_text(NOTICES["monitor_updated"]).wait_for()
    assert find_monitor(program, "Web shop")["interval_seconds"] == 600

    person.press("Pause")
    person.page.get_by_text(NOTICES["monitor_paused"]).wait_for()
    assert find_monitor(program, "Web shop")["status"] == "paused"
    person.press("Resume")
    person.page.get_by_text(NOTICES["monitor_resumed"]).wait_for()
    assert find_monitor(program, "Web shop")["paused"] is False

    person.follow("Delete")
    person.press("Delete the monitor")
    person.page.get_by_text("1 monitor will be deleted").wait_for()
    person.press("Undo")
    person.page.get_by_text(NOTICES["monitors_kept"]).wait_for()
    assert find_monitor(program, "Web shop")


def find_monitor(program: httpx.Client, name: str) -> dict[str, Any]:
    found = program.get("/api/monitors").raise_for_status().json()["monitors"]
    return next((monitor for monitor in found if monitor["name"] == name), {})


def read(person: Person, path: str) -> str:
    """Open a page and return its text."""
    person.open(path)
    return person.page.locator("body").inner_text()


def tab_to(person: Person, name: str) -> None:
    """Press Tab until the element with this accessible name has the focus."""
    target = person.page.get_by_role("link", name=name, exact=True)
    for role in ("button", "textbox", "checkbox"):
        target = target.or_(person.page.get_by_role(role, name=name, exact=True))
    # A password field has no role.
    target = target.or_(person.page.locator("input[type=password]").and_(person.page.get_by_label(name)))
    target.first.wait_for()
    elements = target.element_handles()
    for _ in range(60):
        if person.page.evaluate("elements => elements.includes(document.activeElement)", elements):
            return
        person.page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {name}")


def go_to(person: Person, name: str) -> None:
    """Follow a link by Tab and Enter."""
    tab_to(person, name)
    person.page.keyboard.press("Enter")


def type_into(person: Person, name: str, text: str) -> None:
    tab_to(person, name)
    person.page.keyboard.type(text)
