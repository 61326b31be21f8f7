"""What is wrong with a form can be come back to for an hour, by its session alone; it is stored encrypted."""

from __future__ import annotations

from asyncio import gather
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from monitoring.members.kept_answers import (
    KEPT_A_SESSION,
    LIFETIME,
    Answer,
    delete_old_answers,
    find_answer,
    keep_answer,
)
from monitoring.members.models import KeptAnswer, Session
from monitoring.members.sessions import begin_session, end_session

if TYPE_CHECKING:
    from uuid import UUID

    from monitoring.members.models import User

pytestmark = pytest.mark.anyio

ANSWER = Answer(400, "<p>Authorization: Bearer typed")


async def begin(user: User) -> UUID:
    await begin_session(user, "Firefox")
    return (await Session.filter(user_id=user.id).order_by("-id"))[0].id


async def keep(session_id: UUID) -> UUID:
    answer_id = await keep_answer(session_id, ANSWER)
    assert answer_id
    return answer_id


async def test_only_its_session_finds_an_answer_and_the_database_does_not_show_it(
    alice: User, bob: User
) -> None:
    session_id = await begin(alice)
    answer_id = await keep(session_id)
    assert await find_answer(session_id, answer_id) == ANSWER
    assert await find_answer(await begin(bob), answer_id) is None
    assert "typed" not in str(await KeptAnswer.all().values())


async def test_a_session_keeps_its_newest_answers_for_an_hour(alice: User) -> None:
    session_id = await begin(alice)
    first, *others = [await keep(session_id) for _ in range(KEPT_A_SESSION + 1)]
    assert await find_answer(session_id, first) is None
    assert await find_answer(session_id, others[0]) == ANSWER
    await KeptAnswer.filter(id=others[0]).update(created_at=datetime.now(UTC) - LIFETIME)
    assert await find_answer(session_id, others[0]) is None
    assert await delete_old_answers(datetime.now(UTC) + timedelta(seconds=1)) == 1


async def test_answers_of_the_same_moment_are_all_kept(alice: User) -> None:
    for _ in range(20):
        session_id = await begin(alice)
        kept = await gather(*(keep(session_id) for _ in range(KEPT_A_SESSION)))
        assert [await find_answer(session_id, each) for each in kept] == [ANSWER] * KEPT_A_SESSION


async def test_nothing_is_kept_for_a_session_that_has_ended(alice: User) -> None:
    session_id = await begin(alice)
    await keep(session_id)
    await end_session(session_id)
    assert not await KeptAnswer.exists()
    assert await keep_answer(session_id, ANSWER) is None
