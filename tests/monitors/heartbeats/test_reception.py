from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from checks.rounds import NOON, SECOND, make_due
from monitoring.backends.clock import Clock
from monitoring.monitors.heartbeats.models import Heartbeat, PingReception
from monitoring.monitors.heartbeats.reception import (
    LONGEST_SILENCE,
    LONGEST_SILENCE_AT_START,
    Receiver,
    note_interruption,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime
    from typing import TypeAlias

    from monitoring.backends.assembly import Backends

    NoteAt: TypeAlias = Callable[[Receiver, datetime], Awaitable[None]]

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]


@pytest.fixture
def note_at(backends: Backends) -> NoteAt:
    """Have a process note when the clock says so."""

    async def note(receiver: Receiver, moment: datetime) -> None:
        clock = Clock(read_machine_time=lambda: moment, monotonic=lambda: 0.0)
        with replace(backends, clock=clock).activate():
            await receiver.note()

    return note


@pytest.fixture(autouse=True)
async def heartbeat(backends: Backends) -> Heartbeat:  # noqa: ARG001 - it needs them
    [monitor] = await make_due()
    return await Heartbeat.create(monitor_id=monitor.id, token_sha256=uuid4().hex, encrypted_token="")


async def read() -> tuple[datetime, datetime | None]:
    reception = await PingReception.get()
    return reception.received_until, reception.interrupted_until


async def test_without_heartbeats_nothing_is_noted(heartbeat: Heartbeat) -> None:
    await heartbeat.delete()
    await Receiver().note()
    assert not await PingReception.exists()


async def test_a_process_that_goes_on_notes_no_interruption(note_at: NoteAt) -> None:
    receiver = Receiver()
    for moment in (NOON, NOON + LONGEST_SILENCE, NOON + 2 * LONGEST_SILENCE):
        await note_at(receiver, moment)
    assert await read() == (NOON + 2 * LONGEST_SILENCE, None)


@pytest.mark.parametrize("gap", [LONGEST_SILENCE + SECOND, timedelta(days=1)])
async def test_a_gap_is_an_interruption_until_now(note_at: NoteAt, gap: timedelta) -> None:
    """The process was frozen, its database was away, its machine slept, or its clock jumped ahead."""
    receiver = Receiver()
    await note_at(receiver, NOON)
    await note_at(receiver, NOON + gap)
    assert await read() == (NOON + gap, NOON + gap)


async def test_a_process_that_starts_knows_that_it_did_not_run_before(note_at: NoteAt) -> None:
    await note_at(Receiver(), NOON)
    await note_at(Receiver(), NOON + LONGEST_SILENCE_AT_START + SECOND)
    assert await read() == (NOON + LONGEST_SILENCE_AT_START + SECOND,) * 2


async def test_a_process_that_starts_beside_others_interrupts_nothing(note_at: NoteAt) -> None:
    await note_at(Receiver(), NOON)
    await note_at(Receiver(), NOON + LONGEST_SILENCE_AT_START)
    assert await read() == (NOON + LONGEST_SILENCE_AT_START, None)


async def test_a_clock_that_is_set_back_leaves_no_note_of_the_future(note_at: NoteAt) -> None:
    receiver = Receiver()
    await note_at(receiver, NOON + timedelta(days=1))
    await note_at(receiver, NOON)
    assert await read() == (NOON, None)


async def test_an_interruption_that_was_found_otherwise_is_noted(note_at: NoteAt) -> None:
    await note_at(Receiver(), NOON)
    await note_interruption(NOON + SECOND)
    assert await read() == (NOON, NOON + SECOND)
