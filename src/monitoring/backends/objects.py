"""The blog storage: a local folder, S3, Google Cloud Storage or Azure, chosen by URL."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast
from urllib.parse import urlsplit

from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError, PreconditionError
from obstore.store import LocalStore, MemoryStore, from_url
from pydantic import SecretStr

from monitoring.backends.durable_files import SIGN_OF_LIFE, remove_drafts, try_to_write, write_durably
from monitoring.backends.errors import StorageChanged, StorageUnavailable, describe_error
from monitoring.backends.outage import SETTLING_SECONDS, Outage, outage_of
from monitoring.settings import SettingsError

if TYPE_CHECKING:  # only obstore's stubs define these names
    from obstore import ObjectMeta, PutMode, UpdateVersion
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

Version: TypeAlias = "PutMode"  # the stored version that a put requires

# The timeout of an operation, including all of its requests and the lookup of credentials. It is shorter than
# a publisher's timeout of about five seconds.
_GIVE_UP_SECONDS = 4
_TURN_SECONDS = 1
_WRITE_AGAIN_SECONDS = 60
_CLIENT_OPTIONS: ClientConfig = {
    "connect_timeout": timedelta(seconds=_GIVE_UP_SECONDS / 2),
    "timeout": timedelta(seconds=_GIVE_UP_SECONDS),
    "allow_http": True,  # for http endpoints, because with these options AWS_ALLOW_HTTP is ignored
}
_RETRIES: RetryConfig = {"max_retries": 1, "retry_timeout": timedelta(seconds=_GIVE_UP_SECONDS)}

_STATUS = re.compile(r"status code: (\d{3})")
_NO_ANSWER = re.compile(r"kind: Timeout|TimedOut")
_NO_CONNECTION = re.compile(r'Os \{[^}]*message: "([^"]+)"|error: "(failed to lookup address[^"]*)"')
_NAME = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}"
_PATH = re.compile(rf"{_NAME}(?:/{_NAME}){{0,15}}")


class BlogStorage:
    """An object store. A put is atomic, and durable when it returns.

    A path consists of `[A-Za-z0-9._-]` names that do not begin with a dot, separated by `/`. Methods raise
    `ValueError` for other paths. Every method raises `StorageUnavailable` if the storage fails. An operation
    of a cloud storage times out after four seconds.
    """

    def __init__(self, store: ObjectStore, place: str, max_turns: int = 5) -> None:
        self._store = store
        self.outage = outage_of(f"The blog storage {place}")
        self._crowding = Outage(
            f"Deliveries wait for the blog storage {place} for too long", settling_seconds=SETTLING_SECONDS
        )
        self._turns = asyncio.Semaphore(max_turns)
        self._writes_again_at = 0.0
        self._folder = Path(store.prefix) if isinstance(store, LocalStore) and store.prefix else None
        # A folder has no timeout, because the writing thread cannot be cancelled and would still write the
        # file after the timeout.
        self._patience_seconds = None if self._folder else _GIVE_UP_SECONDS

    async def find_version(self, path: str) -> Version:
        """Return the version of the object at `path`, for a `put` that must not replace a newer version."""
        if self._folder:
            return "overwrite"  # a folder has no conditional writes
        async with self._unavailable_if_it_fails():
            try:
                return _is_still(await self._store.head_async(_checked(path)))
            except (NotFoundError, FileNotFoundError):
                return "create"

    async def put(self, path: str, content: bytes, replacing: Version | None = None) -> None:
        """Store content at `path`, replacing only the version `replacing`, or any version if that is None.

        A caller that must be the only writer first calls `find_version`, and then checks that it still is the
        only writer. If another writer has stored the object since then, the put raises `StorageChanged`. Do
        not call this concurrently for one path. If a put fails, the content may still have been stored.
        """
        if self._folder:
            async with self._unavailable_if_it_fails(writes=True):
                await asyncio.to_thread(write_durably, f"{self._folder}/{_checked(path)}", content)
            return
        version = replacing or await self.find_version(path)
        async with self._unavailable_if_it_fails(writes=True):
            await self._put_if(version, _checked(path), content)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Acquire one of `max_turns` slots, for a put during which the caller holds a database connection.

        Waiting for a slot times out after one second, because an unresponsive storage must not block callers
        that hold connections. For a folder, the timeout is four seconds, because a disk may be slow but
        hardly ever hangs.
        """
        try:
            async with asyncio.timeout(_GIVE_UP_SECONDS if self._folder else _TURN_SECONDS):
                await self._turns.acquire()
        except TimeoutError as error:
            if self.outage.is_on:
                raise StorageUnavailable("too many concurrent writes", self.outage) from error
            self._crowding.begin(error)
            raise StorageUnavailable("too many concurrent writes", self._crowding) from error
        self._crowding.end()
        try:
            yield
        finally:
            self._turns.release()

    async def get(self, path: str) -> bytes | None:
        """Return the content of the object at `path`. None if there is no object."""
        async with self._unavailable_if_it_fails():
            try:
                found = await self._store.get_async(_checked(path))
                return bytes(await found.bytes_async())
            except (NotFoundError, FileNotFoundError):
                return None

    async def try_to_write(self) -> None:
        """Write a small object, because reads succeed even if the disk is full.

        In a bucket, the object stays, and is written at most once a minute, because each write costs money.
        Calls in between only list the bucket. During an outage, every call writes.
        """
        if self._folder:
            async with self._unavailable_if_it_fails(writes=True):
                await asyncio.to_thread(try_to_write, str(self._folder))
            return
        if time.monotonic() < self._writes_again_at and not self.outage.is_on:
            await self.list(SIGN_OF_LIFE)
            return
        async with self._unavailable_if_it_fails(writes=True):
            await self._put_if("overwrite", SIGN_OF_LIFE, b"This service can write here.\n")
        self._writes_again_at = time.monotonic() + _WRITE_AGAIN_SECONDS

    async def list(self, folder: str) -> list[str]:
        """Return the paths in a folder and its subfolders, sorted."""
        async with self._unavailable_if_it_fails():
            objects = await self._store.list(_checked(folder)).collect_async()
            paths = (found["path"] for found in objects)
            return sorted(path for path in paths if _PATH.fullmatch(path))  # omits drafts of killed processes

    async def delete(self, *paths: str) -> None:
        """Delete the objects at `paths`, ignoring missing ones. Deletions cannot be conditional."""

        async def delete_one(path: str) -> None:
            with suppress(NotFoundError, FileNotFoundError):
                await self._store.delete_async(_checked(path))

        async with self._unavailable_if_it_fails():
            for error in filter(None, await asyncio.gather(*map(delete_one, paths), return_exceptions=True)):
                raise error

    async def remove_drafts(self, folder: str) -> None:
        """Remove killed processes' drafts from a local folder. Does nothing for other storages."""
        if self._folder:
            async with self._unavailable_if_it_fails():
                await asyncio.to_thread(remove_drafts, f"{self._folder}/{_checked(folder)}")

    async def _put_if(self, version: Version, path: str, content: bytes) -> None:
        try:
            await self._store.put_async(path, content, mode=version, use_multipart=False)
        except NotImplementedError:  # AWS_CONDITIONAL_PUT=disabled, for servers without conditional puts
            await self._store.put_async(path, content, use_multipart=False)

    @asynccontextmanager
    async def _unavailable_if_it_fails(self, *, writes: bool = False) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._patience_seconds):
                yield
        except (AlreadyExistsError, PreconditionError) as error:
            raise StorageChanged(_describe(error)) from error
        except (BaseError, OSError) as error:  # TimeoutError is an OSError
            self.outage.begin(StorageUnavailable(_describe(error)), refuses_writes=writes)
            raise StorageUnavailable(_describe(error), self.outage) from error
        self.outage.end(wrote=writes)


