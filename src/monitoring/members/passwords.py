"""Passwords are kept as argon2id hashes (RFC 9106), made in threads: each takes 64 MiB and a good while."""

from __future__ import annotations

import asyncio
import secrets
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from monitoring.members.refusals import MAX_PASSWORD_CHARACTERS

HASHES_AT_ONCE = 2

_hasher = PasswordHasher()
_threads = ThreadPoolExecutor(HASHES_AT_ONCE, thread_name_prefix="passwords")


async def hash_password(password: str) -> str:
    """Hash a password for storage, with the parameters of today and a salt of its own."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _hasher.hash, _as_bytes(password))


async def is_same_password(password: str, stored_hash: str | None) -> bool:
    """Compare with a stored hash; without one it is the same work, and never the same password."""
    loop = asyncio.get_running_loop()
    is_same = await loop.run_in_executor(_threads, _compare, password[:MAX_PASSWORD_CHARACTERS], stored_hash)
    return is_same and len(password) <= MAX_PASSWORD_CHARACTERS


def is_outdated(stored_hash: str) -> bool:
    """Say whether a hash was made with other parameters than those of today."""
    return _hasher.check_needs_rehash(stored_hash)


def _compare(password: str, stored_hash: str | None) -> bool:
    nobodys = _nobodys_hash()  # asked for in either case: making it takes as long as comparing
    try:
        return _hasher.verify(stored_hash or nobodys, _as_bytes(password)) and stored_hash is not None
    except VerifyMismatchError:
        return False


@cache
def _nobodys_hash() -> str:
    return _hasher.hash(secrets.token_bytes(32))


def _as_bytes(password: str) -> bytes:
    """Write what two keyboards spell differently alike. Even half a surrogate pair can be part of it."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
