"""The work of a test supervisor's children."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from monitoring.cli.failing import fail
from monitoring.cli.stopping import say_ready

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


def give_up(_lifeline: Connection) -> NoReturn:
    sys.exit(7)


def be_killed(_lifeline: Connection) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def demand_the_impossible() -> NoReturn:
    fail("There is no such thing.")


def kill_the_forking_process_once(note: Path) -> None:
    """Kill the process that this one was forked from, and so keep its parent from learning of the end."""
    if not note.exists():
        note.touch()
        os.kill(os.getppid(), signal.SIGKILL)


def demand_for_ever() -> NoReturn:
    while True:
        signal.pause()


def hang(lifeline: Connection) -> NoReturn:
    """Hang, without listening to the parent."""
    say_ready(lifeline)
    while True:
        signal.pause()
