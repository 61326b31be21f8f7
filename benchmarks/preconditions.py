"""Conditions for a measurement: no other measurement runs in this tree, and no file is missing."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class CannotMeasure(Exception):  # noqa: N818 - a condition that is not met
    """The reason why a run does not begin, as a sentence."""


@contextmanager
def the_only_run(lock: Path) -> Iterator[None]:
    """Hold a lock until the block or the process ends.

    Raises `CannotMeasure` if another process has the lock.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise CannotMeasure(
                f"process {file.read().strip()} measures in this tree already: two runs at once would share"
                f" their folders and disturb each other. It holds {lock}."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def demand_files(needed: Mapping[Path, str]) -> None:
    """Raise `CannotMeasure` with every missing file and the remedy for it."""
    missing = [f"{path} is missing: {remedy}" for path, remedy in needed.items() if not path.exists()]
    if missing:
        raise CannotMeasure("\n".join(missing))
