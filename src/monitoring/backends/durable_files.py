"""Files that survive a power cut: afterwards either the complete old or the complete new content is there."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

MAX_NAME_BYTES = 255

DRAFT = ".draft-"

SIGN_OF_LIFE = "sign-of-life"
SIGN_OF_LIFE_BYTES = 4096  # a block: less may fit where no file fits any more


def write_durably(files: Iterable[tuple[str, bytes]]) -> dict[str, OSError]:
    """Write, sync and rename all files, then sync each folder once. Returns the errors, by path.

    obstore's LocalStore renames but never syncs, which can leave an empty file under the final name. Paths
    are strings, since pathlib would be a third of a file's cost. Raises `OSError` if a folder cannot be
    synced: then any of the files may still be lost.
    """
    # All callers use this order, so that two callers waiting for each other's drafts cannot deadlock.
    under_way = {target: _write(target, content) for target, content in sorted(files)}
    failed: dict[str, OSError] = {}
    changed_folders: dict[str, None] = {}  # a set that keeps the order
    try:
        while under_way:  # one step of each file at a time, so that the disk writes its journal less often
            for target, writing in list(under_way.items()):
                try:
                    next(writing)
                except StopIteration as end:
                    changed_folders |= dict.fromkeys(end.value)
                except OSError as error:
                    failed[target] = error
                else:
                    continue
                del under_way[target]
    finally:
        for writing in under_way.values():  # so that the next attempt need not wait for these drafts
            writing.close()
    for folder in changed_folders:
        _sync_folder(folder)
    return failed


def try_to_write(folder: str) -> None:
    """Write a small file durably and remove it again. Raises `OSError`, for example when the disk is full."""
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
    """Remove the drafts of killed processes from a folder. Drafts in use get their final name first."""
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        drafts = [entry.path for entry in entries if entry.name.startswith(DRAFT)]
        for draft in drafts:
            with _opened_alone(draft):
                os.unlink(draft)


def _write(target: str, content: bytes) -> Generator[None, None, list[str]]:
    """Write, sync and rename one file, step by step; returns the folders that have a new entry."""
    folder, name = os.path.split(target)
    extended_folders = _make_folder(folder)
    draft = os.path.join(folder, _name_draft(name))
    with _opened_alone(draft) as descriptor:
        try:
            _write_all(descriptor, content)
            yield
            _begin_to_sync(descriptor)
            yield
            os.fsync(descriptor)
            yield
            os.replace(draft, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(draft)
            raise
    return [folder, *extended_folders]


def _name_draft(name: str) -> str:
    """Return the path of a target's draft. The next attempt overwrites the draft of a killed process.

    No two targets of a folder share a draft, because a caller that writes both would wait for itself.
    """
    draft = f"{DRAFT}{name}"
    if len(os.fsencode(draft)) > MAX_NAME_BYTES:
        draft = f"{DRAFT}{sha256(os.fsencode(name)).hexdigest()}"
    return draft


def _make_folder(folder: str) -> list[str]:
    """Make a folder and its missing parents; returns the folders that have a new entry."""
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


def _begin_to_sync(descriptor: int) -> None:
    """Ask the kernel to start writing a file to disk, without waiting, so that files are written in parallel.

    The advice says that the file is not needed any more; its unwritten part stays in memory
    (posix_fadvise(2)).
    """
    if sys.platform == "linux":
        with suppress(OSError):  # only advice: `fsync` follows
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


@contextmanager
def _opened_alone(path: str) -> Iterator[int]:
    """Open an empty file for exclusive writing by this thread."""
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
