"""Invitations by email: a link that lets its reader join, and says nothing that it should not."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from app.visitor import Stranger, Visitor, read_forms, read_text
from cast import form_team
from monitoring.app.sentences import DECLINED
from monitoring.audit.actors import COMMAND_LINE
from monitoring.auth.links import sign_link
from monitoring.members.invitations import invite, list_invitations
from monitoring.members.models import Invitation, Role
from monitoring.members.service import list_members
from notifications.mail_server import MailCatcher
from running_service import RunningService, running_service
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MEMBERS, INVITE = "/settings/members", "/settings/members/invite"
PASSWORD = "tractor umbrella limestone"
LINK = re.compile(r"http\S+/app(/join\?token=\S+)")


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
def owner(service: RunningService) -> Iterator[Visitor]:
    with Visitor(service, form_team(service)) as visitor:
        yield visitor


def letters_to(mails: MailCatcher, email: str) -> list[str]:
    texts = [mail.parse().get_body(("plain",)) for mail in mails.accepted if mail.recipient == email]
    return [text.get_content() for text in texts if text]


def link_to(mails: MailCatcher, email: str, number: int = 1) -> str:
    """Return the link of the last of so many letters, once they have come."""
    wait_until(lambda: len(letters_to(mails, email)) == number)
    (link,) = LINK.findall(letters_to(mails, email)[-1])
    return str(link)


def invited(owner: Visitor, email: str) -> str:
    """Invite someone, and return what the list of open invitations says of them."""
    assert owner.submit(INVITE, email=email).status_code == 200
    return open_invitations(owner)


def open_invitations(owner: Visitor) -> str:
    return read_text(owner.open(MEMBERS).text).partition("Open invitations")[2]


def is_expired(stranger: Stranger, link: str) -> bool:
    page = stranger.open(link)
    return page.status_code == 404 and DECLINED["invitation_link_expired"].text in read_text(page.text)


def test_the_link_lets_its_reader_join_once(
    service: RunningService, mails: MailCatcher, owner: Visitor, stranger: Stranger
) -> None:
    email = f"{uuid4()}@example.com"
    page = owner.submit(INVITE, email=email, role="viewer")
    assert f"An email with a link to join is on its way to {email}" in read_text(page.text)
    link = link_to(mails, email)
    (letter,) = letters_to(mails, email)
    assert f"{owner.email} invites you to join the team {owner.team.name}" in letter
    assert "mon_invite_" not in letter
    joining = stranger.open(link)
    assert joining.headers["referrer-policy"] == "no-referrer"
    assert email in joining.text
    data = read_forms(joining.text)["/app/join"] | {"name": "Dora", "password": "short"}
    assert stranger.post("/join", data=data).status_code == 400
    assert stranger.post("/join", data=data | {"password": PASSWORD}).url.path == "/app/monitors"
    joined = next(user for user in service.run(list_members(owner.team.id)) if user.email == email)
    assert (joined.name, joined.role) == ("Dora", Role.VIEWER)
    assert is_expired(stranger, link)


def test_the_list_says_whether_the_email_was_sent(
    service: RunningService, mails: MailCatcher, owner: Visitor
) -> None:
    mails.answers["MAIL"] = "451 Later"
    email = f"{uuid4()}@example.com"
    assert f"{email} member {owner.user.name} not yet" in invited(owner, email)

    async def is_tried() -> bool:
        invitation = await Invitation.get(email=email)
        return invitation.attempts > 0 and invitation.claim is None

    wait_until(lambda: service.run(is_tried()))
    mails.answers.clear()

    async def hurry() -> None:
        await Invitation.filter(email=email).update(due_at=datetime.now(UTC) - timedelta(seconds=5))

    service.run(hurry())
    link_to(mails, email)  # by the sweep
    wait_until(lambda: f"{email} member {owner.user.name} just now" in open_invitations(owner))


def test_a_withdrawn_or_replaced_or_foreign_link_is_worth_nothing(
    service: RunningService, mails: MailCatcher, owner: Visitor, stranger: Stranger
) -> None:
    email = f"{uuid4()}@example.com"
    invited(owner, email)
    first = link_to(mails, email)
    invited(owner, email)
    second = link_to(mails, email, number=2)
    assert is_expired(stranger, first)
    assert stranger.open(second).status_code == 200
    (invitation,) = service.run(list_invitations(owner.team.id))

    async def sign() -> str:
        return sign_link("new-password", {"invitation": str(invitation.id)}, invitation.expires_at)

    for token in (service.run(sign()), "nonsense", "x" * 5000):
        assert is_expired(stranger, f"/join?token={token}")
    owner.submit(f"{MEMBERS}/invitations/{invitation.id}/withdraw")
    assert is_expired(stranger, second)


def test_nobody_is_sent_more_than_the_limit_but_the_code_is_shown(mails: MailCatcher, tmp_path: Path) -> None:
    settings = {"smtp_url": mails.url, "ca_file": mails.ca_file, "rate_limit_confirmations": "1/3600"}
    email = f"{uuid4()}@example.com"
    with (
        running_service(tmp_path, **settings) as service,
        Visitor(service, form_team(service)) as owner,
    ):
        assert "is on its way" in read_text(owner.submit(INVITE, email=email).text)
        link_to(mails, email)
        page = read_text(owner.submit(INVITE, email=email.upper()).text)
        assert "is on its way" not in page
        assert "mon_invite_" in page
        assert f"{email} member {owner.user.name} no" in open_invitations(owner)


def test_a_service_without_a_mail_server_sends_none_and_says_so(tmp_path: Path) -> None:
    with (
        running_service(tmp_path, smtp_url=None, email_from=None) as service,
        Visitor(service, form_team(service)) as owner,
    ):
        assert "This service sends no email" in read_text(owner.open(INVITE).text)
        page = read_text(owner.submit(INVITE, email="dora@example.com").text)
        assert "Hand this over now: it is shown only once." in page
        assert "is on its way" not in page


def test_the_command_line_mails_nothing(service: RunningService, owner: Visitor) -> None:
    email = f"{uuid4()}@example.com"
    made = service.run(invite(owner.team.id, email, Role.MEMBER, by=COMMAND_LINE))
    assert made.invitation.due_at is None
