"""The blog storage: a local folder, S3, Google Cloud Storage or Azure, chosen by URL."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager, nullcontext, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError, PreconditionError
from obstore.store import LocalStore, MemoryStore, from_url

from monitoring.backends.durable_files import write_durably
from monitoring.backends.errors import StorageChanged, StorageUnavailable
from monitoring.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from obstore import ObjectMeta, PutMode, UpdateVersion
    from obstore.store import ClientConfig, ObjectStore, RetryConfig
    from pydantic import SecretStr

Version: TypeAlias = "PutMode"  # what must still be under a path when something is put there

# A publisher gives up after some five seconds, so the storage must be given up on before that: whatever
# requests an operation is made of, the search for credentials included.
_GIVE_UP_SECONDS = 4
_TURN_SECONDS = 1
_CLIENT_OPTIONS: ClientConfig = {
    "connect_timeout": timedelta(seconds=_GIVE_UP_SECONDS / 2),
    "timeout": timedelta(seconds=_GIVE_UP_SECONDS),
    "allow_http": True,  # where the operator's endpoint says so; beside options, AWS_ALLOW_HTTP is ignored
}
_RETRIES: RetryConfig = {"max_retries": 1, "retry_timeout": timedelta(seconds=_GIVE_UP_SECONDS)}

_STATUS = re.compile(r"status code: (\d{3})")
_NAME = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}"
_PATH = re.compile(rf"{_NAME}(?:/{_NAME}){{0,15}}")


class BlogStorage:
    """Objects by path. A put is all or nothing, and durable when it returns.

    Every method raises `StorageUnavailable`, a cloud's within four seconds; a path that is not plain
    (`[A-Za-z0-9._-]` names, none of which begins with a dot, separated by `/`) is a `ValueError`.
    """

    def __init__(self, store: ObjectStore, max_turns: int = 5) -> None:
        self._store = store
        self._turns = asyncio.Semaphore(max_turns)
        self._disk = asyncio.Lock()
        self._folder = Path(store.prefix) if isinstance(store, LocalStore) and store.prefix else None
        # A thread that writes a file cannot be given up on: it would go on, late and unasked.
        self._patience_seconds = None if self._folder else _GIVE_UP_SECONDS

    async def find_version(self, path: str) -> Version:
        """Say what is under the path now, for a `put` that must not replace anything newer."""
        if self._folder:
            return "overwrite"  # a folder has no conditions
        async with _unavailable_if_it_fails(self._patience_seconds):
            try:
                return _is_still(await self._store.head_async(_checked(path)))
            except (NotFoundError, FileNotFoundError):
                return "create"

    async def put(self, path: str, content: bytes, replacing: Version | None = None) -> None:
        """Store the content under the path, in place of this version, or of what is there now.

        Whoever has to know that nobody else writes reads the version first and makes sure of it then: a put
        that comes late is refused. One put a path at a time; what failed may still have been stored.
        """
        if self._folder:
            if refused := await self._write_files(self._folder, {path: content}):
                raise refused[path]
            return
        version = replacing or await self.find_version(path)
        async with _unavailable_if_it_fails(self._patience_seconds):
            await self._put_if(version, _checked(path), content)

    async def put_new(self, contents: Mapping[str, bytes]) -> dict[str, StorageUnavailable]:
        """Store contents where nothing is yet, all at once. Returns why some were not stored, by path.

        What is there already is a `StorageChanged`, but in a folder, which has no conditions.
        """
        if self._folder:
            return await self._write_files(self._folder, contents)
        puts = (self.put(path, content, "create") for path, content in contents.items())
        outcomes = zip(contents, await asyncio.gather(*puts, return_exceptions=True), strict=True)
        refused = {}
        for path, outcome in outcomes:
            if isinstance(outcome, StorageUnavailable):
                refused[path] = outcome
            elif outcome:
                raise outcome
        return refused

    @property
    def turn_seconds(self) -> float:
        """For how long a turn is worth waiting for.

        A second: who puts into a storage that hangs must not hold up everybody else. For a disk four, since
        it may be slow with what goes on there beside, and hardly ever hangs.
        """
        return _GIVE_UP_SECONDS if self._folder else _TURN_SECONDS

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Take one of the turns there are, for what holds on to something else while it puts."""
        async with _unavailable_if_it_fails(self.turn_seconds):
            await self._turns.acquire()
        try:
            yield
        finally:
            self._turns.release()

    @asynccontextmanager
    async def turn_for_many(self) -> AsyncIterator[None]:
        """Take a turn for much at once. In a folder one at a time: a disk does more of it the less often."""
        async with self._disk if self._folder else nullcontext(), self.turn():
            yield

    async def get(self, path: str) -> bytes | None:
        """Read what is stored under the path, or None."""
        async with _unavailable_if_it_fails(self._patience_seconds):
            try:
                found = await self._store.get_async(_checked(path))
                return bytes(await found.bytes_async())
            except (NotFoundError, FileNotFoundError):
                return None

    async def check(self) -> None:
        """Ask the storage for a sign of life: a list, since a bucket that is missing has no object either."""
        await self.list("sign-of-life")

    async def list(self, folder: str) -> list[str]:
        """List the paths below a folder, sorted."""
        async with _unavailable_if_it_fails(self._patience_seconds):
            objects = await self._store.list(_checked(folder)).collect_async()
            paths = (found["path"] for found in objects)
            return sorted(path for path in paths if _PATH.fullmatch(path))  # no drafts of a killed process

    async def delete(self, path: str) -> None:
        """Delete what is stored under the path, if anything."""
        async with _unavailable_if_it_fails(self._patience_seconds):
            with suppress(NotFoundError, FileNotFoundError):
                await self._store.delete_async(_checked(path))

    async def _write_files(
        self, folder: Path, contents: Mapping[str, bytes]
    ) -> dict[str, StorageUnavailable]:
        files = [(f"{folder}/{_checked(path)}", content) for path, content in contents.items()]
        async with _unavailable_if_it_fails(self._patience_seconds):
            failed = await asyncio.to_thread(write_durably, files)
        return {
            target.removeprefix(f"{folder}/"): StorageUnavailable(_describe(error))
            for target, error in failed.items()
        }

    async def _put_if(self, version: Version, path: str, content: bytes) -> None:
        try:
            await self._store.put_async(path, content, mode=version, use_multipart=False)
        except NotImplementedError:  # AWS_CONDITIONAL_PUT=disabled, for servers that refuse conditions
            await self._store.put_async(path, content, use_multipart=False)


