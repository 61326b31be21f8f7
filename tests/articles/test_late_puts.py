"""A writer that stalls before a put, loses the lock and goes on late replaces nothing newer.

The storage in memory honours conditions, as the clouds do; a local folder has none (docs/blog-storage.md).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from articles.desk import deliver, read_page, translate, translation_of
from monitoring.articles import restoring, service, translation_attempt
from monitoring.articles.models import Article
from monitoring.articles.restoring import restore_files
from monitoring.backends.current import current_backends
from monitoring.backends.errors import StorageUnavailable
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path
    from types import ModuleType

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

NEWER = b'"newer"'


@pytest.fixture
async def backends(tmp_path: Path) -> AsyncIterator[None]:
    async with temporary_backends(
        tmp_path, locales="es", translator="pseudo", blog_storage_url="memory:///", blog_export="markdown"
    ):
        yield


@pytest.fixture
def overtake(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let somebody else store something newer right before a module puts its page."""

    def plan(module: ModuleType, path: str) -> None:
        put_page = vars(module)["put_page"]

        async def overtaken(*args: Any, **kwargs: Any) -> Any:
            storage = current_backends().blog_storage
            assert storage
            await storage.put(path, NEWER)
            return await put_page(*args, **kwargs)

        monkeypatch.setattr(module, "put_page", overtaken)

    return plan


@pytest.mark.parametrize("file", ["es.json", "es.md"])
async def test_a_translation_that_comes_late_is_refused_and_tried_again(overtake: Any, file: str) -> None:
    article = await deliver(slug="shoes")
    overtake(translation_attempt, f"shoes/{file}")
    await translate(article)
    assert (await translation_of(article)).status == "queued"
    storage = current_backends().blog_storage
    assert storage
    assert await storage.get(f"shoes/{file}") == NEWER


async def test_an_update_that_comes_late_is_refused(overtake: Any) -> None:
    await deliver(slug="shoes")
    overtake(service, "shoes/en.json")
    with pytest.raises(StorageUnavailable):
        await deliver("Changed shoes", slug="shoes")
    assert await read_page("shoes/en.json") == "newer"


@pytest.mark.parametrize("file", ["en.json", "en.md"])
async def test_a_first_submission_that_comes_late_is_refused_and_leaves_no_row(
    overtake: Any, file: str
) -> None:
    overtake(service, f"shoes/{file}")
    with pytest.raises(StorageUnavailable):
        await deliver(slug="shoes")
    assert await Article.all().count() == 0
    storage = current_backends().blog_storage
    assert storage
    assert await storage.get(f"shoes/{file}") == NEWER


async def test_a_first_submission_replaces_what_another_has_left_without_a_row() -> None:
    storage = current_backends().blog_storage
    assert storage
    await storage.put("shoes/en.json", b"left by one that was undone")
    article, other = await asyncio.gather(deliver(slug="shoes"), deliver(id="art_2", slug="boots"))
    assert (await read_page("shoes/en.json"))["article_id"] == str(article.id)
    assert (await read_page("boots/en.json"))["article_id"] == str(other.id)


async def test_a_restored_original_that_comes_late_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    await deliver(slug="shoes")
    storage = current_backends().blog_storage
    assert storage
    await storage.delete("shoes/en.json")
    find_missing_locales = vars(restoring)["find_missing_locales"]

    async def overtaken(*args: Any) -> Any:
        missing = await find_missing_locales(*args)
        await storage.put("shoes/en.json", NEWER)
        return missing

    monkeypatch.setattr(restoring, "find_missing_locales", overtaken)
    with pytest.raises(StorageUnavailable):
        await restore_files()
    assert await read_page("shoes/en.json") == "newer"
