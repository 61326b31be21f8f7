"""The blog storage: a local folder, S3, Google Cloud Storage or Azure, chosen by URL."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from obstore.exceptions import BaseError, NotFoundError
from obstore.store import LocalStore, MemoryStore, from_url

from monitoring.backends.errors import StorageUnavailable
from monitoring.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from obstore.store import ClientConfig, ObjectStore, RetryConfig
    from pydantic import SecretStr

# A publisher gives up after some five seconds, so the storage must be given up on before that.
_CLIENT_OPTIONS: ClientConfig = {"connect_timeout": timedelta(seconds=2), "timeout": timedelta(seconds=4)}
_RETRIES: RetryConfig = {"max_retries": 1, "retry_timeout": timedelta(seconds=4)}

MAX_NAME_BYTES = 255

_NAME = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}"
_PATH = re.compile(rf"{_NAME}(?:/{_NAME}){{0,15}}")


class BlogStorage:
    """Objects by path. A put is all or nothing, and durable when it returns.

    Every method raises `StorageUnavailable`; a path that is not plain (`[A-Za-z0-9._-]` names, none of which
    begins with a dot, separated by `/`) is a `ValueError`.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._folder = Path(store.prefix) if isinstance(store, LocalStore) and store.prefix else None

    async def put(self, path: str, content: bytes) -> None:
        """Store the content under the path, in place of what was there."""
        with _unavailable_if_it_fails():
            if self._folder:
                await asyncio.to_thread(_write_durably, self._folder / _checked(path), content)
            else:
                await self._store.put_async(_checked(path), content)

    async def get(self, path: str) -> bytes | None:
        """Read what is stored under the path, or None."""
        with _unavailable_if_it_fails():
            try:
                found = await self._store.get_async(_checked(path))
                return bytes(await found.bytes_async())
            except (NotFoundError, FileNotFoundError):
                return None

    async def check(self) -> None:
        """Ask the storage for a sign of life."""
        await self.get("sign-of-life")

    async def list(self, folder: str) -> list[str]:
        """List the paths below a folder, sorted."""
        with _unavailable_if_it_fails():
            objects = await self._store.list(_checked(folder)).collect_async()
            paths = (found["path"] for found in objects)
            return sorted(path for path in paths if _PATH.fullmatch(path))  # no drafts of a killed process

    async def delete(self, path: str) -> None:
        """Delete what is stored under the path, if anything."""
        with _unavailable_if_it_fails(), suppress(NotFoundError, FileNotFoundError):
            await self._store.delete_async(_checked(path))


def open_blog_storage(url: SecretStr | None) -> BlogStorage | None:
    """Open the storage of the URL; None when none is configured. A local folder is made when missing.

    Raises `SettingsError` for a URL that names no storage; one that is away is no error yet.

    Credentials of cloud storages come from their usual environment variables (AWS_*, GOOGLE_*, AZURE_*).
    """
    if not url:
        return None
    location = url.get_secret_value()
    try:
        if location.startswith("file://"):
            return BlogStorage(LocalStore.from_url(location, mkdir=True))
        if location.startswith("memory://"):
            return BlogStorage(MemoryStore())
        return BlogStorage(from_url(location, client_options=_CLIENT_OPTIONS, retry_config=_RETRIES))
    except (BaseError, OSError) as error:
        raise SettingsError(f"BLOG_STORAGE_URL: cannot be opened ({type(error).__name__})") from error


@contextmanager
def _unavailable_if_it_fails() -> Iterator[None]:
    try:
        yield
    except (BaseError, OSError) as error:
        raise StorageUnavailable(type(error).__name__) from error


def _checked(path: str) -> str:
    if not _PATH.fullmatch(path):
        raise ValueError("a storage path consists of plain names separated by /")
    return path


def _write_durably(target: Path, content: bytes) -> None:
    """Write, sync, rename, sync the folder: after a power cut the old or the new content is there, whole.

    LocalStore renames but never syncs, which can leave an empty file under the final name.
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
