from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Literal, NoReturn

import pytest
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from monitoring.contract.problems import Problem
from monitoring.members import passwords
from monitoring.members.passwords import (
    HASHES_AT_ONCE,
    PLACES,
    PLACES_OF_STRANGERS,
    hash_password,
    is_outdated,
    is_same_password,
)

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.anyio


class TestHash:
    @pytest.mark.usefixtures("full_strength")
    async def test_is_argon2id_with_a_salt_of_its_own(self) -> None:
        one, other = await asyncio.gather(hash_password("the same words"), hash_password("the same words"))
        assert one.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
        assert one != other
        assert "words" not in one
        assert not is_outdated(one)

    async def test_fits_its_password_only(self) -> None:
        stored = await hash_password("the same words")
        assert await is_same_password("the same words", stored)
        assert not await is_same_password("the same word", stored)
        assert not await is_same_password("", stored)

    @pytest.mark.parametrize(
        ("chosen", "typed"),
        [
            ("zoe\u0308 likes umlauts", "zo\u00eb likes umlauts"),
            ("with \x00 in the middle", "with \x00 in the middle"),
            ("half a \ud83d surrogate", "half a \ud83d surrogate"),
            ("x" * 1024, "x" * 1024),
        ],
        ids=["composed elsewhere", "NUL", "lone surrogate", "longest"],
    )
    async def test_fits_however_a_keyboard_spells_it(self, chosen: str, typed: str) -> None:
        assert await is_same_password(typed, await hash_password(chosen))

    @pytest.mark.parametrize("other", ["with ", "with \x00 in the Middle"])
    async def test_does_not_end_at_a_nul(self, other: str) -> None:
        assert not await is_same_password(other, await hash_password("with \x00 in the middle"))

    async def test_of_a_longest_password_does_not_fit_a_longer_one(self) -> None:
        assert not await is_same_password("x" * 1025, await hash_password("x" * 1024))

    async def test_that_cannot_be_verified_is_an_error_and_no_wrong_password(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stored = await hash_password("the same words")

        class OutOfMemory(PasswordHasher):
            def verify(self, *_: object) -> NoReturn:
                raise VerificationError("Memory allocation error")

        monkeypatch.setattr(passwords, "_hasher", OutOfMemory())
        with pytest.raises(VerificationError):
            await is_same_password("the same words", stored)


class TestWork:
    @pytest.mark.usefixtures("full_strength")
    @pytest.mark.parametrize("password", ["wrong and long enough", "x" * 5000], ids=["wrong", "too long"])
    async def test_is_the_same_where_there_is_no_hash(
        self, monkeypatch: pytest.MonkeyPatch, password: str
    ) -> None:
        compared: list[tuple[int, str]] = []

        class Counting(PasswordHasher):
            def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002 - as argon2 calls it
                compared.append((len(password), str(hash).rpartition("$")[0].rpartition("$")[0]))
                return super().verify(hash, password)

        stored = await hash_password("the same words")
        monkeypatch.setattr(passwords, "_hasher", Counting())
        assert not await is_same_password(password, stored)
        assert not await is_same_password(password, None)
        assert compared[0] == compared[1]
        assert compared[0][0] <= 1024

    async def test_is_done_beside_the_loop_by_two_threads_at_most(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        at_work, most, gate = 0, 0, threading.Event()
        counting = threading.Lock()

        def hold(_: bytes) -> str:
            nonlocal at_work, most
            with counting:
                at_work += 1
                most = max(most, at_work)
            assert gate.wait(timeout=30)
            with counting:
                at_work -= 1
            return "a hash"

        class Slow(PasswordHasher):
            hash: Callable[..., str] = staticmethod(hold)

        monkeypatch.setattr(passwords, "_hasher", Slow())
        hashing = asyncio.gather(*(hash_password("the same words") for _ in range(5)))
        while most < HASHES_AT_ONCE:  # noqa: ASYNC110 - threads set no event here
            await asyncio.sleep(0.01)
        threads = [thread for thread in threading.enumerate() if thread.name.startswith("passwords")]
        gate.set()
        assert await hashing == ["a hash"] * 5
        assert most == len(threads) == HASHES_AT_ONCE == 2


class TestTheQueue:
    async def test_is_bounded_and_strangers_never_fill_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        gate = threading.Event()

        class Held(PasswordHasher):
            def hash(self, *_: object, **__: object) -> str:
                return "a hash"

            def verify(self, *_: object) -> Literal[True]:
                assert gate.wait(timeout=60)
                return True

        passwords._nobodys_hash()  # noqa: SLF001 - made by the hasher that was there before
        monkeypatch.setattr(passwords, "_hasher", Held())

        def compare(count: int, *, is_known: bool) -> list[asyncio.Task[bool]]:
            work = (is_same_password("the same words", "a hash", is_known=is_known) for _ in range(count))
            return [asyncio.create_task(each) for each in work]

        async def refused_of(tasks: list[asyncio.Task[bool]], count: int) -> None:
            refused, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED, timeout=60)
            assert len(refused) == count
            assert {str(task.exception()) for task in refused} == {str(Problem("service_unavailable"))}

        strangers = compare(PLACES_OF_STRANGERS + 3, is_known=False)
        await refused_of(strangers, 3)
        known = compare(PLACES - PLACES_OF_STRANGERS + 2, is_known=True)
        await refused_of(known, 2)
        cancelled = [task for task in strangers if not task.done()][-1]
        cancelled.cancel()
        await asyncio.wait([cancelled])
        [late] = compare(1, is_known=True)
        gate.set()
        waited = [task for task in (*strangers, *known) if not task.done()]
        assert await asyncio.gather(*waited, late) == [True] * PLACES
        assert await is_same_password("the same words", "a hash", is_known=False)
