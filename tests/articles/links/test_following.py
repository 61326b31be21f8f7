from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from articles.desk import ObedientEngine, deliver, read_page, translate
from monitoring.articles.links.pages import read_links
from monitoring.articles.models import Article, ArticleLink, PublicationStatus
from monitoring.articles.reading import read_translation
from monitoring.articles.site.addresses import Addresses
from monitoring.articles.site.writing import SiteWriter
from monitoring.articles.sweeping import complete_older_articles
from monitoring.articles.withdrawal import withdraw_article
from monitoring.audit.actors import COMMAND_LINE
from monitoring.backends.current import current_backends
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.backends.assembly import Backends

pytestmark = pytest.mark.anyio

PATTERN = "https://site.example/{lowercase_locale}/{slug}/?a&b"
WEBSITE = {"id": "web_1", "baseUrl": "https://blog.example.com"}
FIT = "https://site.example/es/fit/?a&amp;b"


@pytest.fixture
async def backends(tmp_path: Path) -> AsyncIterator[Backends]:
    """Open a service whose pages have addresses, and whose storage has files for Hugo."""
    async with temporary_backends(
        tmp_path, locales="es,pt-BR", translator="pseudo", site_page_url=PATTERN, blog_export="hugo"
    ) as opened:
        yield opened


@pytest.fixture
def writer() -> SiteWriter:
    return SiteWriter(Addresses(PATTERN))


async def deliver_guide(**details: Any) -> Article:
    return await deliver("Fit", **{"id": "fit", "slug": "fit", "website": WEBSITE, **details})


async def deliver_linking(
    content: str = "See [it](/blog/fit#sizes) and `[it](/blog/fit)`.", **details: Any
) -> Article:
    article = await deliver(slug="shoes", content=content, format="markdown", website=WEBSITE, **details)
    await translate(article)
    return article


async def text_of(locale: str = "es", slug: str = "shoes") -> str:
    content: str = (await read_page(f"{slug}/{locale}.json"))["delivery"]["article"]["content"]
    return content


async def export_of(locale: str = "es", slug: str = "shoes") -> str:
    storage = current_backends().blog_storage
    assert storage
    return (await storage.get(f"{slug}/index.{locale}.md") or b"").decode()


async def answer_of(article: Article, locale: str = "es") -> str:
    _, page = await read_translation(article.id, locale)
    content: str = page["delivery"]["article"]["content"]
    return content


async def withdraw(article: Article, status: PublicationStatus = PublicationStatus.UNPUBLISHED) -> None:
    await withdraw_article(article.id, status, COMMAND_LINE)


