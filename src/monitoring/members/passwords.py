"""Password hashing with argon2id (RFC 9106). Each hash takes 64 MiB and some time, so threads compute them.

The queue for the threads is bounded. If it is full, clients get a 503 immediately.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import unicodedata
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from monitoring.contract.problems import Problem
from monitoring.members.refusals import MAX_PASSWORD_CHARACTERS

Result = TypeVar("Result")

HASHES_AT_ONCE = 2

# The most hashes that are running or waiting at a time, so that nobody waits for more than a few seconds. For
# unknown browsers, the limit is lower. This reserves capacity for known browsers and signed-in users.
PLACES = 32
PLACES_OF_STRANGERS = 16

_hasher = PasswordHasher()


class _Places:
    """A thread pool with a bounded queue. Thread-safe because a process may have several event loops."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(HASHES_AT_ONCE, thread_name_prefix="passwords")
        self._counting = threading.Lock()
        self._taken = 0

    async def run(self, most_taken: int, work: Callable[[], Result]) -> Result:
        """Call `work` in a thread, and return its result.

        Raises `Problem("service_unavailable")` if `most_taken` calls or more are running or waiting.
        """
        with self._counting:
            if self._taken >= most_taken:
                raise Problem("service_unavailable")
            self._taken += 1
        working = self._threads.submit(work)
        working.add_done_callback(self._give_back)
        return await asyncio.wrap_future(working)

    def _give_back(self, _: Future[Result]) -> None:
        with self._counting:
            self._taken -= 1


_places = _Places()


async def hash_password(password: str) -> str:
    """Return a hash of a password for storage, with the current parameters and a new salt.

    Raises `Problem("service_unavailable")` if too many hashes are waiting.
    """
    return await _places.run(PLACES, partial(_hasher.hash, _as_bytes(password)))


async def is_same_password(password: str, stored_hash: str | None, *, is_known: bool = True) -> bool:
    """Return whether a password matches a stored hash.

    If `stored_hash` is None, returns False after the same time as for a wrong password. Raises
    `Problem("service_unavailable")` if too many hashes are waiting. The limit on waiting hashes is lower for
    unknown browsers (`is_known=False`).
    """
    compare = partial(_compare, password[:MAX_PASSWORD_CHARACTERS], stored_hash)
    is_same = await _places.run(PLACES if is_known else PLACES_OF_STRANGERS, compare)
    return is_same and len(password) <= MAX_PASSWORD_CHARACTERS


def is_outdated(stored_hash: str) -> bool:
    """Return whether a hash was made with outdated parameters."""
    return _hasher.check_needs_rehash(stored_hash)


def _compare(password: str, stored_hash: str | None) -> bool:
    nobodys = _nobodys_hash()  # always called, so that its slow first call reveals nothing
    try:
        return _hasher.verify(stored_hash or nobodys, _as_bytes(password)) and stored_hash is not None
    except VerifyMismatchError:
        return False


@cache
def _nobodys_hash() -> str:
    return _hasher.hash(secrets.token_bytes(32))


def _as_bytes(password: str) -> bytes:
    """Encode a password in Unicode's NFKC form, which is the same however the characters were typed.

    Lone surrogates are encoded too, and raise no error.
    """
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
