from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta, timezone
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import pytest
from tortoise.exceptions import OperationalError

from history.diary import DAY, HOUR, NOON, make_result, write_down
from monitoring.backends.database import transaction
from monitoring.history.queries import insert_results, list_results

if TYPE_CHECKING:
    from datetime import datetime

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

SHOP, BLOG = UUID(int=1), UUID(int=2)


async def _moments(monitor_id: UUID = SHOP, **wanted: datetime | str) -> list[datetime]:
    return [result.checked_at for result in await list_results(monitor_id, limit=100, **wanted)]  # type: ignore[arg-type]


class TestStoring:
    async def test_keeps_every_field(self) -> None:
        full = make_result(
            SHOP,
            NOON + timedelta(microseconds=1),
            "down",
            96,
            status_code=503,
            dns_ms=9,
            connect_ms=16,
            tls_ms=37,
            first_byte_ms=31,
            error="unexpected_status",
            error_message="Answered 503 instead of 2xx — „später“",
        )
        empty = make_result(SHOP, NOON, "unknown", None, status_code=None)
        await write_down([full, empty])
        assert await list_results(SHOP, limit=10) == [full, empty]

    async def test_of_nothing_is_nothing(self) -> None:
        await write_down([])
        assert await _moments() == []

    async def test_is_undone_with_the_callers_transaction(self) -> None:
        with suppress(ZeroDivisionError):
            async with transaction() as connection:
                await insert_results(connection, [make_result(SHOP)])
                raise ZeroDivisionError
        assert await _moments() == []

    async def test_keeps_the_first_of_two_at_one_moment_and_the_rest_of_the_batch(self) -> None:
        await write_down([make_result(SHOP, NOON, "up")])
        again, other, later = (
            make_result(SHOP, NOON, "down"),
            make_result(BLOG, NOON, "down"),
            make_result(SHOP, NOON + HOUR, "down"),
        )
        await write_down([later, again, other, other])
        assert [result.outcome for result in await list_results(SHOP, limit=10)] == ["down", "up"]
        assert await list_results(BLOG, limit=10) == [other]

    async def test_leaves_the_callers_transaction_usable_after_a_moment_that_was_there(self) -> None:
        await write_down([make_result(SHOP)])
        async with transaction() as connection:
            await insert_results(connection, [make_result(SHOP)])
            await insert_results(connection, [make_result(BLOG)])
        assert await _moments(BLOG) == [NOON]

    async def test_needs_no_day_to_be_prepared(self) -> None:
        moments = [NOON - 400 * DAY, NOON, NOON + 400 * DAY]
        await write_down([make_result(SHOP, moment) for moment in moments])
        assert await _moments() == moments[::-1]

    async def test_by_several_at_once_on_a_new_day_loses_nothing(self) -> None:
        ids = [uuid4() for _ in range(8)]
        await asyncio.gather(*(write_down([make_result(monitor_id)]) for monitor_id in ids))
        assert [await _moments(monitor_id) for monitor_id in ids] == [[NOON]] * 8

    async def test_puts_the_last_microsecond_of_a_day_into_that_day(self) -> None:
        midnight = NOON.replace(hour=0)
        moments = [midnight - timedelta(microseconds=1), midnight]
        await write_down([make_result(SHOP, moment) for moment in moments])
        assert await _moments(end=midnight) == moments[:1]
        assert await _moments(start=midnight) == moments[1:]

    async def test_takes_a_moment_of_any_time_zone(self) -> None:
        there = (NOON.replace(hour=23) + HOUR).astimezone(timezone(timedelta(hours=-5)))
        await write_down([make_result(SHOP, there)])
        assert await _moments() == [there]

    @pytest.mark.production("SQLite takes any text")
    async def test_refuses_what_a_column_cannot_hold(self) -> None:
        with pytest.raises(OperationalError):
            await write_down([make_result(SHOP, error="x" * 33)])


class TestListing:
    async def test_shows_one_monitor_newest_first(self) -> None:
        moments = [NOON + n * timedelta(seconds=30.5) for n in range(5)]
        await write_down([make_result(SHOP, moment) for moment in moments] + [make_result(BLOG)])
        assert await _moments() == moments[::-1]

    async def test_begins_with_from_and_ends_before_to(self) -> None:
        await write_down([make_result(SHOP, NOON + n * HOUR) for n in range(4)])
        assert await _moments(start=NOON + HOUR, end=NOON + 3 * HOUR) == [NOON + 2 * HOUR, NOON + HOUR]

    async def test_goes_on_before_the_end_of_a_page_and_never_beyond_to(self) -> None:
        await write_down([make_result(SHOP, NOON + n * HOUR) for n in range(4)])
        first = await list_results(SHOP, limit=2)
        assert await _moments(before=first[-1].checked_at) == [NOON + HOUR, NOON]
        assert await _moments(before=NOON + 3 * HOUR, end=NOON + HOUR) == [NOON]

    async def test_filters_by_outcome(self) -> None:
        outcomes = ["up", "down", "degraded", "down"]
        await write_down([make_result(SHOP, NOON + n * HOUR, each) for n, each in enumerate(outcomes)])
        assert await _moments(outcome="down") == [NOON + 3 * HOUR, NOON + HOUR]
