from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from monitoring.audit.actions import Action
from monitoring.audit.actors import COMMAND_LINE, Actor
from monitoring.audit.models import AuditEntry
from monitoring.audit.service import list_entries, record
from monitoring.auth.service import create_team
from monitoring.backends.database import transaction
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.auth.models import Team

pytestmark = pytest.mark.anyio


@pytest.fixture
async def acme(tmp_path: Path) -> AsyncIterator[Team]:
    async with temporary_backends(tmp_path):
        team = await create_team("Acme", "free", 10)
        await AuditEntry.all().delete()
        yield team


class TestRecord:
    async def test_keeps_who_did_what_to_what(self, acme: Team) -> None:
        monitor_id, user_id = uuid4(), uuid4()
        actor = Actor("alice@example.com", user_id, "2001:db8::1")
        await record(acme.id, actor, Action.MONITOR_DELETED, "Shop", monitor_id)
        [entry] = (await list_entries(acme.id, 10, None)).rows
        assert (entry.actor, entry.actor_user_id, entry.address) == (
            "alice@example.com",
            user_id,
            "2001:db8::1",
        )
        assert (entry.action, entry.subject) == ("monitor.deleted", "Shop")
        assert entry.subject_id == str(monitor_id)

    async def test_cuts_what_is_too_long(self, acme: Team) -> None:
        await record(acme.id, Actor("a" * 300, address="1" * 300), Action.KEY_CREATED, "ü" * 300, "i" * 300)
        [entry] = (await list_entries(acme.id, 10, None)).rows
        texts = (entry.actor, entry.address, entry.subject, entry.subject_id)
        assert [len(text or "") for text in texts] == [255] * 4

    async def test_is_undone_with_the_act(self, acme: Team) -> None:
        async def act() -> None:
            async with transaction():
                await record(acme.id, COMMAND_LINE, Action.KEY_CREATED, "Shop")
                raise RuntimeError

        with pytest.raises(RuntimeError):
            await act()
        assert (await list_entries(acme.id, 10, None)).rows == []


class TestList:
    async def test_has_the_teams_entries_newest_first_a_page_at_a_time(self, acme: Team) -> None:
        other = await create_team("Other", "free", 10)
        for number in range(5):
            await record(acme.id, COMMAND_LINE, Action.KEY_CREATED, f"Key {number}")
            await record(other.id, COMMAND_LINE, Action.KEY_CREATED, "Theirs")
        first = await list_entries(acme.id, 3, None)
        rest = await list_entries(acme.id, 3, first.continues_after)
        assert [entry.subject for entry in first.rows + rest.rows] == [
            f"Key {number}" for number in range(4, -1, -1)
        ]
        assert rest.continues_after is None


def test_actions_fit_their_column_and_are_named_alike() -> None:
    assert len({action.value for action in Action}) == len(Action)
    assert all(len(action) <= 40 and action.count(".") == 1 for action in Action)
