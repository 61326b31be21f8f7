"""Reads the fields of a page for exports. Whatever publishers send must not break a site's build. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from monitoring.articles.field_names import HTML_TEXTS, MARKDOWN_TEXTS, OTHER_TEXTS, TEXTS
from monitoring.articles.plain_words import read_words
from monitoring.articles.submissions import name_tags, read_publication_time, read_title
from monitoring.articles.translation.content_formats import TextFormat, content_format
from monitoring.articles.translation.fenced_article import unwrapped
from monitoring.articles.translation.front_matter import front_matter_length
from monitoring.articles.translation.html_tokens import TokenKind, tokenize
from monitoring.articles.translation.memory_budget import MOST_BYTES, predict_bytes
from monitoring.contract.timestamps import read_timestamp, write_timestamp

StoredPage: TypeAlias = "Mapping[str, Any]"
Value: TypeAlias = "str | bool | int | list[str] | datetime | None"

LOCALE = r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*"

EXPORTED_TEXTS = ("content_markdown", "content", "content_html", *MARKDOWN_TEXTS, *HTML_TEXTS, *OTHER_TEXTS)

_WEB_ADDRESS = re.compile(r"https?://[\w.-]", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\r?\n(?:[ \t]*\r?\n)+")


def find_description(page: StoredPage) -> str | None:
    """Return the meta description, else the excerpt; None if there is neither."""
    article = page["delivery"]["article"]
    seo = article.get("seo")
    described = seo.get("description") if isinstance(seo, dict) else None
    texts = (article.get("meta_description"), described, article.get("excerpt"))
    return next((read_words(text) for text in texts if text and isinstance(text, str)), None)


def find_title(page: StoredPage) -> str:
    """Return the title, else the slug: generators' schemas require a title."""
    return read_title(page["delivery"]) or str(page["slug"])


def find_image(page: StoredPage) -> tuple[str | None, str | None]:
    """Return the main image's address and alternative text, or None for each that is missing."""
    image = page["delivery"].get("main_image") or {}
    address = image.get("url") or page["delivery"]["article"].get("main_image_url")
    return address, read_words(image.get("alt") or "") or None


def find_address(page: StoredPage) -> str:
    """Return the article's address, else its website's; empty if neither is a web address."""
    website = page["delivery"].get("website") or {}
    told = (page["delivery"]["article"].get("url"), f"{website.get('baseUrl')}/")
    addresses = (text.strip() for text in told if isinstance(text, str))
    return next(filter(_WEB_ADDRESS.match, addresses), "")


def find_tags(page: StoredPage) -> list[str]:
    """Return the distinct tags that are valid paths, since generators make paths of them. `..` is not."""
    words = (" ".join(tag.split()) for tag in name_tags(page["delivery"]["article"]))
    return list(dict.fromkeys(filter(_is_path, words)))


def _is_path(tag: str) -> bool:
    return all(any(map(str.isalnum, part)) for part in tag.split("/"))


def find_date(page: StoredPage) -> datetime:
    """Return the publication time, or the arrival time of the revision if none can be parsed.

    A time after the arrival is replaced by it, because generators omit pages dated in the future.
    """
    received_at = read_timestamp(page["received_at"])
    return min(read_publication_time(page["delivery"]) or received_at, received_at)


def find_changed_at(page: StoredPage) -> datetime:
    """Return when this locale last changed."""
    return read_timestamp(page["translated_at"] or page["received_at"])


def find_text(page: StoredPage) -> str:
    """Return the article's text as Markdown, without the front matter that it came with."""
    text, text_format = find_source(page["delivery"]["article"])
    text = unwrapped(text)
    if text_format is TextFormat.HTML:
        return _hold_together(text)
    without_front_matter: str = text[front_matter_length(text) :]
    return without_front_matter.strip("\r\n")


def find_heading_ids(payload: Mapping[str, Any]) -> list[str]:
    """Return the ids that sites generate for an English text's headings, in order; empty unless Markdown."""
    _, text_format = find_source(payload["article"])
    text = find_text({"delivery": payload})
    if not text_format.is_markdown or predict_bytes(text, is_markdown=True) > MOST_BYTES:
        return []
    from monitoring.articles.translation.markdown_anchors import find_headings  # noqa: PLC0415 - 2 MiB

    return [heading.anchor for heading in find_headings(text)]


def find_source(article: Mapping[str, Any]) -> tuple[str, TextFormat]:
    """Find the article's text and format: Markdown before HTML, the document's field names before others."""
    texts = {name: text for name, text in article.items() if name in TEXTS and text and isinstance(text, str)}
    name = next((name for name in EXPORTED_TEXTS if name in texts), None)
    if name is None:
        return "", TextFormat.MARKDOWN
    if name in MARKDOWN_TEXTS:
        return texts[name], TextFormat.MARKDOWN
    if name in HTML_TEXTS:
        return texts[name], TextFormat.HTML
    return texts[name], content_format(article.get("format"), unwrapped(texts[name]))


def write_front_matter(values: Mapping[str, Value], text: str) -> str:
    """Write YAML front matter, one value per line, followed by the text. None and empty values are omitted.

    Strings are always quoted: PyYAML leaves some plain that YAML 1.2 parses as numbers.
    """
    present = {name: value for name, value in values.items() if value not in (None, "", [])}
    lines = "".join(f"{name}: {_write_value(value)}\n" for name, value in present.items())
    return f"---\n{lines}---\n\n{text.rstrip()}\n"


def _write_value(value: Value) -> str:
    match value:
        case bool() | int():
            return json.dumps(value)
        case str():
            value = " ".join(value.split())
        case list() | None:
            pass
        case moment:
            return write_timestamp(moment)
    return write_yaml(value, default_style='"', default_flow_style=True).strip()


def write_yaml(value: Any, **style: Any) -> str:  # noqa: ANN401  - JSON, and PyYAML options
    """Write YAML without wrapping long lines."""
    import yaml  # noqa: PLC0415 - many a worker never writes any

    written: str = yaml.safe_dump(value, allow_unicode=True, width=math.inf, **style)
    return written


def _hold_together(html: str) -> str:
    """Wrap HTML as one Markdown HTML block. A blank line would end it (CommonMark 4.6), so none is left."""
    return f"<div>\n{''.join(_close_gaps(html.strip()))}\n</div>" if html.strip() else ""


def _close_gaps(html: str) -> Iterator[str]:
    depth = 0  # of nested <pre> elements, where blank lines are visible
    for token in tokenize(html):
        if token.name == "pre":
            depth = max(0, depth + (1 if token.kind is TokenKind.START else -1))
        is_seen = depth and token.kind is TokenKind.TEXT
        yield _BLANK_LINES.sub(_refer_to_lines if is_seen else "\n", token.raw)


def _refer_to_lines(gap: re.Match[str]) -> str:
    return "&#10;" * (gap[0].count("\n") - 1) + "\n"
