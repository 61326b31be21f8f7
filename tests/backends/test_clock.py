from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from monitoring.backends.clock import SETTLING, SMALLEST_JUMP, Clock
from monitoring.backends.errors import DatabaseUnavailable
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)


class Machine:
    """A machine whose clocks are set by hand, and a database beside it."""

    def __init__(self) -> None:
        self.wall = self.database = NOON
        self.monotonic = 1000.0
        self.is_database_away = False

    def pass_time(self, passed: timedelta) -> None:
        self.wall, self.database = self.wall + passed, self.database + passed
        self.monotonic += passed.total_seconds()

    async def read_database(self) -> datetime:
        if self.is_database_away:
            raise DatabaseUnavailable("away")
        return self.database

    def open_clock(self, *, is_shared: bool = False) -> Clock:
        return Clock(self.read_database if is_shared else None, lambda: self.wall, lambda: self.monotonic)


@pytest.fixture
def machine() -> Machine:
    return Machine()


class TestJumps:
    @pytest.mark.parametrize("jump", [HOUR, -HOUR, 3650 * 24 * HOUR])
    async def test_are_logged_once_and_the_new_time_counts(
        self, machine: Machine, jump: timedelta, own_log: pytest.LogCaptureFixture
    ) -> None:
        clock = machine.open_clock()
        machine.pass_time(SECOND)
        machine.wall += jump
        for _ in range(3):
            await clock.read()
            machine.pass_time(SECOND)
        assert clock.now() == NOON + jump + 4 * SECOND
        [told] = own_log.messages
        assert told.startswith("This machine's clock jumped")
        assert f"{abs(jump.total_seconds()):.0f} s {'ahead of' if jump > 0 * SECOND else 'behind'}" in told
        assert not clock.is_settled

    async def test_are_more_than_a_slow_correction(
        self, machine: Machine, own_log: pytest.LogCaptureFixture
    ) -> None:
        clock = machine.open_clock()
        for _ in range(20):
            machine.pass_time(SECOND)
            machine.wall -= SMALLEST_JUMP - SECOND
            await clock.read()
        assert clock.now() == machine.wall
        assert own_log.messages == []
        assert clock.is_settled

    async def test_are_forgotten_after_an_hour(self, machine: Machine) -> None:
        clock = machine.open_clock()
        machine.wall += HOUR
        await clock.read()
        machine.pass_time(SETTLING - SECOND)
        assert not clock.is_settled
        machine.pass_time(SECOND)
        assert clock.is_settled

    async def test_are_not_seen_before_the_clock_is_read(self, machine: Machine) -> None:
        clock = machine.open_clock()
        machine.wall -= HOUR
        machine.monotonic += 1
        assert clock.now() == NOON + SECOND


class TestTheDatabasesClock:
    async def test_is_believed_and_a_machine_that_differs_is_logged(
        self, machine: Machine, own_log: pytest.LogCaptureFixture
    ) -> None:
        clock = machine.open_clock(is_shared=True)
        machine.database -= HOUR
        for _ in range(3):
            await clock.read()
        assert clock.now() == NOON - HOUR
        assert own_log.messages == [
            (
                "This machine's clock is 3600 s ahead of the database's clock. "
                "The service uses the database's clock"
            )
        ]

    async def test_stays_believed_when_the_machines_jumps(
        self, machine: Machine, own_log: pytest.LogCaptureFixture
    ) -> None:
        clock = machine.open_clock(is_shared=True)
        await clock.read()
        machine.wall -= HOUR
        await clock.read()
        assert clock.now() == NOON
        assert clock.is_settled
        [told] = own_log.messages
        assert told.startswith("This machine's clock jumped")

    async def test_may_jump_itself(self, machine: Machine, own_log: pytest.LogCaptureFixture) -> None:
        clock = machine.open_clock(is_shared=True)
        await clock.read()
        machine.database += HOUR
        await clock.read()
        assert clock.now() == NOON + HOUR
        assert not clock.is_settled
        [told] = own_log.messages
        assert told.startswith("The database's clock jumped")

    async def test_goes_on_while_the_database_is_away(
        self, machine: Machine, own_log: pytest.LogCaptureFixture
    ) -> None:
        clock = machine.open_clock(is_shared=True)
        machine.database += HOUR
        await clock.read()
        own_log.clear()
        machine.is_database_away = True
        machine.pass_time(HOUR)
        await clock.read()
        assert clock.now() == NOON + 2 * HOUR
        assert own_log.messages == []

    @pytest.mark.production("SQLite has no clock of its own")
    async def test_is_read_from_postgresql(self, tmp_path: Path) -> None:
        async with temporary_backends(tmp_path) as backends:
            clock = backends.clock
            await clock.read()
            assert abs(clock.now() - await backends.database.read_time()) < SMALLEST_JUMP
