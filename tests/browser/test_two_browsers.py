"""Four journeys, in two browsers. That they work is all that is asked: other tests look at the details."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import httpx
import pytest

from browser.acme.articles import SHOES, deliver, is_translated
from browser.chromium import running_chromium
from browser.firefox import running_firefox
from browser.windows import ChromiumWindow, Window
from incidents.breakdowns import open_incident
from monitoring.app.sentences import NOTICES, REFUSALS
from monitoring.audit.actors import COMMAND_LINE
from monitoring.auth.service import create_key, create_team
from monitoring.incidents.models import Resolution
from monitoring.incidents.service import resolve_incident
from monitoring.members.invitations import accept_invitation, invite
from monitoring.members.models import Role
from monitoring.monitors.service import create_monitor, get_monitor
from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.service import create_channel
from notifications.mail_server import MailCatcher
from running_service import WEBHOOK_SECRET, running_service
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.monitors.models import Monitor
    from running_service import RunningService

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

BROWSERS = ("Chromium", "Firefox")
BLOG = "Blog in {}"  # a team that sees articles
PASSWORD = "correct horse battery staple"
LINK = re.compile(r"/app/(?:confirm-email|acknowledge)\?token=[\w.-]+")


class Place:
    """A service with a mail server, a team of one, and her browser, which forgets who had it before."""

    def __init__(self, service: RunningService, mail: MailCatcher, window: Window, team_name: str) -> None:
        self.service = service
        self.window = window
        self.email = f"ana-{uuid4()}@acme.example"
        self._mail = mail
        self.team = service.run(create_team(team_name, "free", 10))
        self.window.forget()
        self._invited = service.run(invite(self.team.id, self.email, Role.OWNER, by=COMMAND_LINE))

    @property
    def code(self) -> str:
        return self._invited.code

    def open(self, path: str) -> None:
        """Open a page of the app."""
        self.window.open(f"{self.service.base_url}/app{path}")

    def sign_in(self) -> None:
        """Sign in, as somebody who has joined."""
        self.service.run(accept_invitation(self.code, "Ana", PASSWORD))
        self.open("/sign-in")
        self.window.fill("Email", self.email)
        self.window.fill("Password", PASSWORD)
        self.window.press("Sign in")
        self.window.wait_for("Monitors")

    def watch(self) -> Monitor:
        """Make a monitor behind the app's back."""
        return self.service.run(create_monitor(self.team.id, {"url": "https://shop.example/"}))

    def tell_by_email(self) -> None:
        """Make a channel to her address, which is confirmed already."""

        async def make() -> None:
            channel = await create_channel(self.team.id, {"type": "email", "address": self.email})
            await NotificationChannel.filter(id=channel.id).update(confirmed_at=datetime.now(UTC))

        self.service.run(make())

    def break_down(self, monitor_id: UUID) -> Monitor:
        """Let a monitor go down, as checks do."""

        async def open_one() -> Monitor:
            now, monitor = datetime.now(UTC), await get_monitor(self.team.id, monitor_id)
            await open_incident(
                monitor, started_at=now, confirmed_at=now, error="timeout", error_message="No answer"
            )
            return monitor

        return self.service.run(open_one())

    def recover(self, monitor: Monitor) -> None:
        """Let a monitor be up again."""
        now = datetime.now(UTC)
        self.service.run(resolve_incident(monitor, resolved_at=now, resolution=Resolution.RECOVERED))

    def open_link(self, subject: str) -> None:
        """Wait for an email, and open the link in it."""
        wait_until(lambda: self._find_mail(subject))
        link = LINK.search(self._find_mail(subject))
        assert link
        self.window.open(self.service.base_url + link[0])

    def _find_mail(self, subject: str) -> str:
        for accepted in self._mail.accepted:
            message = accepted.parse()
            body = message.get_body(("plain",))
            if body and accepted.recipient == self.email and subject in message["Subject"]:
                return str(body.get_content())
        return ""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningService, MailCatcher]]:
    folder = tmp_path_factory.mktemp("service")
    teams = ",".join(BLOG.format(name) for name in BROWSERS)
    with (
        MailCatcher(folder, "none") as mail,
        running_service(
            folder, smtp_url=mail.url, article_teams=teams, locales="es", session_cookie_secure=False
        ) as service,
    ):
        yield service, mail


@pytest.fixture(scope="module", params=BROWSERS)
def browser_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def window(
    browser_name: str, served: tuple[RunningService, MailCatcher], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Window]:
    """Run a browser. Any fault of a page fails a test."""
    if browser_name == "Firefox":
        with running_firefox(tmp_path_factory.mktemp("firefox")) as firefox:
            yield firefox
    else:
        with running_chromium() as chromium:
            window = ChromiumWindow(chromium, served[0].base_url)
            yield window
            assert window.person.find_fault() == []