@pytest.mark.usefixtures("backends")
class TestLinks:
    async def test_lead_to_the_translation_that_is_there(self) -> None:
        await translate(await deliver_guide())
        article = await deliver_linking()
        assert await text_of() == f"es: See [it]({FIT}#sizes) and `[it](/blog/fit)`."
        assert f"[it]({FIT}#sizes)" in await export_of()
        assert await answer_of(article) == await text_of()
        assert await text_of("pt-BR") == (await text_of()).replace("es", "pt-br", 1).replace(
            "pt-br:", "pt-BR:"
        ).replace("/es/", "/pt-br/")

    async def test_of_the_source_stay(self) -> None:
        await translate(await deliver_guide())
        article = await deliver_linking()
        assert "(/blog/fit#sizes)" in await text_of("en")
        assert "(/blog/fit#sizes)" in await answer_of(article, "en")

    async def test_follow_when_the_other_article_is_translated_later(self, writer: SiteWriter) -> None:
        article = await deliver_linking()
        assert "(/blog/fit#sizes)" in await text_of()
        await writer.write_if_changed()
        await translate(await deliver_guide())
        assert f"({FIT}#sizes)" in await answer_of(article)
        await writer.write_if_changed()
        assert f"({FIT}#sizes)" in await text_of()
        assert f"({FIT}#sizes)" in await export_of()

    @pytest.mark.parametrize("status", [PublicationStatus.UNPUBLISHED, PublicationStatus.DELETED])
    async def test_lead_back_when_the_other_article_is_taken_back(
        self, writer: SiteWriter, status: PublicationStatus
    ) -> None:
        guide = await deliver_guide()
        await translate(guide)
        article = await deliver_linking()
        before = await export_of()
        await withdraw(guide, status)
        assert "(/blog/fit#sizes)" in await answer_of(article)
        await writer.write_if_changed()
        assert "See [it](/blog/fit#sizes) and `[it](/blog/fit)`." in await text_of()
        assert await export_of() == before.replace(FIT, "/blog/fit")

    async def test_stay_while_the_other_article_is_translated_anew(self) -> None:
        await translate(await deliver_guide())
        article = await deliver_linking()
        await deliver_guide(excerpt="New")
        assert f"({FIT}#sizes)" in await answer_of(article)

    async def test_stay_if_they_may_mean_two_articles(self) -> None:
        await translate(await deliver_guide())
        await translate(await deliver_guide(id="another"))
        await deliver_linking()
        assert "(/blog/fit#sizes)" in await text_of()

    async def test_stay_if_the_other_translation_is_a_demonstration(self) -> None:
        engine = ObedientEngine()
        engine.is_demonstration = True
        await translate(await deliver_guide(), engine)
        await deliver_linking()
        assert "(/blog/fit#sizes)" in await text_of()

    async def test_in_html_are_escaped_for_it(self) -> None:
        await translate(await deliver_guide(url="https://blog.example.com/?p=12&q=1"))
        content = '<p>See <a href="/?p=12&amp;q=1">it</a>, <a href=/?p=13>that</a>.</p>'
        await deliver(id="2", slug="boots", content_html=content, website=WEBSITE)
        await translate(await Article.get(slug="boots"))
        page = await read_page("boots/es.json")
        assert page["delivery"]["article"]["content_html"] == (
            f'<p>es: See <a href="{FIT}">it</a>, <a href=/?p=13>that</a>.</p>'
        )

    async def test_are_found_again_wherever_they_stand(self, writer: SiteWriter) -> None:
        guide = await deliver_guide()
        await translate(guide)
        content = "[a](/fit) [b](/other) [c](/fit)\n\n[d]: /fit\n\n[d] <a href='/fit'>e</a>"
        await deliver_linking(content)
        linked = await text_of()
        assert linked.count(FIT) == 4
        links = read_links(await read_page("shoes/es.json"))
        assert [linked[link.start : link.end] for link in links] == [FIT, "/other", FIT, FIT, FIT]
        await withdraw(guide)
        await writer.write_if_changed()
        assert await text_of() == linked.replace(FIT, "/fit")

    async def test_are_known_of_articles_of_the_release_before(self) -> None:
        guide = await deliver_guide()
        await translate(guide)
        await Article.filter(id=guide.id).update(address=None)
        await deliver_linking()
        assert "(/blog/fit#sizes)" in await text_of()
        await complete_older_articles()
        assert f"({FIT}#sizes)" in await answer_of(await Article.get(slug="shoes"))

    async def test_of_a_deleted_article_are_forgotten(self) -> None:
        article = await deliver_linking()
        assert await ArticleLink.filter(article_id=article.id).exists()
        await withdraw(article, PublicationStatus.DELETED)
        assert not await ArticleLink.filter(article_id=article.id).exists()

    async def test_that_others_wrote_into_the_storage_are_none_if_they_make_no_sense(self) -> None:
        article = await deliver_linking()
        page = await read_page("shoes/es.json")
        links = [{"field": "content", "start": 5, "end": 9999, "address": "/blog/fit"}, {"field": 3}, None]
        assert read_links({**page, "links": links}) == []
        assert await answer_of(article)


async def test_links_stay_where_pages_have_no_addresses(tmp_path: Path) -> None:
    async with temporary_backends(tmp_path, locales="es", translator="pseudo"):
        await translate(await deliver_guide())
        await deliver_linking()
        assert "(/blog/fit#sizes)" in await text_of()
