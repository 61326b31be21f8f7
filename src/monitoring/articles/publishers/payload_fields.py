"""Converts fields that several publishers format the same way: texts, times, names, images, addresses."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from monitoring.articles.plain_words import read_words


def plain_text(rendered: str | None) -> str | None:
    """Return a short HTML text as plain text on one line."""
    return None if rendered is None else read_words(rendered)


def latest_gmt(*times: str | None) -> str | None:
    """Return the latest of several WordPress GMT times, with a `Z` appended, or None if there is none.

    `0000-00-00` means that there is no time.
    """
    told = [time.strip().replace(" ", "T") for time in times if time and not time.startswith("0000")]
    return f"{max(told).removesuffix('Z')}Z" if told else None


def names_of(tags: object) -> list[str] | None:
    """Return the names of a list of tag objects, or None if `tags` is not a list."""
    if not isinstance(tags, list):
        return None
    return [tag["name"] for tag in tags if isinstance(tag, dict) and isinstance(tag.get("name"), str)]


def image_at(url: object, alt: str | None = None) -> dict[str, Any] | None:
    """Return a `main_image` object, or None if `url` is empty or not a string."""
    return {"url": url, "alt": alt} if url and isinstance(url, str) else None


def website_at(address: object) -> dict[str, Any] | None:
    """Return a `website` object for the host in a post's URL, or None if there is no host.

    The website is needed to identify an article, because different sites may use the same post ids.
    """
    try:
        parts = urlsplit(address if isinstance(address, str) else "")
    except ValueError:
        return None
    host = parts.netloc.lower()
    return {"id": host, "baseUrl": f"{parts.scheme}://{host}"} if host else None