def open_blog_storage(url: SecretStr | None, max_turns: int = 5) -> BlogStorage | None:
    """Open the storage of the URL; None when none is configured. A local folder is made when missing.

    Raises `SettingsError` for a URL that names no storage; one that is away is no error yet.

    Credentials of cloud storages come from their usual environment variables (AWS_*, GOOGLE_*, AZURE_*).
    """
    if not url:
        return None
    location = url.get_secret_value()
    try:
        if location.startswith("file://"):
            return BlogStorage(LocalStore.from_url(location, mkdir=True), max_turns)
        if location.startswith("memory://"):
            return BlogStorage(MemoryStore(), max_turns)
        store = from_url(location, client_options=_CLIENT_OPTIONS, retry_config=_RETRIES)
        return BlogStorage(store, max_turns)
    except (BaseError, OSError, ValueError) as error:
        raise SettingsError(f"BLOG_STORAGE_URL: cannot be opened ({type(error).__name__})") from error


@asynccontextmanager
async def _unavailable_if_it_fails(patience_seconds: float | None) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(patience_seconds):
            yield
    except (AlreadyExistsError, PreconditionError) as error:
        raise StorageChanged(_describe(error)) from error
    except (BaseError, OSError) as error:  # TimeoutError is an OSError
        raise StorageUnavailable(_describe(error)) from error


def _describe(error: Exception) -> str:
    """Name the kind of error and the status. The whole text has URLs, and of some clouds what signs them."""
    status = _STATUS.search(str(error))
    return type(error).__name__ + (f" (HTTP {status[1]})" if status else "")


def _is_still(found: ObjectMeta) -> UpdateVersion:
    identity = {name: found[name] for name in ("e_tag", "version") if found[name]}
    return cast("UpdateVersion", identity)


def _checked(path: str) -> str:
    if not _PATH.fullmatch(path):
        raise ValueError("a storage path consists of plain names separated by /")
    return path
