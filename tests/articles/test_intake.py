"""Submissions at the same time share a round: one transaction, in which each succeeds or fails alone."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from articles.desk import LOCALES, make_submission, read_page
from monitoring.articles import intake
from monitoring.articles.models import Article, Translation
from monitoring.articles.service import receive_submission
from monitoring.backends import objects
from monitoring.backends.current import current_backends
from monitoring.backends.errors import StorageUnavailable
from monitoring.backends.objects import BlogStorage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from tortoise.backends.base.client import BaseDBAsyncClient

    from monitoring.backends.assembly import Backends

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]


def make_submissions(count: int) -> list[dict[str, Any]]:
    """Write submissions of articles that have nothing in common."""
    return [make_submission(f"Shoes {number}", id=number, slug=f"shoes-{number}") for number in range(count)]


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note of every round whose transaction was committed how many articles were known before."""
    committed: list[int] = []
    round_transaction = vars(intake)["round_transaction"]

    @asynccontextmanager
    async def noted() -> AsyncIterator[BaseDBAsyncClient]:
        async with round_transaction() as connection:
            known = await Article.all().count()
            yield connection
        committed.append(known)

    monkeypatch.setattr(intake, "round_transaction", noted)
    return committed


class Storing:
    """Stops rounds right before their files are put, until the test lets them go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.opened = asyncio.Event(), asyncio.Event()
        put_originals = vars(intake)["put_originals"]

        async def stopped(*args: Any) -> Any:
            self.reached.set()
            await self.opened.wait()
            return await put_originals(*args)

        monkeypatch.setattr(intake, "put_originals", stopped)


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the storage refuse what lies under a path."""

    def plan(refused_path: str) -> None:
        put_new, put = BlogStorage.put_new, BlogStorage.put

        async def put_others(storage: BlogStorage, contents: Mapping[str, bytes]) -> Any:
            others = {path: content for path, content in contents.items() if path != refused_path}
            refused = {path: StorageUnavailable(path) for path in contents.keys() - others.keys()}
            return await put_new(storage, others) | refused

        async def put_other(storage: BlogStorage, path: str, *args: Any) -> None:
            if path == refused_path:
                raise StorageUnavailable(path)
            await put(storage, path, *args)

        monkeypatch.setattr(BlogStorage, "put_new", put_others)
        monkeypatch.setattr(BlogStorage, "put", put_other)

    return plan


