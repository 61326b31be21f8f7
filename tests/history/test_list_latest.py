from __future__ import annotations

import logging
from datetime import timedelta
from threading import get_ident
from uuid import UUID

import pytest
from tortoise.log import db_client_logger

from history.diary import DAY, NOON, make_result, write_down
from monitoring.history.models import Glimpse
from monitoring.history.queries import MAX_MONITORS, list_latest

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

SHOP, BLOG, QUIET = UUID(int=1), UUID(int=2), UUID(int=3)
MINUTE = timedelta(minutes=1)


class _Recorder(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.count, self._thread = 0, get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        self.count += record.thread == self._thread


class TestTheLatestChecks:
    async def test_are_the_newest_of_each_monitor_oldest_first(self) -> None:
        shop = [make_result(SHOP, NOON + n * MINUTE, "up", n) for n in range(5)]
        blog = [make_result(BLOG, NOON + n * MINUTE, "down", None) for n in range(2)]
        await write_down([*shop, *blog])
        assert await list_latest([BLOG, SHOP], NOON, 3) == {
            SHOP: [Glimpse("up", 2), Glimpse("up", 3), Glimpse("up", 4)],
            BLOG: [Glimpse("down", None), Glimpse("down", None)],
        }

    async def test_begin_with_since_on_whatever_day_that_is(self) -> None:
        await write_down([make_result(SHOP, NOON + n * DAY, "up", n) for n in range(4)])
        assert await list_latest([SHOP], NOON + DAY, 40) == {SHOP: [Glimpse("up", n) for n in (1, 2, 3)]}

    async def test_are_none_of_a_monitor_without_checks_and_of_no_monitor(self) -> None:
        await write_down([make_result(SHOP)])
        assert await list_latest([QUIET], NOON, 40) == {QUIET: []}
        assert await list_latest([], NOON, 40) == {}

    async def test_of_as_many_monitors_as_there_may_be_take_one_statement(self) -> None:
        await write_down([make_result(SHOP), make_result(BLOG)])
        recorder, level = _Recorder(), db_client_logger.level
        db_client_logger.addHandler(recorder)
        db_client_logger.setLevel(logging.DEBUG)
        try:
            found = await list_latest([UUID(int=n) for n in range(MAX_MONITORS)], NOON, 40)
        finally:
            db_client_logger.removeHandler(recorder)
            db_client_logger.setLevel(level)
        assert recorder.count == 1
        assert len(found) == MAX_MONITORS
        assert [monitor_id for monitor_id, checks in found.items() if checks] == [SHOP, BLOG]
