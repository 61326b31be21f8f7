from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from xml.etree import ElementTree as ET

import pytest

from articles.desk import ObedientEngine, deliver, translate, translation_of
from moments import a_second_ago
from monitoring import worker
from monitoring.articles.models import PublicationStatus, SiteFiles
from monitoring.articles.restoring import restore_files
from monitoring.articles.site import sitemap, writing
from monitoring.articles.site.addresses import Addresses
from monitoring.articles.site.writing import SiteWriter
from monitoring.articles.withdrawal import withdraw_article
from monitoring.audit.actors import COMMAND_LINE
from monitoring.backends.current import current_backends
from monitoring.contract.timestamps import write_timestamp
from running_service import running_service
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.articles.models import Article

pytestmark = pytest.mark.anyio

PATTERN = "https://blog.example.com/news/{lowercase_locale}/{slug}/?a&b"
XML = {
    "sitemap": "http://www.sitemaps.org/schemas/sitemap/0.9",
    "xhtml": "http://www.w3.org/1999/xhtml",
    "atom": "http://www.w3.org/2005/Atom",
}


@pytest.fixture
def writer() -> SiteWriter:
    return SiteWriter(Addresses(PATTERN))


def address(locale: str, slug: str) -> str:
    return f"https://blog.example.com/news/{locale.lower()}/{slug}/?a&b"


async def read(name: str) -> Any:
    storage = current_backends().blog_storage
    assert storage
    content = await storage.get(name)
    return content and ET.fromstring(content)  # noqa: S314 - our own


async def read_pages(name: str = "sitemap.xml") -> dict[str, dict[str, str]]:
    """Read the links of each page of a sitemap."""
    urls = (await read(name)).findall("sitemap:url", XML)
    return {
        url.findtext("sitemap:loc", namespaces=XML): {
            link.attrib["hreflang"]: link.attrib["href"] for link in url.findall("xhtml:link", XML)
        }
        for url in urls
    }


async def read_titles(locale: str) -> list[str]:
    entries = (await read(f"feed.{locale}.xml")).findall("atom:entry", XML)
    return [entry.findtext("atom:title", namespaces=XML) for entry in entries]


async def withdraw(article: Article) -> None:
    await withdraw_article(article.id, PublicationStatus.UNPUBLISHED, COMMAND_LINE)


@pytest.mark.usefixtures("backends")
class TestSitemap:
    async def test_names_every_language_of_every_page(self, writer: SiteWriter) -> None:
        article = await deliver(slug="shoes")
        await translate(article)
        await deliver(id="art_2", slug="boots")
        await withdraw(await deliver(id="art_3", slug="gone"))
        await writer.write_if_changed()
        links = {locale: address(locale, "shoes") for locale in ("en", "es", "pt-BR")}
        links["x-default"] = links["en"]
        assert await read_pages() == {
            address("en", "shoes"): links,
            address("es", "shoes"): links,
            address("pt-br", "shoes"): links,
            address("en", "boots"): {"en": address("en", "boots"), "x-default": address("en", "boots")},
        }
        changed_at = [url.findtext("sitemap:lastmod", namespaces=XML) for url in await read("sitemap.xml")]
        assert changed_at[1] == write_timestamp((await translation_of(article, "es")).translated_at)

    async def test_has_no_demonstrations(self, writer: SiteWriter) -> None:
        engine = ObedientEngine()
        engine.is_demonstration = True
        await translate(await deliver(slug="shoes"), engine)
        await writer.write_if_changed()
        assert list(await read_pages()) == [address("en", "shoes")]
        assert await read("feed.es.xml") is None

    async def test_is_cut_into_parts_that_the_protocol_allows(
        self, writer: SiteWriter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sitemap, "MOST_URLS", 3)
        articles = [await deliver(id=number, slug=f"shoes-{number}") for number in range(7)]
        await writer.write_if_changed()
        parts = (await read("sitemap.xml")).findall("sitemap:sitemap/sitemap:loc", XML)
        assert [part.text for part in parts] == [
            f"https://blog.example.com/news/sitemap-{number}.xml" for number in (1, 2, 3)
        ]
        assert [len(await read_pages(f"sitemap-{number}.xml")) for number in (1, 2, 3)] == [3, 3, 1]

        monkeypatch.setattr(sitemap, "MOST_URLS", 5)
        await withdraw(articles[0])
        await writer.write_if_changed()
        assert [len(await read_pages(f"sitemap-{number}.xml")) for number in (1, 2)] == [5, 1]
        assert await read("sitemap-3.xml") is None

        await withdraw(articles[1])
        await writer.write_if_changed()
        assert len(await read_pages()) == 5
        assert await read("sitemap-1.xml") is None

    async def test_has_parts_that_a_storage_takes_in_time(
        self, writer: SiteWriter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sitemap, "MOST_BYTES", 1)
        for number in range(2):
            await deliver(id=number, slug=f"shoes-{number}")
        await writer.write_if_changed()
        assert [len(await read_pages(f"sitemap-{number}.xml")) for number in (1, 2)] == [1, 1]


