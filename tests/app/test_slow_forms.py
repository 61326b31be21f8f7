"""A form that arrives slowly is judged by its sender's rights when it is complete, not when it began."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from app.visitor import Visitor, read_forms
from monitoring.audit.actors import COMMAND_LINE
from monitoring.auth.service import list_keys
from monitoring.members.invitations import list_invitations
from monitoring.members.service import change_role, remove_member
from raw_http import connect, read_answer, request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.auth.models import Team
    from raw_http import Answer
    from running_service import RunningService

NEW_KEY = "/settings/api-keys/new"
INVITE = "/settings/members/invite"


@contextmanager
def half_sent(service: RunningService, visitor: Visitor, path: str, **fields: str) -> Iterator[list[Answer]]:
    """Send a form's beginning before the block and its end after it. The answer is then in the list."""
    form = read_forms(visitor.open(path).text)[f"/app{path}"] | fields
    body = urlencode(form, doseq=True).encode()
    head = (
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(body)}",
        f"Cookie: session={visitor.cookies['session']}",
    )
    answers: list[Answer] = []
    with connect(("127.0.0.1", service.port)) as connection:
        connection.sendall(request("POST", f"/app{path}", *head) + body[:-1])
        # Once a later request on another connection is answered, the form's head has been read.
        visitor.open("/settings/account")
        yield answers
        connection.sendall(body[-1:])
        answers.append(read_answer(connection))


@pytest.mark.usefixtures("owner")
def test_a_removed_owner_makes_no_key_with_a_form_begun_before(service: RunningService, team: Team) -> None:
    with (
        Visitor(service, team) as mallory,
        half_sent(service, mallory, NEW_KEY, name="Mine", scopes="monitors:read") as answers,
    ):
        service.run(remove_member(team.id, mallory.user.id, by=COMMAND_LINE))
    assert answers[0].status == 303
    assert answers[0].headers["location"].startswith("/app/sign-in")
    assert "Mine" not in [key.name for key in service.run(list_keys(team.id))]


@pytest.mark.usefixtures("owner")
def test_a_demoted_owner_invites_nobody_with_a_form_begun_before(service: RunningService, team: Team) -> None:
    with (
        Visitor(service, team) as mallory,
        half_sent(service, mallory, INVITE, email="eve@example.com", role="owner") as answers,
    ):
        service.run(change_role(team.id, mallory.user.id, "member", by=COMMAND_LINE))
    assert answers[0].status == 403
    assert service.run(list_invitations(team.id)) == []
