"""A forgotten password: a link by email that works once, and that tells a stranger nothing."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from app.visitor import Stranger, Visitor, read_forms, read_text
from cast import form_team
from moments import a_second_ago
from monitoring.app.sentences import DECLINED, REFUSALS
from monitoring.app.sign_in.attempts import MAX_LINKS_OF_ONE_PERSON
from monitoring.audit.actors import COMMAND_LINE
from monitoring.audit.models import AuditEntry
from monitoring.auth.links import sign_link
from monitoring.members.invitations import find_invitation, make_reset_code
from monitoring.members.models import PasswordLink
from notifications.mail_server import MailCatcher
from running_service import RunningService, running_service
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ASK, CHOOSE = "/forgotten-password", "/new-password"
NEW = "tractor umbrella limestone"
LINK = re.compile(r"http\S+/app(/new-password\?token=\S+)")


@pytest.fixture(scope="module")
def mails(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailCatcher]:
    with MailCatcher(tmp_path_factory.mktemp("mail")) as server:
        yield server


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, mails: MailCatcher) -> Iterator[RunningService]:
    settings = {"smtp_url": mails.url, "ca_file": mails.ca_file}
    with running_service(tmp_path_factory.mktemp("service"), **settings) as running:
        yield running


@pytest.fixture
def person(service: RunningService) -> Iterator[Visitor]:
    """Is signed in, in one browser."""
    with Visitor(service, form_team(service)) as visitor:
        yield visitor


def links_to(mails: MailCatcher, email: str) -> list[str]:
    texts = [mail.parse().get_body(("plain",)) for mail in mails.accepted if mail.recipient == email]
    return [LINK.findall(text.get_content())[0] for text in texts if text]


def ask(stranger: Stranger, mails: MailCatcher, email: str) -> str:
    """Ask for a link and return it once the mail has come."""
    before = len(links_to(mails, email.lower()))
    assert stranger.submit(ASK, email=email).status_code == 200
    wait_until(lambda: len(links_to(mails, email.lower())) > before)
    return links_to(mails, email.lower())[-1]


def acts_of(service: RunningService, person: Visitor) -> list[str]:
    async def read() -> list[str]:
        entries = AuditEntry.filter(subject_id=str(person.user.id)).order_by("id")
        return [entry.action for entry in await entries]

    return service.run(read())


class TestTheLink:
    def test_sets_a_new_password_signs_in_and_ends_every_other_session(
        self, service: RunningService, mails: MailCatcher, person: Visitor, stranger: Stranger
    ) -> None:
        link = ask(stranger, mails, person.email.upper())
        code = service.run(make_reset_code(person.team.id, person.user.id, by=COMMAND_LINE)).code
        page = stranger.open(link)
        assert person.email in page.text
        data = read_forms(page.text)[f"/app{CHOOSE}"] | {"password": NEW}
        assert stranger.post(CHOOSE, data=data).url.path == "/app/monitors"
        assert person.open("/monitors").url.path == "/app/sign-in"
        assert person.sign_in(person.email, person.password).status_code == 400
        assert person.sign_in(person.email, NEW).url.path == "/app/monitors"
        assert service.run(find_invitation(code)) is None
        assert acts_of(service, person).count("password.reset_by_link") == 1

    def test_works_once(self, mails: MailCatcher, person: Visitor, stranger: Stranger) -> None:
        first, second = (ask(stranger, mails, person.email) for _ in range(2))
        data = read_forms(stranger.open(first).text)[f"/app{CHOOSE}"] | {"password": NEW}
        assert stranger.post(CHOOSE, data=data).status_code == 200
        for link in (first, second):
            assert is_expired(stranger, link)
        assert stranger.post(CHOOSE, data=data).status_code in (403, 404)

    def test_survives_a_weak_password_and_other_links(
        self, mails: MailCatcher, person: Visitor, stranger: Stranger
    ) -> None:
        link = ask(stranger, mails, person.email)
        ask(stranger, mails, person.email)
        form = read_forms(stranger.open(link).text)[f"/app{CHOOSE}"]
        weak = stranger.post(CHOOSE, data=form | {"password": "short"})
        assert weak.status_code == 400
        assert REFUSALS["password_too_short"] in read_text(weak.text)
        assert stranger.post(CHOOSE, data=form | {"password": NEW}).url.path == "/app/monitors"

    def test_is_good_for_an_hour(
        self, service: RunningService, mails: MailCatcher, person: Visitor, stranger: Stranger
    ) -> None:
        link = ask(stranger, mails, person.email)
        service.run(_grow_old(person))
        assert is_expired(stranger, link)

    @pytest.mark.parametrize("token", ["", "nonsense", "x" * 2000])
    def test_that_we_did_not_sign_is_none(self, stranger: Stranger, token: str) -> None:
        assert is_expired(stranger, f"{CHOOSE}?token={token}")

    def test_for_another_purpose_is_none(self, service: RunningService, stranger: Stranger) -> None:
        async def sign() -> str:
            return sign_link("confirm-email", {"link": str(uuid4())}, datetime.now(UTC) + timedelta(hours=1))

        assert is_expired(stranger, f"{CHOOSE}?token={service.run(sign())}")

    def test_is_told_to_no_other_page_and_kept_nowhere(
        self, service: RunningService, mails: MailCatcher, person: Visitor, stranger: Stranger
    ) -> None:
        link = ask(stranger, mails, person.email)
        page = stranger.open(link)
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["cache-control"] == "no-store"
        token = link.partition("token=")[2]
        assert token not in str(service.run(_read_links()))


class TestAsking:
    def test_gets_the_same_answer_whoever_has_the_email(
        self, mails: MailCatcher, person: Visitor, stranger: Stranger
    ) -> None:
        nobody = f"{uuid4()}@example.com"
        pages = [stranger.submit(ASK, email=email) for email in (person.email, nobody)]
        known, unknown = (re.sub(r"[0-9a-f-]{36}@example.com", "", read_text(page.text)) for page in pages)
        assert (known, pages[0].status_code) == (unknown, pages[1].status_code)
        wait_until(lambda: links_to(mails, person.email) != [])
        assert links_to(mails, nobody) == []

    def test_more_often_than_allowed_sends_nothing_and_says_nothing_else(
        self, service: RunningService, mails: MailCatcher, person: Visitor, stranger: Stranger
    ) -> None:
        links = [ask(stranger, mails, person.email) for _ in range(MAX_LINKS_OF_ONE_PERSON.limit)]
        answers = [read_text(stranger.submit(ASK, email=person.email).text) for _ in range(2)]
        assert answers[0] == answers[1]
        assert "a link is on its way" in answers[0]
        asked = [act for act in acts_of(service, person) if act == "password.link_asked"]
        assert len(asked) == MAX_LINKS_OF_ONE_PERSON.limit
        assert stranger.open(links[0]).status_code == 200

    def test_with_what_is_no_email_is_refused(self, stranger: Stranger) -> None:
        answer = stranger.submit(ASK, email="alice")
        assert answer.status_code == 400
        assert REFUSALS["email_invalid"] in read_text(answer.text)

    def test_is_offered_where_mail_is_sent_and_nowhere_else(self, stranger: Stranger, tmp_path: Path) -> None:
        assert f'href="/app{ASK}"' in stranger.open("/sign-in").text
        without = {"smtp_url": None, "email_from": None}
        with running_service(tmp_path, **without) as silent, Stranger(silent) as visitor:
            assert ASK not in visitor.open("/sign-in").text
            assert visitor.open(ASK).status_code == 404

    def test_is_limited_by_address(self, tmp_path: Path) -> None:
        with (
            running_service(tmp_path, rate_limit_sign_in_address="2/60") as strict,
            Stranger(strict) as other,
        ):
            statuses = [other.submit(ASK, email=f"{n}@example.com").status_code for n in range(3)]
            assert statuses == [200, 200, 429]


def is_expired(stranger: Stranger, link: str) -> bool:
    answer = stranger.open(link)
    return answer.status_code == 404 and DECLINED["password_link_expired"].text in read_text(answer.text)


async def _grow_old(person: Visitor) -> None:
    await PasswordLink.filter(user_id=person.user.id).update(expires_at=a_second_ago())


async def _read_links() -> list[object]:
    return list(await PasswordLink.all().values())
