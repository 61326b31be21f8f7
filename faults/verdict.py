"""Compares what the service must have at the end with what it has. Pure; every difference is a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from monitoring.backends.durable_files import SIGN_OF_LIFE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from publishers import Manuscript

SOURCE = "en"


@dataclass(frozen=True)
class Kept:
    """What the service has at the end: rows of both tables, by column, and objects by path."""

    articles: Sequence[Mapping[str, Any]]
    translations: Sequence[Mapping[str, Any]]
    objects: Mapping[str, bytes]


def judge(manuscripts: Sequence[Manuscript], kept: Kept, locales: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for everything that breaks a promise to the publishers."""
    articles = {str(row["id"]): row for row in kept.articles}
    accepted = [manuscript for manuscript in manuscripts if manuscript.article_id]
    expected = {manuscript.article_id: manuscript for manuscript in accepted}
    if len(expected) < len(accepted):
        yield "two articles were answered with one article_id"
    for article_id in articles.keys() - expected.keys():
        yield f"article {article_id} ({articles[article_id]['identity']}) was never delivered"
    for article_id in expected.keys() - articles.keys():
        yield f"{expected[article_id].key}: article {article_id} is not stored"

    promised_objects = {SIGN_OF_LIFE}  # `/ready` writes it
    for article_id in expected.keys() & articles.keys():
        manuscript, article = expected[article_id], articles[article_id]
        rows = [row for row in kept.translations if str(row["article_id"]) == article_id]
        yield from _judge_article(manuscript, article)
        if manuscript.status != "published":
            path = f"{article['slug']}/gone.json"
            promised_objects.add(path)
            yield from _judge_tombstone(manuscript, article, path, kept.objects.get(path))
            yield from (f"{manuscript.key}: has a translation into {row['locale']}" for row in rows)
            continue
        yield from _judge_translations(manuscript, article, rows, locales)
        for locale in (SOURCE, *locales):
            path = f"{article['slug']}/{locale}.json"
            promised_objects.add(path)
            yield from _judge_object(manuscript, article, path, kept.objects.get(path))
    for path in sorted(kept.objects.keys() - promised_objects):
        yield f"object {path} should not exist"


def _judge_article(manuscript: Manuscript, article: Mapping[str, Any]) -> Iterator[str]:
    if article["status"] != manuscript.status:
        yield f"{manuscript.key}: is {article['status']} instead of {manuscript.status}"
    payload = orjson.loads(article["payload"])
    if manuscript.status == "deleted":
        if payload or article["title"]:
            yield f"{manuscript.key}: has content although it was deleted"
    elif payload != manuscript.newest:
        found = payload.get("edition")
        yield f"{manuscript.key}: the row has edition {found} instead of {manuscript.newest['edition']}"
    if not manuscript.fewest_revisions <= article["revision"] <= manuscript.most_revisions:
        bounds = f"{manuscript.fewest_revisions} to {manuscript.most_revisions}"
        yield f"{manuscript.key}: is revision {article['revision']}, and {bounds} were delivered"
    if not article["slug"].startswith(manuscript.slug):
        yield f"{manuscript.key}: lies in {article['slug']} instead of {manuscript.slug}"


def _judge_tombstone(
    manuscript: Manuscript, article: Mapping[str, Any], path: str, content: bytes | None
) -> Iterator[str]:
    tombstone = orjson.loads(content or b"{}")
    if (tombstone.get("article_id"), tombstone.get("status")) != (str(article["id"]), manuscript.status):
        yield f"{manuscript.key}: object {path} says {tombstone}"


def _judge_translations(
    manuscript: Manuscript,
    article: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    locales: Sequence[str],
) -> Iterator[str]:
    if sorted(row["locale"] for row in rows) != sorted(locales):
        yield f"{manuscript.key}: has translations into {sorted(row['locale'] for row in rows)}"
    for row in rows:
        where = f"{manuscript.key}: {row['locale']}"
        if row["status"] != "translated":
            yield f"{where} is {row['status']} after {row['attempts']} attempts ({row['reason']})"
        if row["revision"] != article["revision"]:
            yield f"{where} is of revision {row['revision']} instead of {article['revision']}"
        if row["attempts"] < 1:
            yield f"{where} is translated without an attempt"


def _expect_id(page: Mapping[str, Any], article: Mapping[str, Any]) -> str:
    """Return the article's id; of a first page, that of an undone attempt will do, whose process was killed.

    The storage held its put while it was frozen, and did it after that of the attempt that was accepted.
    One that honours conditions would refuse one of the two; rclone does not (docs/blog-storage.md).
    """
    id_ = str(article["id"])
    is_first = page["locale"] == SOURCE and page["revision"] == 1
    return min(id_, page["article_id"]) if is_first else id_  # UUIDv7: the earlier attempt's


def _judge_object(
    manuscript: Manuscript, article: Mapping[str, Any], path: str, content: bytes | None
) -> Iterator[str]:
    if content is None:
        yield f"{manuscript.key}: object {path} is missing"
        return
    try:
        page = orjson.loads(content)
    except orjson.JSONDecodeError:
        yield f"{manuscript.key}: object {path} is no whole JSON ({len(content)} bytes)"
        return
    locale = path.rpartition("/")[2].removesuffix(".json")
    for field, expected in {
        "article_id": _expect_id(page, article),
        "slug": article["slug"],
        "locale": locale,
        "revision": article["revision"],
    }.items():
        if page[field] != expected:
            yield f"{manuscript.key}: object {path} has {field} {page[field]} instead of {expected}"
    delivery, newest = page["delivery"], manuscript.newest
    if delivery["edition"] != newest["edition"]:
        found = f"{delivery['edition']} instead of {newest['edition']}"
        yield f"{manuscript.key}: object {path} has edition {found}"
    elif locale == SOURCE and orjson.dumps(delivery) != orjson.dumps(newest):
        yield f"{manuscript.key}: object {path} is not what was delivered"
    elif locale != SOURCE:
        if not _is_translation(delivery["article"], newest["article"]):
            yield f"{manuscript.key}: object {path} is no translation of what was delivered"
        if _find_correction(delivery["article"]["content"]) != manuscript.corrections.get(locale):
            yield f"{manuscript.key}: object {path} has not the words of its editor"


def _find_correction(content: str) -> str | None:
    """Find what the editor wrote, which is the beginning of a paragraph."""
    found = re.search(r"^Correction \S+ of Reason \S+ ", content, re.MULTILINE)
    return found.group() if found else None


def _is_translation(page: Mapping[str, Any], article: Mapping[str, Any]) -> bool:
    """Compare what an engine must not change: everything but text, and the text's links and paragraphs."""
    text, source = page["content"], article["content"]
    untouched = {name: value for name, value in article.items() if name not in ("title", "content")}
    return (
        untouched.items() <= page.items()
        and text != source
        and text.count("\n\n") == source.count("\n\n")
        and text.count(f"](/{article['id']}/") == source.count(f"](/{article['id']}/")
    )