@pytest.fixture
def place(window: Window, served: tuple[RunningService, MailCatcher]) -> Place:
    return Place(*served, window, f"Acme {uuid4()}")


@pytest.fixture
def blog(window: Window, served: tuple[RunningService, MailCatcher], browser_name: str) -> Place:
    return Place(*served, window, BLOG.format(browser_name))


def test_the_first_minute_leads_from_an_invitation_to_an_email(place: Place) -> None:
    window = place.window
    place.open("/join")
    window.fill("Code", place.code)
    window.press("Continue")
    window.fill("Password", "short")
    window.press("Join")
    window.wait_for(REFUSALS["name_invalid"], REFUSALS["password_too_short"])  # neither is the browser's
    window.fill("Your name", "Ana")
    window.fill("Password", PASSWORD)
    window.press("Join")
    window.wait_for("No monitors yet")
    place.open("/settings/api-keys/new")
    window.fill("Name", "Deploy")
    window.tick("Change")
    window.press("Create the key")
    program = authenticate(place, window.read("#client-id"), window.read("#client-secret"))
    monitor = program.post("/api/monitors", json={"url": "https://shop.example/"}).raise_for_status().json()
    place.open("/settings/notifications/new?type=email")
    window.fill("Email address", place.email)
    window.press("Create the channel")
    window.wait_for("A message with a link is on its way")
    place.open_link("Confirm")
    window.press("Confirm")
    window.wait_for("Each has a link to unsubscribe.")
    place.break_down(UUID(monitor["id"]))
    place.open_link("shop.example")
    window.wait_for("Incident of shop.example", "No answer")


def test_a_bad_night_is_answered_from_a_phone(place: Place) -> None:
    window, monitor = place.window, place.watch()
    place.tell_by_email()
    place.sign_in()
    window.be_a_phone()
    place.break_down(monitor.id)
    place.open_link("shop.example")
    window.press("Acknowledge")
    window.wait_for("acknowledged it")
    window.press("Open the incident in the app")
    window.fill("Note", "The shop's provider is on it.")
    window.press("Add the note")
    window.wait_for("The shop's provider is on it.")
    place.recover(monitor)
    window.wait_for("resolved")  # the page renews itself
    assert not window.is_too_wide()


def test_a_deployment_shows_maintenance_while_it_lasts(place: Place) -> None:
    window, monitor = place.window, place.watch()
    place.sign_in()
    place.open(f"/monitors/{monitor.id}")
    window.wait_for("Start maintenance")
    key = place.service.run(create_key(place.team, "Deploy", ["monitors:write"]))
    program = authenticate(place, key.key.client_id, key.client_secret)
    begun = program.post("/api/maintenance-windows", json={"duration_seconds": 600}).raise_for_status()
    window.wait_for("It is in maintenance")  # the page renews itself
    program.post(f"{begun.headers['Location']}/end").raise_for_status()
    window.wait_for("Start maintenance")


def test_an_article_is_corrected(blog: Place) -> None:
    title = f"How to choose shoes in {blog.team.name}"
    window, article_id = blog.window, deliver(blog.service, SHOES | {"id": str(uuid4()), "title": title})
    wait_until(lambda: is_translated(read_article_of(blog, article_id)))
    blog.sign_in()
    blog.open(f"/articles/{article_id}/es/segments")
    window.press(f"Correct {title}")
    window.fill("In Spanish", "Elige tus zapatillas")
    window.press("Save")
    window.wait_for(NOTICES["translation_corrected"], "Elige tus zapatillas")
    wait_until(lambda: is_translated(read_article_of(blog, article_id)))
    blog.open(f"/articles/{article_id}/es")
    window.wait_for("Elige tus zapatillas")


def authenticate(place: Place, client_id: str, client_secret: str) -> httpx.Client:
    """Get a token as a program does, and use it."""
    form = {"client_id": client_id, "client_secret": client_secret}
    answer = httpx.post(f"{place.service.base_url}/api/oauth/token", data=form, timeout=30)
    token = answer.raise_for_status().json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=place.service.base_url, headers=headers, timeout=30)


def read_article_of(place: Place, article_id: str) -> dict[str, Any]:
    """Read an article as a publisher does."""
    headers = {"X-Webhook-Secret": WEBHOOK_SECRET}
    address = f"{place.service.base_url}/api/articles/{article_id}"
    found: dict[str, Any] = httpx.get(address, headers=headers, timeout=30).raise_for_status().json()
    return found
