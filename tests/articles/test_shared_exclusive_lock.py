from __future__ import annotations

import asyncio

import pytest

from monitoring.articles.shared_exclusive_lock import SharedExclusiveLock

pytestmark = [pytest.mark.anyio, pytest.mark.embedded("nothing is kept anywhere: once is enough")]


class Work:
    """Work that tells when it begins, and ends when it is told to."""

    def __init__(self, lock: SharedExclusiveLock, *, alone: bool) -> None:
        self.is_to_be_alone = alone
        self.has_begun = False
        self.may_end = asyncio.Event()
        self.task = asyncio.ensure_future(self._do(lock))

    async def needs_to_be_alone(self) -> bool:
        await asyncio.sleep(0)  # as one who asks a database
        return self.is_to_be_alone

    async def _do(self, lock: SharedExclusiveLock) -> None:
        async with lock.hold(self.needs_to_be_alone):
            self.has_begun = True
            await self.may_end.wait()

    async def end(self) -> None:
        self.may_end.set()
        await self.task


async def let_others_run() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def begin(*works: Work) -> list[bool]:
    await let_others_run()
    return [work.has_begun for work in works]


async def test_work_goes_on_together() -> None:
    lock = SharedExclusiveLock()
    works = [Work(lock, alone=False) for _ in range(3)]
    assert await begin(*works) == [True, True, True]
    for work in works:
        await work.end()


async def test_work_alone_waits_for_all_other_and_holds_up_what_comes_later() -> None:
    lock = SharedExclusiveLock()
    first = Work(lock, alone=False)
    await let_others_run()
    alone, also_alone = Work(lock, alone=True), Work(lock, alone=True)
    await let_others_run()
    later = Work(lock, alone=False)
    assert await begin(first, alone, also_alone, later) == [True, False, False, False]
    await first.end()
    assert await begin(alone, also_alone, later) == [True, False, False]
    await alone.end()
    assert await begin(also_alone, later) == [True, False]
    await also_alone.end()
    assert await begin(later) == [True]
    await later.end()


async def test_work_that_no_longer_waits_to_be_alone_holds_up_nobody() -> None:
    lock = SharedExclusiveLock()
    first = Work(lock, alone=False)
    await let_others_run()
    alone = Work(lock, alone=True)
    await let_others_run()
    alone.task.cancel()
    await asyncio.wait([alone.task])
    later = Work(lock, alone=False)
    assert await begin(later) == [True]
    await first.end()
    await later.end()


async def test_work_that_is_to_be_alone_after_its_wait_waits_for_all_other() -> None:
    lock = SharedExclusiveLock()
    alone = Work(lock, alone=True)
    await let_others_run()
    together, changed = Work(lock, alone=False), Work(lock, alone=False)
    assert await begin(alone, together, changed) == [True, False, False]
    changed.is_to_be_alone = True
    await alone.end()
    assert await begin(together, changed) == [True, False]
    await together.end()
    later = Work(lock, alone=False)
    assert await begin(changed, later) == [True, False]
    await changed.end()
    await later.end()


async def test_work_that_need_not_be_alone_any_more_after_its_wait_goes_on_with_others() -> None:
    lock = SharedExclusiveLock()
    first = Work(lock, alone=False)
    await let_others_run()
    changed = Work(lock, alone=True)
    assert await begin(first, changed) == [True, False]
    changed.is_to_be_alone = False
    await first.end()
    await let_others_run()
    later = Work(lock, alone=False)
    assert await begin(changed, later) == [True, True]
    await changed.end()
    await later.end()
