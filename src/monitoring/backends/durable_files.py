"""Files that are whole and stay: after a power cut the old or the new content is there."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MAX_NAME_BYTES = 255


def write_durably(files: Iterable[tuple[Path, bytes]]) -> dict[Path, OSError]:
    """Write, sync and rename each, then sync the folders, each once. Returns what failed, and with what.

    obstore's LocalStore renames but never syncs, which can leave an empty file under the final name.
    Raises `OSError` if a folder cannot be synced: of no file it is known then whether it stays.
    """
    failed: dict[Path, OSError] = {}
    changed_folders: dict[Path, None] = {}  # a set that keeps the order
    for target, content in files:
        try:
            parents = _make_folder(target.parent)
            _write_alone(target, content)
        except OSError as error:
            failed[target] = error
        else:
            changed_folders |= dict.fromkeys([target.parent, *parents])
    for folder in changed_folders:
        _sync_folder(folder)
    return failed


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder, and those above it that are missing; returns the folders in which one was made."""
    try:
        folder.mkdir()
    except FileExistsError:
        return []
    except FileNotFoundError:
        above = _make_folder(folder.parent)
        return [*_make_folder(folder), *above]
    return [folder.parent]


def _write_alone(target: Path, content: bytes) -> None:
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
