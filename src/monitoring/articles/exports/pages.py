"""Reads and cleans page fields for exports, so that no publisher's content can break a site.

Has no side effects.
"""

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
    """Return the meta description, or else the excerpt, or else None."""
    article = page["delivery"]["article"]
    seo = article.get("seo")
    described = seo.get("description") if isinstance(seo, dict) else None
    texts = (article.get("meta_description"), described, article.get("excerpt"))
    return next((read_words(text) for text in texts if text and isinstance(text, str)), None)


def find_title(page: StoredPage) -> str:
    """Return the title, or else the slug, because the schemas of site generators require a title."""
    return read_title(page["delivery"]) or str(page["slug"])


def find_image(page: StoredPage) -> tuple[str | None, str | None]:
    """Return the main image's address and alternative text, or None for each that is missing."""
    image = page["delivery"].get("main_image") or {}
    address = image.get("url") or page["delivery"]["article"].get("main_image_url")
    return address, read_words(image.get("alt") or "") or None


def find_address(page: StoredPage) -> str:
    """Return the URL of the article, or else of its website, or else an empty string."""
    website = page["delivery"].get("website") or {}
    told = (page["delivery"]["article"].get("url"), f"{website.get('baseUrl')}/")
    addresses = (text.strip() for text in told if isinstance(text, str))
    return next(filter(_WEB_ADDRESS.match, addresses), "")


def find_tags(page: StoredPage) -> list[str]:
    """Return the distinct tags, without those that are not valid paths, such as `..`.

    Site generators use tags as paths.
    """
    words = (" ".join(tag.split()) for tag in name_tags(page["delivery"]["article"]))
    return list(dict.fromkeys(filter(_is_path, words)))


def _is_path(tag: str) -> bool:
    return all(any(map(str.isalnum, part)) for part in tag.split("/"))


def find_date(page: StoredPage) -> datetime:
    """Return the publication time, or the revision's arrival time if no publication time can be parsed.

    If the publication time is later than the arrival time, the arrival time is returned, because site
    generators omit pages with a date in the future.
    """
    received_at = read_timestamp(page["received_at"])
    return min(read_publication_time(page["delivery"]) or received_at, received_at)


def find_changed_at(page: StoredPage) -> datetime:
    """Return when the page was translated or, if it is the original, when it arrived."""
    return read_timestamp(page["translated_at"] or page["received_at"])


def find_text(page: StoredPage) -> str:
    """Return the article's text as Markdown. Front matter in the publisher's text is removed."""
    text, text_format = find_source(page["delivery"]["article"])
    text = unwrapped(text)
    if text_format is TextFormat.HTML:
        return _hold_together(text)
    without_front_matter: str = text[front_matter_length(text) :]
    return without_front_matter.strip("\r\n")


def find_heading_ids(payload: Mapping[str, Any]) -> list[str]:
    """Return the ids that site generators derive from the headings of the English text, in order.

    The list is empty if the text is not Markdown, or if parsing it would take too much memory.
    """
    _, text_format = find_source(payload["article"])
    text = find_text({"delivery": payload})
    if not text_format.is_markdown or predict_bytes(text, is_markdown=True) > MOST_BYTES:
        return []
    from monitoring.articles.translation.markdown_anchors import find_headings  # noqa: PLC0415 - 2 MiB

    return [heading.anchor for heading in find_headings(text)]


def find_source(article: Mapping[str, Any]) -> tuple[str, TextFormat]:
    """Return the article's text and its format.

    Fields that are named in the OpenAPI document are preferred to other fields. Within each of these two
    groups, Markdown is preferred to HTML.
    """
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
    """Return YAML front matter, one value per line, followed by the text. Empty values are omitted.

    Strings are always quoted, because PyYAML leaves some strings unquoted that YAML 1.2 parses as numbers.
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
    """Return a value as YAML. Long lines are not wrapped."""
    import yaml  # noqa: PLC0415 - many workers never write YAML

    written: str = yaml.safe_dump(value, allow_unicode=True, width=math.inf, **style)
    return written


def _hold_together(html: str) -> str:
    """Return HTML as a single HTML block in Markdown.

    Blank lines are replaced, because they would end the block (CommonMark 4.6).
    """
    return f"<div>\n{''.join(_close_gaps(html.strip()))}\n</div>" if html.strip() else ""


def _close_gaps(html: str) -> Iterator[str]:
    depth = 0  # number of open <pre> elements, in which blank lines are visible
    for token in tokenize(html):
        if token.name == "pre":
            depth = max(0, depth + (1 if token.kind is TokenKind.START else -1))
        is_seen = depth and token.kind is TokenKind.TEXT
        yield _BLANK_LINES.sub(_refer_to_lines if is_seen else "\n", token.raw)


def _refer_to_lines(gap: re.Match[str]) -> str:
    return "&#10;" * (gap[0].count("\n") - 1) + "\n"
