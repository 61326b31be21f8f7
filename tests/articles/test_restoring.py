from __future__ import annotations

from uuid import uuid4

import pytest
from tortoise.exceptions import DoesNotExist

from articles.desk import ObedientEngine, deliver, read_page, states, translate
from monitoring.articles import service
from monitoring.articles.restoring import Restored, restore_files
from monitoring.articles.sweeping import sweep
from monitoring.backends.current import current_backends

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]


async def lose(*paths: str) -> None:
    storage = current_backends().blog_storage
    assert storage
    for path in paths:
        await storage.delete(path)


class TestRestoreFiles:
    async def test_makes_again_what_was_lost_and_leaves_the_rest(self) -> None:
        article = await deliver(slug="shoes")
        await translate(article)
        original, spanish = await read_page("shoes/en.json"), await read_page("shoes/es.json")
        await lose("shoes/en.json", "shoes/es.json")

        assert await restore_files() == Restored(originals=1, translations=1)
        assert await states(article) == {"es": "queued", "pt-BR": "translated"}
        assert await sweep() == 1
        await translate(article)
        assert await read_page("shoes/en.json") == original
        assert (await read_page("shoes/es.json"))["delivery"] == spanish["delivery"]

    async def test_spares_the_engine_what_the_memory_knows(self) -> None:
        article, engine = await deliver(slug="shoes"), ObedientEngine()
        await translate(article, engine)
        asked = list(engine.asked)
        await lose("shoes/es.json")
        await restore_files()
        await translate(article, engine)
        assert engine.asked == asked

    async def test_changes_nothing_where_nothing_is_missing(self) -> None:
        article = await deliver(slug="shoes")
        await translate(article)
        assert await restore_files() == Restored()
        assert set((await states(article)).values()) == {"translated"}

    async def test_leaves_translations_that_were_never_made_as_they_are(self) -> None:
        article = await deliver(slug="shoes")
        assert await restore_files() == Restored()
        assert set((await states(article)).values()) == {"queued"}

    async def test_goes_through_all_articles_or_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "ARTICLES_A_PAGE", 2)
        articles = [await deliver(id=number, slug=f"shoes-{number}") for number in range(5)]
        await lose(*(f"{article.slug}/en.json" for article in articles))
        assert await restore_files(articles[0].id) == Restored(originals=1)
        assert await restore_files() == Restored(originals=4)

    async def test_of_an_article_nobody_knows_is_an_error(self) -> None:
        with pytest.raises(DoesNotExist):
            await restore_files(uuid4())
