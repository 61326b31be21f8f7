"""Site generators build what is exported, as docs/blog-storage.md tells their users to configure them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

import httpx
import pytest

from articles.desk import make_submission
from debian_programs import find_program
from running_service import WEBHOOK_SECRET, running_service
from service_process import wait_until
from translation_servers import KEY, LibreTranslateServer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

pytestmark = pytest.mark.embedded("what is exported is the same on all backends")

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "blog-storage.md"
SITES = Path(__file__).parent / "sites"
ENVIRONMENT = (
    os.environ
    | {"ASTRO_TELEMETRY_DISABLED": "1"}
    | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
)
BLOCK = re.compile(r"^```\w+\n(?:#|//) (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)

BY_NIGHT = pytest.mark.night("a site of Hugo shows the same, and `make corpus` builds all three")
LOCALES = ("es", "pt-BR", "zh-Hant")
SHORTCODES = "{{< evil >}} {{% worse %}} {% unknown %} {{ name }}"
PICTURES = """\
![a](a.png)
**Bold** {![a](../a.png)}

| ![a](@/a.png) |
|-|

[^1]: ![a](https://)

    ![a][b]

[b]: <a b.png>
"""
SITE = "https://blog.example.com"
# What is short enough is judged neither for its script nor for being English.
ARTICLES = {
    "zapatillas-y-cafe": {"id": 1, "slug": "Zapatillas y café", "content": f"**Bold** {SHORTCODES}\n"},
    "html": {"id": 2, "slug": "html", "content_html": f"<p>Bold</p>\n\n    <p>{SHORTCODES}</p>"},
    "my-story": {"id": 3, "slug": "my-story", "content": "Mine {{< lone", "tags": ["constructor", ".."]},
    "pictures": {"id": 6, "slug": "pictures", "content": PICTURES},
    # The engine answers in capitals, of which `ß` has two.
    "guide": {
        "id": 7,
        "slug": "guide",
        "content": f"[Maß](#maß)\n\n## Maß\n\n## Maß\n\n[A]({SITE}/en/guide/)",
    },
    "no-title": {"id": 4, "slug": "no-title", "title": None, "content": "Text", "published_at": "never"},
}
DEMONSTRATION = {"id": 5, "slug": "demonstration", "content": "Text"}

Site: TypeAlias = "Mapping[str, Page]"  # by path


class Page(HTMLParser):
    """A page that was built: its language links, by locale in lower case, its headings' ids, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.ids: list[str] = []  # of headings
        self.anchors: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "link" and "hreflang" in named:
            self.links[str(named["hreflang"]).lower()] = str(named["href"])
        if tag == "h2":
            self.ids.append(str(named.get("id")))
        if tag == "a":
            self.anchors.append(unquote(str(named["href"])))

    def handle_data(self, data: str) -> None:
        self.text += data


def deliver_articles(folder: Path, export: str) -> None:
    """Deliver articles to a service that translates them, and then one to a service that only pretends to."""
    settings: dict[str, Any] = {
        "blog_export": export,
        "locales": ",".join(LOCALES),
        "site_page_url": f"{SITE}/{{lowercase_locale}}/{{slug}}/",
    }
    with LibreTranslateServer() as engine:
        asked = {"translator_url": engine.url, "translator_api_key": KEY}
        with running_service(folder, translator="libretranslate", **settings, **asked) as service:
            deliver(service.base_url, folder, [*ARTICLES.values()])
    with running_service(folder, **settings) as service:
        deliver(service.base_url, folder, [DEMONSTRATION])


def deliver(base_url: str, folder: Path, articles: Sequence[dict[str, Any]]) -> None:
    for article in articles:
        submission = make_submission(**{"title": "Shoes: new", **article})
        secret = {"X-Webhook-Secret": WEBHOOK_SECRET}
        httpx.post(f"{base_url}/api/webhooks/publisher", json=submission, headers=secret).raise_for_status()
    slugs = [path.parent.name for path in folder.glob("blog/*/en.json")]
    files = [folder / "blog" / slug / f"{locale}.json" for slug in slugs for locale in LOCALES]
    wait_until(lambda: all(file.exists() for file in files))


def make_site(folder: Path, name: str) -> Path:
    """Lay out a site with our templates and the configuration that the guide shows."""
    site = folder / "site"
    shutil.copytree(SITES / name, site, ignore=shutil.ignore_patterns("node_modules"))
    for path, content in BLOCK.findall(GUIDE.read_text()):
        (site / path).parent.mkdir(exist_ok=True)
        (site / path).write_text(content.replace("/var/lib/monitoring/blog", str(folder / "blog")))
    return site


def build(site: Path, *command: str | Path) -> Site:
    """Build a site without a warning, and read its pages of articles."""
    done = subprocess.run(command, cwd=site, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert "warn" not in done.stdout.lower()
    built = site / "public"
    files = {f"/{file.parent.relative_to(built)}/": file for file in built.rglob("index.html")}
    pages = {path: Page(file.read_text()) for path, file in files.items()}
    return {path: page for path, page in pages.items() if page.links}


@pytest.fixture(scope="module")
def hugo_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("hugo")
    deliver_articles(folder, "hugo")
    site = make_site(folder, "hugo")
    with (site / "hugo.toml").open("a") as configuration:
        configuration.write("[languages.zh-Hant]\n")  # like those that the guide has
    return build(site, find_program("hugo"), "--quiet", "--printPathWarnings", "--panicOnWarning")


@pytest.fixture(scope="module")
def eleventy_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    subprocess.run([SITES / "eleventy" / "install"], env=ENVIRONMENT, check=True)
    folder = tmp_path_factory.mktemp("eleventy")
    deliver_articles(folder, "eleventy")
    site = make_site(folder, "eleventy")
    (site / "blog" / "articles").symlink_to(folder / "blog")
    return build(
        site, SITES / "eleventy" / "node_modules" / ".bin" / "eleventy", "--quiet", "--output=public"
    )


@pytest.fixture(scope="module")
def astro_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    subprocess.run([SITES / "astro" / "install"], env=ENVIRONMENT, check=True)
    folder = tmp_path_factory.mktemp("astro")
    deliver_articles(folder, "astro")
    site = make_site(folder, "astro")
    (site / "node_modules").symlink_to(SITES / "astro" / "node_modules")
    return build(site, SITES / "astro" / "node_modules" / ".bin" / "astro", "build", "--silent")


@pytest.mark.parametrize(
    ("generator", "pattern"),
    [
        ("hugo", "/{locale}/articles/{slug}/"),
        pytest.param("eleventy", "/{locale}/{slug}/", marks=BY_NIGHT),
        pytest.param("astro", "/{locale}/{slug}/", marks=BY_NIGHT),
    ],
)
class TestBuiltSite:
    @pytest.fixture
    def site(self, generator: str, request: pytest.FixtureRequest) -> Site:
        site: Site = request.getfixturevalue(f"{generator}_site")
        return site

    def test_has_one_page_for_each_locale_of_each_article_and_no_demonstration(
        self, site: Site, pattern: str
    ) -> None:
        assert {path.lower() for path in site} == {
            *(path_of(pattern, slug, locale) for slug in ARTICLES for locale in ("en", *LOCALES)),
            path_of(pattern, "demonstration", "en"),
        }

    def test_has_language_links_that_lead_to_pages(self, site: Site, pattern: str) -> None:
        for slug in ARTICLES:
            translations = {locale.lower(): path_of(pattern, slug, locale) for locale in ("en", *LOCALES)}
            pages = [page for path, page in site.items() if f"/{slug}/" in path]
            assert [{locale: path.lower() for locale, path in page.links.items()} for page in pages] == [
                translations
            ] * len(translations)
        assert {link for page in site.values() for link in page.links.values()} == site.keys()

    def test_has_links_that_lead_to_the_readers_language(self, site: Site, pattern: str) -> None:
        pages = {path.lower(): page for path, page in site.items()}
        for locale in ("en", *LOCALES):
            page = pages[path_of(pattern, "guide", locale)]
            assert page.anchors[-1] == f"{SITE}/{locale.lower()}/guide/"

    def test_shows_what_looks_like_code_of_the_generator(self, site: Site, pattern: str) -> None:
        for slug, locale, word in [
            ("zapatillas-y-cafe", "en", "Bold"),
            ("html", "en", "Bold"),
            ("zapatillas-y-cafe", "es", "BOLD"),
            ("html", "zh-Hant", "BOLD"),
        ]:
            [text] = [
                page.text for path, page in site.items() if path.lower() == path_of(pattern, slug, locale)
            ]
            assert word in text
            assert SHORTCODES in text
        assert "Mine {{< lone" in site[path_of(pattern, "my-story", "en")].text


def test_hugo_keeps_the_ids_of_english_headings(hugo_site: Site) -> None:
    for locale in ("en", *LOCALES):
        page = hugo_site[path_of("/{locale}/articles/{slug}/", "guide", locale)]
        assert (page.ids, page.anchors[0]) == (["maß", "maß-1"], "#maß")
        assert ("MASS" in page.text) == (locale != "en")


def path_of(pattern: str, slug: str, locale: str) -> str:
    return pattern.format(slug=slug, locale=locale.lower())
