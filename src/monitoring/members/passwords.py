"""Passwords as argon2id hashes (RFC 9106). Each takes 64 MiB and some time, so threads compute them.

Few callers may wait for a thread: the others get a 503 at once.
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

# The most hashes that run or wait, so that nobody waits for more than a few seconds. Unknown browsers get
# only some of them: the rest is for known browsers and for users who are signed in.
PLACES = 32
PLACES_OF_STRANGERS = 16

_hasher = PasswordHasher()


class _Places:
    """A thread pool whose queue is bounded. Thread-safe: a process may have several event loops."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(HASHES_AT_ONCE, thread_name_prefix="passwords")
        self._counting = threading.Lock()
        self._taken = 0

    async def run(self, most_taken: int, work: Callable[[], Result]) -> Result:
        """Run work in a thread. Raises `Problem("service_unavailable")` if this many places are taken."""
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
    """Hash a password for storage, with the current parameters and a new salt. Raises `Problem`."""
    return await _places.run(PLACES, partial(_hasher.hash, _as_bytes(password)))


async def is_same_password(password: str, stored_hash: str | None, *, is_known: bool = True) -> bool:
    """Compare with a stored hash. Without one it does the same work and returns False.

    Raises `Problem("service_unavailable")` if too many hashes are waiting. The limit is lower for unknown
    browsers.
    """
    compare = partial(_compare, password[:MAX_PASSWORD_CHARACTERS], stored_hash)
    is_same = await _places.run(PLACES if is_known else PLACES_OF_STRANGERS, compare)
    return is_same and len(password) <= MAX_PASSWORD_CHARACTERS


def is_outdated(stored_hash: str) -> bool:
    """Return whether a hash was made with outdated parameters."""
    return _hasher.check_needs_rehash(stored_hash)


def _compare(password: str, stored_hash: str | None) -> bool:
    nobodys = _nobodys_hash()  # called in either case, because making it takes as long as comparing
    try:
        return _hasher.verify(stored_hash or nobodys, _as_bytes(password)) and stored_hash is not None
    except VerifyMismatchError:
        return False


@cache
def _nobodys_hash() -> str:
    return _hasher.hash(secrets.token_bytes(32))


def _as_bytes(password: str) -> bytes:
    """Encode a password the same way however a keyboard spells it, even with half a surrogate pair."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
