from __future__ import annotations

from typing import Any

import pytest

from monitoring.articles.links.addresses import canonical_address, key_of_article, key_of_folder, keys_of_link
from monitoring.articles.site.addresses import Addresses

SITE = Addresses("https://site.example/{locale}/{slug}/")
BLOG = {"baseUrl": "https://blog.example.com"}


def leads_to(link: str, payload: dict[str, Any], base: str = "https://blog.example.com/") -> bool:
    return key_of_article(payload) in keys_of_link(link, base, SITE)


@pytest.mark.parametrize(
    "address",
    [
        "https://blog.example.com/guides/fit",
        "http://Blog.Example.com:80/guides/fit/",
        "https://blog.example.com/guides/fit/index.html#sizes",
        "/guides/fit",
        "guides/f%69t/",
        "//blog.example.com/guides/fit",
    ],
)
def test_an_address_is_known_however_it_is_written(address: str) -> None:
    assert leads_to(address, {"article": {"url": "https://blog.example.com/guides/fit/"}})


@pytest.mark.parametrize(
    "address",
    [
        "https://blog.example.com/guides/fit-2",
        "https://other.example.com/guides/fit",
        "https://blog.example.com:8443/guides/fit",
        "https://blog.example.com/guides/fit?page=2",
        "mailto:fit@blog.example.com",
        "https://[blog/guides/fit",
        "#fit",
        "",
    ],
)
def test_another_address_is_another_page(address: str) -> None:
    assert not leads_to(address, {"article": {"url": "https://blog.example.com/guides/fit"}})


def test_the_canonical_address_counts_before_the_one_that_a_platform_gives() -> None:
    article = {"url": "https://platform.example/me/fit", "canonical_url": "https://blog.example.com/fit"}
    assert leads_to("/fit", {"article": article})
    assert not leads_to("https://platform.example/me/fit", {"article": article})


@pytest.mark.parametrize("path", ["fit", "/blog/fit", "posts/fit/", "/2026/11/28/fit", "/blog/2026/fit"])
def test_an_article_without_an_address_is_known_by_its_slug(path: str) -> None:
    assert leads_to(path, {"article": {"slug": "fit"}, "website": BLOG})


@pytest.mark.parametrize("path", ["/tag/fit", "/category/shoes/fit", "/authors/fit", "/fit?p=1"])
def test_a_slug_behind_other_words_may_be_another_page(path: str) -> None:
    assert not leads_to(path, {"article": {"slug": "fit"}, "website": BLOG})


def test_a_slug_with_folders_is_a_path() -> None:
    assert leads_to("/guides/fit", {"article": {"slug": "guides/fit"}, "website": BLOG})
    assert not leads_to("/fit", {"article": {"slug": "guides/fit"}, "website": BLOG})


@pytest.mark.parametrize("payload", [{"article": {"slug": "fit"}}, {"article": {"id": 7}, "website": BLOG}])
def test_an_article_that_tells_neither_has_no_key(payload: dict[str, Any]) -> None:
    assert key_of_article(payload) == ""


def test_the_page_of_the_site_in_english_is_known_by_its_folder() -> None:
    assert key_of_folder("fit") in keys_of_link("https://site.example/en/fit", "", SITE)
    assert key_of_folder("fit") not in keys_of_link("https://site.example/es/fit", "", SITE)


@pytest.mark.parametrize("query", ["?p=12", "?p=12#top"])
def test_an_address_may_be_told_by_its_query(query: str) -> None:
    assert canonical_address(f"https://blog.example.com/{query}") == "blog.example.com?p=12"