@pytest.mark.usefixtures("backends")
class TestFeeds:
    async def test_have_titles_and_summaries_in_their_language_newest_first(self, writer: SiteWriter) -> None:
        await translate(await deliver("Old", slug="old", excerpt="Short"))
        await translate(await deliver("New\v & more", id="art_2", slug="new"))
        await writer.write_if_changed()
        assert await read_titles("en") == ["New & more", "Old"]
        assert await read_titles("pt-BR") == ["pt-BR: New & more", "pt-BR: Old"]
        feed = await read("feed.es.xml")
        assert feed.findtext("atom:id", namespaces=XML) == "https://blog.example.com/news/feed.es.xml"
        entry = feed.findall("atom:entry", XML)[1]
        assert entry.find("atom:link", XML).attrib["href"] == address("es", "old")
        assert entry.findtext("atom:summary", namespaces=XML) == "es: Short"

    async def test_have_only_the_newest(self, writer: SiteWriter, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(writing, "FEED_ENTRIES", 2)
        for number in range(3):
            await deliver(f"Shoes {number}", id=number, slug=f"shoes-{number}")
        await writer.write_if_changed()
        assert await read_titles("en") == ["Shoes 2", "Shoes 1"]

    async def test_say_what_changed_since(self, writer: SiteWriter) -> None:
        article = await deliver("Shoes", slug="shoes")
        await translate(article)
        await writer.write_if_changed()
        await deliver("Boots", slug="shoes")
        await translate(article)
        await writer.write_if_changed()
        assert (await read_titles("en"), await read_titles("es")) == (["Boots"], ["es: Boots"])

    async def test_go_with_their_last_entry(self, writer: SiteWriter) -> None:
        article = await deliver(slug="shoes")
        await writer.write_if_changed()
        await withdraw(article)
        await writer.write_if_changed()
        assert await read("feed.en.xml") is None


@pytest.mark.usefixtures("backends")
class TestWriteIfChanged:
    async def test_writes_after_every_change_and_only_then(self, writer: SiteWriter) -> None:
        written = [await writer.write_if_changed()]
        article = await deliver(slug="shoes")
        written.append(await writer.write_if_changed())
        await translate(article)
        written.append(await writer.write_if_changed())
        await deliver("Boots", slug="shoes")
        written.append(await writer.write_if_changed())
        await withdraw(article)
        written.append(await writer.write_if_changed())
        await restore_files()
        written.append(await writer.write_if_changed())
        assert written == [True] * 6
        assert not await writer.write_if_changed()

    async def test_writes_nothing_that_another_process_has_written(self, writer: SiteWriter) -> None:
        await deliver(slug="shoes")
        assert await writer.write_if_changed()
        assert not await SiteWriter(Addresses(PATTERN)).write_if_changed()
        assert await SiteWriter(Addresses("https://blog.example.com/{slug}.{locale}")).write_if_changed()

    async def test_leaves_the_work_to_another_process_until_its_lease_ends(self, writer: SiteWriter) -> None:
        lease_ends_at = datetime.now(UTC) + timedelta(seconds=60)
        await SiteFiles.create(id=1, claim=uuid4(), due_at=lease_ends_at)
        assert not await writer.write_if_changed()
        await SiteFiles.all().update(due_at=a_second_ago())
        assert await writer.write_if_changed()

    async def test_stores_nothing_more_when_its_claim_is_lost(
        self, writer: SiteWriter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def stalled() -> AsyncIterator[tuple[str, dict[str, datetime]]]:
            await SiteFiles.all().update(claim=uuid4())
            yield "old", {"en": datetime.now(UTC)}

        monkeypatch.setattr(writing, "page_through_site", stalled)
        assert not await writer.write_if_changed()
        assert await read("sitemap.xml") is None

    async def test_tries_again_after_a_failure(
        self, writer: SiteWriter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(writing, "page_through_site", None)
            with pytest.raises(TypeError):
                await writer.write_if_changed()
        assert await writer.write_if_changed()


def test_the_worker_writes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "SITE_INTERVAL_SECONDS", 0.1)
    with running_service(tmp_path, site_page_url=PATTERN) as service:
        service.run(deliver(slug="shoes"))
        wait_until(lambda: service.run(read("feed.en.xml")) is not None)
