"""Atomic, durable file writes: after a power failure, a file has its complete old or new content."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

MAX_NAME_BYTES = 255

DRAFT = ".draft-"

SIGN_OF_LIFE = "sign-of-life"
SIGN_OF_LIFE_BYTES = 4096  # one block: a smaller write may succeed on a full disk


def write_durably(target: str, content: bytes) -> None:
    """Write and sync a draft, rename it to `target`, and sync all folders that have a new entry.

    obstore's LocalStore is not used, because it never syncs, so a power failure can leave an empty file under
    the final name. Paths are strings, because pathlib would account for a third of the running time. Raises
    `OSError`.
    """
    folder, name = os.path.split(target)
    extended_folders = _make_folder(folder)
    draft = os.path.join(folder, _name_draft(name))
    with _opened_alone(draft) as descriptor:
        try:
            _write_all(descriptor, content)
            os.fsync(descriptor)
            os.replace(draft, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(draft)
            raise
    for each in (folder, *extended_folders):
        _sync_folder(each)


def try_to_write(folder: str) -> None:
    """Write a small file durably and remove it. Raises `OSError`, for example if the disk is full."""
    _make_folder(folder)
    draft = os.path.join(folder, _name_draft(SIGN_OF_LIFE))
    with _opened_alone(draft) as descriptor:
        try:
            _write_all(descriptor, bytes(SIGN_OF_LIFE_BYTES))
            os.fsync(descriptor)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(draft)


def remove_drafts(folder: str) -> None:
    """Remove the drafts that killed processes left in a folder. Waits for drafts that are being written."""
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        drafts = [entry.path for entry in entries if entry.name.startswith(DRAFT)]
        for draft in drafts:
            with _opened_alone(draft):
                os.unlink(draft)


def _name_draft(name: str) -> str:
    """Return the file name of a target's draft. It never varies, so a retry overwrites a leftover draft.

    Targets in one folder never share a draft, because a caller that writes two of them would deadlock.
    """
    draft = f"{DRAFT}{name}"
    if len(os.fsencode(draft)) > MAX_NAME_BYTES:
        draft = f"{DRAFT}{sha256(os.fsencode(name)).hexdigest()}"
    return draft


def _make_folder(folder: str) -> list[str]:
    """Create a folder and its missing parents, and return the folders that have a new entry."""
    above = os.path.dirname(folder)
    try:
        os.mkdir(folder)
    except FileExistsError:
        return []
    except FileNotFoundError:
        extended_folders = _make_folder(above)
        return [*_make_folder(folder), *extended_folders]
    return [above]


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@contextmanager
def _opened_alone(path: str) -> Iterator[int]:
    """Open a file for exclusive writing by this thread, and empty it."""
    while True:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            opened = os.fstat(descriptor)
            if _is_still_at(path, opened):  # false if another writer has just written and renamed it
                if opened.st_size:
                    os.ftruncate(descriptor, 0)
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _is_still_at(path: str, opened: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), opened)
    except FileNotFoundError:
        return False


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