class TestRound:
    async def test_of_many_is_one_transaction_with_every_row_and_every_file(self, rounds: list[int]) -> None:
        submissions = make_submissions(16)
        receipts = await asyncio.gather(*map(receive_submission, submissions))
        assert rounds == [0]
        assert await Article.all().count() == 16
        assert await Translation.filter(status="queued").count() == 16 * len(LOCALES)
        for submission, receipt in zip(submissions, receipts, strict=True):
            assert receipt.is_new_revision
            page = await read_page(f"{submission['article']['slug']}/en.json")
            assert (page["article_id"], page["delivery"]) == (str(receipt.article.id), submission)
            assert (await Article.get(id=receipt.article.id)).payload == submission

    async def test_has_a_greatest_number_of_submissions(
        self, rounds: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("monitoring.backends.rounds.MAX_ITEMS", 4)
        await asyncio.gather(*map(receive_submission, make_submissions(10)))
        assert len(rounds) == 3
        assert await Article.all().count() == 10

    async def test_has_a_greatest_size(self, rounds: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("monitoring.backends.rounds.MAX_BYTES", 1)
        await asyncio.gather(*map(receive_submission, make_submissions(3)))
        assert len(rounds) == 3

    async def test_gives_articles_of_one_slug_folders_of_their_own(self, rounds: list[int]) -> None:
        submissions = [make_submission(id=number, slug="shoes") for number in range(5)]
        receipts = await asyncio.gather(*map(receive_submission, submissions))
        assert len(rounds) == 1
        assert len({receipt.article.slug for receipt in receipts}) == 5

    async def test_of_the_same_submission_sixteen_times_is_one_article_with_one_revision(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for limit in ("_TURN_SECONDS", "_GIVE_UP_SECONDS"):  # fifteen go alone, on however slow a disk
            monkeypatch.setattr(objects, limit, 30)
        receipts = await asyncio.gather(*(receive_submission(make_submission()) for _ in range(16)))
        assert [receipt.is_new_revision for receipt in receipts] == [True] + [False] * 15
        assert {receipt.article.id for receipt in receipts} == {(await Article.get()).id}
        assert await Translation.all().count() == len(LOCALES)

    async def test_takes_the_first_of_two_revisions_and_leaves_the_second_to_go_alone(self) -> None:
        receipts = await asyncio.gather(
            *(receive_submission(make_submission(title)) for title in ("One", "Two"))
        )
        assert [receipt.article.revision for receipt in receipts] == [1, 2]
        assert (await Article.get()).title == "Two"


class TestNeighbours:
    async def test_of_one_whose_file_is_refused_are_kept(self, refuse: Any, rounds: list[int]) -> None:
        refuse("shoes-2/en.json")
        receipts = await asyncio.gather(*map(receive_submission, make_submissions(5)), return_exceptions=True)
        assert rounds == [0]
        assert [isinstance(receipt, StorageUnavailable) for receipt in receipts] == [
            number == 2 for number in range(5)
        ]
        kept = {row.slug for row in await Article.all()}
        assert kept == {f"shoes-{number}" for number in (0, 1, 3, 4)}
        assert await Translation.all().count() == 4 * len(LOCALES)

    async def test_of_a_known_article_are_taken_in_together(self, rounds: list[int]) -> None:
        known, *others = make_submissions(5)
        await receive_submission(known)
        changed = {"article": known["article"] | {"title": "Changed"}}
        rounds.clear()
        receipts = await asyncio.gather(*map(receive_submission, [*others, changed]))
        assert rounds == [1]
        assert [receipt.article.revision for receipt in receipts] == [1, 1, 1, 1, 2]

    async def test_of_one_that_another_process_was_faster_with_are_kept(
        self, rounds: list[int], monkeypatch: pytest.MonkeyPatch, own_log: pytest.LogCaptureFixture
    ) -> None:
        first, *others = make_submissions(5)
        await receive_submission(first)
        rounds.clear()

        async def too_early(*_: Any) -> dict[str, str]:
            return {}

        monkeypatch.setattr(intake, "find_taken_folders", too_early)
        receipts = await asyncio.gather(*map(receive_submission, [*others, first]))
        assert rounds == []
        assert not own_log.records
        assert [receipt.is_new_revision for receipt in receipts] == [True] * 4 + [False]
        assert await Article.all().count() == 5

    async def test_of_one_that_another_process_was_just_faster_with_stay_together(
        self, rounds: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, *others = make_submissions(5)
        await receive_submission(first)
        rounds.clear()
        find_taken_folders = vars(intake)["find_taken_folders"]
        answers: list[dict[str, str]] = [{}]

        async def too_early_once(*arguments: Any) -> dict[str, str]:
            return answers.pop() if answers else await find_taken_folders(*arguments)

        monkeypatch.setattr(intake, "find_taken_folders", too_early_once)
        receipts = await asyncio.gather(*map(receive_submission, [*others, first]))
        assert rounds == [1]
        assert [receipt.is_new_revision for receipt in receipts] == [True] * 4 + [False]

    async def test_of_one_that_cannot_be_written_are_kept(self, own_log: pytest.LogCaptureFixture) -> None:
        good, bad = make_submissions(2)
        bad["article"]["seo"] = object()
        kept, failed = await asyncio.gather(
            receive_submission(good), receive_submission(bad), return_exceptions=True
        )
        assert isinstance(failed, TypeError)
        assert not isinstance(kept, BaseException)
        assert [row.id for row in await Article.all()] == [kept.article.id]
        assert not own_log.records


@asynccontextmanager
async def refuse_connection() -> AsyncIterator[BaseDBAsyncClient]:
    raise RuntimeError("permission denied for database")
    yield  # a context manager has one


class TestDatabase:
    async def test_that_cannot_begin_fails_whoever_waits_and_no_later_submission(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as broken:
            broken.setattr(intake, "round_transaction", refuse_connection)
            async with asyncio.timeout(30):
                receipts = await asyncio.gather(
                    *map(receive_submission, make_submissions(3)), return_exceptions=True
                )
        assert {type(receipt) for receipt in receipts} == {RuntimeError}
        async with asyncio.timeout(30):
            await receive_submission(make_submission())


class TestCaller:
    async def test_who_leaves_before_the_round_takes_the_submission_leaves_nothing(self) -> None:
        submissions = [asyncio.create_task(receive_submission(body)) for body in make_submissions(3)]
        await asyncio.sleep(0)  # they have joined, and the round has not begun
        submissions[1].cancel()
        await asyncio.wait(submissions)
        assert submissions[1].cancelled()
        assert {row.slug for row in await Article.all()} == {"shoes-0", "shoes-2"}
        assert await read_page("shoes-1/en.json") is None

    async def test_who_leaves_in_the_middle_of_the_round_is_kept_whole_with_all_others(
        self, monkeypatch: pytest.MonkeyPatch, backends: Backends
    ) -> None:
        storing = Storing(monkeypatch)
        submissions = [asyncio.create_task(receive_submission(body)) for body in make_submissions(3)]
        await storing.reached.wait()
        submissions[1].cancel()
        await asyncio.wait([submissions[1]])
        storing.opened.set()
        await asyncio.wait(submissions)
        await backends.rounds.close()
        assert submissions[1].cancelled()
        assert await Article.all().count() == 3
        assert await Translation.all().count() == 3 * len(LOCALES)
        assert (await read_page("shoes-1/en.json"))["revision"] == 1

    async def test_all_of_whom_have_left_when_the_service_stops_are_kept_before_it_closes(
        self, monkeypatch: pytest.MonkeyPatch, backends: Backends
    ) -> None:
        storing = Storing(monkeypatch)
        submissions = [asyncio.create_task(receive_submission(body)) for body in make_submissions(3)]
        await storing.reached.wait()
        for submission in submissions:
            submission.cancel()
        closing = asyncio.create_task(backends.rounds.close())
        await asyncio.wait(submissions)
        assert not closing.done()
        storing.opened.set()
        await closing
        assert await Article.all().count() == 3

    async def test_who_waits_for_a_turn_that_does_not_come_is_refused_and_nothing_is_kept(
        self, monkeypatch: pytest.MonkeyPatch, backends: Backends
    ) -> None:
        storage = current_backends().blog_storage
        assert storage
        async with AsyncExitStack() as turns:
            hurried = turns.enter_context(monkeypatch.context())
            for limit in ("_TURN_SECONDS", "_GIVE_UP_SECONDS"):  # of a cloud, of a disk
                hurried.setattr(objects, limit, 0.05)
            for _ in range(backends.settings.database_pool_max_connections // 2):
                await turns.enter_async_context(storage.turn())
            receipts = await asyncio.gather(
                *map(receive_submission, make_submissions(40)), return_exceptions=True
            )
        assert {type(receipt) for receipt in receipts} == {StorageUnavailable}
        assert await Article.all().count() == 0
        await asyncio.gather(*map(receive_submission, make_submissions(40)))
        assert await Article.all().count() == 40
