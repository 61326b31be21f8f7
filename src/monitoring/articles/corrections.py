"""Human corrections of single segments, stored in the translation memory. They override every engine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from monitoring.articles.announcements import find_readers
from monitoring.articles.models import Article, Translation
from monitoring.articles.queueing import NEVER, queue_again
from monitoring.articles.refused_segments import find_refusals, forget_refusals
from monitoring.articles.translation.article import SourceArticle, read_article
from monitoring.articles.translation.inline_codes import accepted
from monitoring.articles.translation.judgement import Fault
from monitoring.articles.translation_memory import (
    PEOPLE,
    forget_corrections,
    note_uses,
    recall_corrections,
    recall_segments,
    remember_segments,
)
from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.service import record
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction

# Parsing a hostile article takes seconds, so articles are parsed in these threads. The event loop's default
# threads must stay free, because they store files and resolve host names.
_threads = ThreadPoolExecutor(2, thread_name_prefix="articles-to-correct")


class UnknownSegment(Exception):  # noqa: N818 - what the caller named
    """The article does not currently contain this segment. The message is the segment's hash."""


class BrokenCodes(Exception):  # noqa: N818 - what the caller wrote
    """A correction lacks inline codes of its source segment, or would break the article's markup.

    The message is the segment's hash.
    """


@dataclass(frozen=True, slots=True)
class TranslatedSegment:
    """A segment of an article and its translation into a locale, with inline codes such as `<g1>` in both.

    `text` is None if the translation memory has no translation. If the segment stayed in English on the
    stored page, `fault` is the reason. A translation that would break this article's markup stays in the
    memory, because other articles may be able to use it.
    """

    hash: str
    source: str
    text: str | None
    is_corrected: bool
    fault: Fault | None = None


async def list_segments(article: Article, locale: str) -> list[TranslatedSegment]:
    """Return the distinct segments of the newest revision with their translations, in document order."""
    sources = _by_hash(await _read(article))
    row = await Translation.get_or_none(article_id=article.id, locale=locale)
    engine = row.engine if row and row.engine else ""
    texts = await recall_segments(engine, locale, list(sources))
    corrections = await recall_corrections(locale, list(sources))
    faults = await find_refusals(row.id) if row else {}
    return [
        TranslatedSegment(
            hash_,
            source,
            corrections.get(hash_, texts.get(hash_)),
            is_corrected=hash_ in corrections,
            fault=faults.get(hash_),
        )
        for hash_, source in sources.items()
    ]


async def correct(article: Article, locale: str, texts: Mapping[str, str], actor: Actor) -> int:
    """Store corrections and requeue the translation into `locale`. Returns the number of changed segments.

    `texts` maps segment hashes to corrected translations. A correction also applies to other articles with
    the same segment, the next time that these articles are translated. If `UnknownSegment` or `BrokenCodes`
    is raised, nothing has changed.
    """
    source = await _read(article)
    sources = _by_hash(source)
    corrections: dict[str, str] = {}
    for hash_, text in texts.items():
        if hash_ not in sources:
            raise UnknownSegment(hash_)
        clean = accepted(sources[hash_], text)
        if clean is None:
            raise BrokenCodes(hash_)
        corrections[hash_] = clean
    texts_by_source = {sources[hash_]: text for hash_, text in corrections.items()}
    loop = asyncio.get_running_loop()
    unfit = await loop.run_in_executor(_threads, source.find_unfit, texts_by_source)
    if unfit:
        raise BrokenCodes(next(hash_ for hash_ in corrections if sources[hash_] in unfit))
    known = await recall_corrections(locale, list(corrections))
    changed = {hash_: text for hash_, text in corrections.items() if known.get(hash_) != text}
    if changed:
        async with transaction():
            # Workers lock rows of these tables in the same order, so there is no deadlock.
            await note_uses(article.id, list(changed))
            await remember_segments(article.id, PEOPLE, locale, changed)
            await _queue_again(article, locale, actor)
            await forget_refusals(article.id, locale, list(changed))
    return len(changed)


async def take_back_correction(article: Article, locale: str, segment_hash: str, actor: Actor) -> bool:
    """Remove a correction and requeue the translation into `locale`. Returns whether there was a correction.

    Raises `UnknownSegment`.
    """
    if segment_hash not in _by_hash(await _read(article)):
        raise UnknownSegment(segment_hash)
    async with transaction():
        was_there = await forget_corrections(locale, [segment_hash])
        if was_there:
            await _queue_again(article, locale, actor)
    return was_there


async def _queue_again(article: Article, locale: str, actor: Actor) -> None:
    """Requeue the translation into `locale`, whatever its status, and record in the audit log who did so.

    A worker that is already translating the article into `locale` does not know the new correction. That
    worker loses its claim, so it cannot store its result.
    """
    for team in await find_readers():
        await record(team.id, actor, Action.TRANSLATION_CORRECTED, f"{article.slug}: {locale}", article.id)
    await Article.filter(id=article.id).update(nudged_at=NEVER)
    await queue_again(Translation.filter(article_id=article.id, locale=locale))


async def _read(article: Article) -> SourceArticle:
    brand_names = current_backends().settings.brand_names
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads, read_article, article.payload, brand_names)


def _by_hash(source: SourceArticle) -> dict[str, str]:
    return {hash_: segment for segment, hash_ in source.hashes.items()}