def open_blog_storage(url: SecretStr, max_turns: int = 5) -> BlogStorage:
    """Open the storage at a URL. A missing local folder is created.

    Raises `SettingsError` if the URL is invalid. An unavailable storage raises no error here. Cloud
    credentials come from their usual environment variables (AWS_*, GOOGLE_*, AZURE_*).
    """
    location = url.get_secret_value()
    try:
        if location.startswith("file://"):
            return BlogStorage(LocalStore.from_url(location, mkdir=True), _place(location), max_turns)
        if location.startswith("memory://"):
            return BlogStorage(MemoryStore(), "in memory", max_turns)
        store = from_url(location, client_options=_CLIENT_OPTIONS, retry_config=_RETRIES)
        return BlogStorage(store, _place(location), max_turns)
    except (BaseError, OSError, ValueError) as error:
        raise SettingsError(f"BLOG_STORAGE_URL: cannot be opened ({type(error).__name__})") from error


def _place(location: str) -> str:
    """Return a storage's location for messages: its folder, or its bucket and configured server."""
    url = urlsplit(location)
    if url.scheme == "file":
        return f"in {url.path}"
    bucket = f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"
    endpoint = os.environ.get("AWS_ENDPOINT_URL") if url.scheme == "s3" else None
    return f"at {urlsplit(endpoint).netloc.rpartition('@')[2]}, {bucket}" if endpoint else f"at {bucket}"


def _describe(error: Exception) -> str:
    """Return an error's type and known cause.

    The full text contains URLs, some with signatures, so only harmless parts are used.
    """
    if isinstance(error, OSError):
        return describe_error(OSError(error.errno, error.strerror)) if error.errno else describe_error(error)
    text = str(error)
    if status := _STATUS.search(text):
        return f"{type(error).__name__} (HTTP {status[1]})"
    if reason := _NO_CONNECTION.search(text):
        return f"{type(error).__name__}: {reason[1] or reason[2]}"
    if _NO_ANSWER.search(text):
        return f"{type(error).__name__}: no answer in time"
    return type(error).__name__


def _is_still(found: ObjectMeta) -> UpdateVersion:
    identity = {name: found[name] for name in ("e_tag", "version") if found[name]}
    return cast("UpdateVersion", identity)


def _checked(path: str) -> str:
    if not _PATH.fullmatch(path):
        raise ValueError("a storage path consists of plain names separated by /")
    return path
