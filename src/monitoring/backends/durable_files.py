"""Files that are whole and stay: after a power cut the old or the new content is there."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_NAME_BYTES = 255


def write_durably(target: Path, content: bytes) -> None:
    """Write, sync, rename, sync the folder.

    obstore's LocalStore renames but never syncs, which can leave an empty file under the final name.
    """
    created = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    # One draft a target: what a killed process has left of it is written over by whoever tries again.
    draft = target.with_name(f".draft-{target.name}"[:MAX_NAME_BYTES])
    with _open_alone(draft) as file:
        try:
            file.truncate(0)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    for folder in [target.parent, *(folder.parent for folder in created)]:
        _sync_folder(folder)


@contextmanager
def _open_alone(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing, made when missing, that no other thread or process has open in this way."""
    while True:
        with path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_still_at(path, file):  # whoever had it before has most likely renamed it
                yield file
                return


def _is_still_at(path: Path, file: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
