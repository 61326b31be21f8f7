"""Submissions at the same time: one transaction each, and none harms another."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from articles.desk import LOCALES, make_submission, read_page
from monitoring.articles import service
from monitoring.articles.models import Article, Translation
from monitoring.articles.service import receive_submission
from monitoring.backends import objects
from monitoring.backends.assembly import Backends
from monitoring.backends.current import current_backends
from monitoring.backends.errors import StorageUnavailable
from monitoring.backends.objects import BlogStorage

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]


def make_submissions(count: int) -> list[dict[str, Any]]:
    """Write submissions of articles that have nothing in common."""
    return [make_submission(f"Shoes {number}", id=number, slug=f"shoes-{number}") for number in range(count)]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every submission wait for its turn, on however slow a disk."""
    for limit in ("_TURN_SECONDS", "_GIVE_UP_SECONDS"):  # of a cloud, of a disk
        monkeypatch.setattr(objects, limit, 30)


@pytest.mark.usefixtures("patient")
async def test_forty_submissions_at_once_are_all_stored_with_every_row_and_file() -> None:
    submissions = make_submissions(40)
    receipts = await asyncio.gather(*map(receive_submission, submissions))
    assert await Article.all().count() == 40
    assert await Translation.filter(status="queued").count() == 40 * len(LOCALES)
    for submission, receipt in zip(submissions, receipts, strict=True):
        assert receipt.is_new_revision
        page = await read_page(f"{submission['article']['slug']}/en.json")
        assert (page["article_id"], page["delivery"]) == (str(receipt.article.id), submission)
        assert (await Article.get(id=receipt.article.id)).payload == submission


@pytest.mark.usefixtures("patient")
async def test_articles_of_one_slug_at_once_get_folders_of_their_own() -> None:
    submissions = [make_submission(id=number, slug="shoes") for number in range(5)]
    receipts = await asyncio.gather(*map(receive_submission, submissions))
    assert len({receipt.article.slug for receipt in receipts}) == 5


@pytest.mark.usefixtures("patient")
async def test_the_same_submission_sixteen_times_at_once_is_one_article_with_one_revision() -> None:
    receipts = await asyncio.gather(*(receive_submission(make_submission()) for _ in range(16)))
    assert sorted(receipt.is_new_revision for receipt in receipts) == [False] * 15 + [True]
    assert {receipt.article.id for receipt in receipts} == {(await Article.get()).id}
    assert await Translation.all().count() == len(LOCALES)


@pytest.mark.usefixtures("patient")
async def test_two_contents_of_one_article_at_once_are_two_revisions() -> None:
    receipts = await asyncio.gather(*(receive_submission(make_submission(title)) for title in ("One", "Two")))
    assert {receipt.article.revision for receipt in receipts} == {1, 2}
    newest = max(receipts, key=lambda receipt: receipt.article.revision).article
    assert (await Article.get()).title == newest.title
    assert (await read_page(f"{newest.slug}/en.json"))["delivery"]["article"]["title"] == newest.title


@pytest.mark.usefixtures("patient")
async def test_a_submission_whose_file_is_refused_leaves_no_row_and_harms_no_neighbour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put = BlogStorage.put

    async def put_others(storage: BlogStorage, path: str, *args: Any) -> None:
        if path == "shoes-2/en.json":
            raise StorageUnavailable(path)
        await put(storage, path, *args)

    monkeypatch.setattr(BlogStorage, "put", put_others)
    receipts = await asyncio.gather(*map(receive_submission, make_submissions(5)), return_exceptions=True)
    assert [isinstance(receipt, StorageUnavailable) for receipt in receipts] == [
        number == 2 for number in range(5)
    ]
    assert {row.slug for row in await Article.all()} == {f"shoes-{number}" for number in (0, 1, 3, 4)}
    assert await Translation.all().count() == 4 * len(LOCALES)


async def test_a_submission_that_another_process_was_just_faster_with_is_a_duplicate(
    monkeypatch: pytest.MonkeyPatch, own_log: pytest.LogCaptureFixture
) -> None:
    await receive_submission(make_submission())
    find_taken_folders = vars(service)["find_taken_folders"]
    answers: list[dict[str, str]] = [{}]

    async def too_early_once(*arguments: Any) -> dict[str, str]:
        return answers.pop() if answers else await find_taken_folders(*arguments)

    monkeypatch.setattr(service, "find_taken_folders", too_early_once)
    assert not (await receive_submission(make_submission())).is_new_revision
    assert not answers
    assert not own_log.records


async def test_a_submission_that_cannot_be_written_leaves_its_neighbour_alone(
    own_log: pytest.LogCaptureFixture,
) -> None:
    good, bad = make_submissions(2)
    bad["article"]["seo"] = object()
    kept, failed = await asyncio.gather(
        receive_submission(good), receive_submission(bad), return_exceptions=True
    )
    assert isinstance(failed, TypeError)
    assert not isinstance(kept, BaseException)
    assert [row.id for row in await Article.all()] == [kept.article.id]
    assert not own_log.records


async def test_a_caller_who_leaves_before_the_file_is_stored_leaves_no_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reached, opened = asyncio.Event(), asyncio.Event()

    async def stopped(*_: Any, **__: Any) -> None:
        reached.set()
        await opened.wait()

    with monkeypatch.context() as stalled:
        stalled.setattr(service, "put_page", stopped)
        receiving = asyncio.create_task(receive_submission(make_submission()))
        await reached.wait()
        receiving.cancel()
        await asyncio.wait([receiving])
    assert receiving.cancelled()
    assert await Article.all().count() == 0
    assert (await receive_submission(make_submission())).is_new_revision


async def test_submissions_that_get_no_turn_in_time_are_refused_and_nothing_of_them_is_kept(
    monkeypatch: pytest.MonkeyPatch, backends: Backends
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
