from __future__ import annotations

import asyncio
import os
import signal
from functools import partial
from typing import TYPE_CHECKING

import pytest

from cli.child_work import (
    be_killed,
    demand_for_ever,
    demand_the_impossible,
    give_up,
    hang,
    kill_the_forking_process_once,
)
from monitoring.cli import supervising
from monitoring.cli.supervising import Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio


def stop_this_process() -> None:
    """Send an orchestrator's signal to the parent, which is the test's own process here."""
    os.kill(os.getpid(), signal.SIGTERM)


class Witness:
    """Records what a supervisor reports."""

    def __init__(self, on_ready: Callable[[], None] = lambda: None) -> None:
        self.events: list[str] = []
        self.process_ids: set[int] = set()
        self._on_ready = on_ready

    async def watch(self, supervisor: Supervisor, demand: Callable[[], None] | None = None) -> None:
        await supervisor.run(self._note_ready, lambda: self.events.append("stop"), self._note_end, demand)

    def _note_ready(self) -> None:
        self.events.append("ready")
        self._on_ready()

    def _note_end(self, process_id: int) -> None:
        self.events.append("end")
        self.process_ids.add(process_id)


async def test_children_that_give_up_at_the_start_end_the_whole_with_their_status() -> None:
    supervisor, witness = Supervisor(give_up, [()] * 2, name="child", finishing_seconds=0), Witness()
    await witness.watch(supervisor)
    assert supervisor.status == 7
    assert sorted(witness.events) == ["end", "end", "stop"]


async def test_no_child_is_started_if_what_all_need_is_missing() -> None:
    supervisor, witness = Supervisor(hang, [()] * 2, name="child", finishing_seconds=0), Witness()
    await witness.watch(supervisor, demand_the_impossible)
    assert (supervisor.status, witness.events) == (1, ["end"])


async def test_a_stop_does_not_wait_to_know_what_is_missing() -> None:
    supervisor, witness = Supervisor(hang, [()] * 2, name="child", finishing_seconds=0), Witness()
    asyncio.get_running_loop().call_later(0.1, stop_this_process)
    await witness.watch(supervisor, demand_for_ever)
    assert (supervisor.signal_number, supervisor.status) == (signal.SIGTERM, 0)
    assert witness.events == ["stop", "end"]


async def test_what_all_need_is_asked_again_if_the_process_that_forks_is_killed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DROPPING_SECONDS", "REACTION_SECONDS"):
        monkeypatch.setattr(supervising, name, 0)
    supervisor, witness = (
        Supervisor(hang, [()] * 2, name="child", finishing_seconds=0),
        Witness(on_ready=stop_this_process),
    )
    await witness.watch(supervisor, partial(kill_the_forking_process_once, tmp_path / "killed"))
    assert (supervisor.signal_number, supervisor.status) == (signal.SIGTERM, 0)
    assert witness.events == ["end", "end", "ready", "stop", "end", "end"]


async def test_children_that_die_soon_are_replaced_more_and_more_slowly(
    own_log: pytest.LogCaptureFixture,
) -> None:
    supervisor, witness = Supervisor(be_killed, [()] * 1, name="child", finishing_seconds=0), Witness()
    running = asyncio.create_task(witness.watch(supervisor))
    while len(witness.process_ids) < 2:  # noqa: ASYNC110 - it waits for another process
        await asyncio.sleep(0.01)
    stop_this_process()
    await running
    assert supervisor.signal_number == signal.SIGTERM
    messages = [record.getMessage() for record in own_log.records]
    assert [message.partition("another")[2] for message in messages[:2]] == [
        " one starts in 1 seconds",
        " one starts in 2 seconds",
    ]
    assert all("ended with status -9" in message for message in messages)


async def test_children_that_hang_are_killed_when_their_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DROPPING_SECONDS", "REACTION_SECONDS"):
        monkeypatch.setattr(supervising, name, 0)
    supervisor, witness = (
        Supervisor(hang, [()] * 2, name="child", finishing_seconds=0),
        Witness(on_ready=stop_this_process),
    )
    await witness.watch(supervisor)
    assert (supervisor.signal_number, supervisor.status) == (signal.SIGTERM, 0)
    assert witness.events == ["ready", "stop", "end", "end"]
