"""Pages of the blog's articles and their translations, for the teams in the setting ARTICLE_TEAMS."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from typing import Any

from starlette.responses import Response

from monitoring.app.articles.labels import name_language
from monitoring.app.articles.side_by_side import direction_of, lay_side_by_side
from monitoring.app.articles.timeline import build_article_timeline
from monitoring.app.live.fingerprints import EVERYWHERE, Shown, Source
from monitoring.app.live.following import live
from monitoring.app.routing import for_members
from monitoring.app.visits import Visit
from monitoring.articles.history import list_history
from monitoring.articles.models import Article, PublicationStatus, Translation, TranslationStatus
from monitoring.articles.own_translations import PUBLISHER
from monitoring.articles.queueing import retry_failed
from monitoring.articles.refused_segments import count_refusals
from monitoring.articles.retranslation import FINISHED, TranslationFilter, retranslate
from monitoring.articles.service import NothingToPublish, find_article, list_articles, publish_kept
from monitoring.articles.storage import SOURCE_LOCALE, find_page
from monitoring.articles.tasks import translate_article
from monitoring.articles.translation.article import read_article as read_article_source
from monitoring.articles.usage import count_waiting_for_budget, list_usage, this_month
from monitoring.articles.withdrawal import withdraw_article
from monitoring.audit.actions import Action
from monitoring.audit.service import list_entries_about, record
from monitoring.backends.database import transaction
from monitoring.backends.errors import StorageUnavailable
from monitoring.contract.cursors import PagedList, next_cursor
from monitoring.contract.problems import Problem
from monitoring.logs import log_article
from monitoring.members.service import name_members
from monitoring.notifications.deliveries import MOST_ABOUT, list_deliveries_about

ARTICLES_A_PAGE = 25
MAX_SEARCH_CHARACTERS = 100
# The most events of each kind that are read for the timeline, before similar events are grouped.
MAX_EVENTS = 500
MAX_ENTRIES = 100
_MONTH = re.compile(r"20[0-9]{2}-(0[1-9]|1[0-2])")


# Processing a hostile article can take seconds. Articles therefore have their own threads, which keeps the
# shared threads available for storing files and resolving host names.
_threads = ThreadPoolExecutor(2, thread_name_prefix="articles-to-read")


async def show_articles(visit: Visit) -> Response:
    """List articles, newest first. The query can filter by title or slug, and by translation status."""
    require_article_access(visit)
    name = visit.query.get("status")
    wanted = next((known for known in TranslationStatus if known == name), None)
    search = visit.query.get("search", "").strip()[:MAX_SEARCH_CHARACTERS]
    page = await list_articles(ARTICLES_A_PAGE, wanted, visit.after_id, search)
    return visit.render(
        "articles/list.html",
        articles=page.rows,
        next_cursor=next_cursor(PagedList.ARTICLES, page.continues_after),
        wanted=wanted,
        search=search,
        statuses=list(TranslationStatus),
        is_translating=_is_translating(visit),
    )


async def show_article(visit: Visit) -> Response:
    """Show an article's translations, the actions for failed ones, and the article's timeline."""
    article = await find_article_of(visit)
    translations = _in_order(article)
    history = await list_history(article.id, MAX_EVENTS)
    acts = await list_entries_about(visit.team.id, article.id, MAX_EVENTS)
    told = await list_deliveries_about(visit.team.id, article.id, newest_first=True)
    names = await name_members(visit.team.id, {act.actor for act in acts})
    timeline = build_article_timeline(article, history, acts, told, names)
    is_cut = len(timeline) > MAX_ENTRIES or max(len(history), len(acts)) == MAX_EVENTS
    return visit.render(
        "articles/show.html",
        article=article,
        translations=translations,
        publisher=PUBLISHER,
        failed_count=sum(row.status == TranslationStatus.FAILED for row in translations),
        is_translating=_is_translating(visit),
        timeline=timeline[:MAX_ENTRIES],
        is_timeline_cut=is_cut or len(told) == MOST_ABOUT,
    )


async def retry_translations(visit: Visit) -> Response:
    """Queue the article's failed translations again.

    If the form names a locale, only the translation into this locale is queued.
    """
    article = await find_article_of(visit)
    locale = (await visit.read_form()).get("locale") or None
    async with transaction():
        count = await retry_failed(article.id, locale)
        if count:
            subject = f"{article.slug}: {locale}" if locale else article.slug
            await record(visit.team.id, visit.actor, Action.TRANSLATIONS_RETRIED, subject, article.id)
    if count:
        await translate_article.send(str(article.id))
    return visit.redirect(f"/articles/{article.id}", notice="translations_retried" if count else None)


async def ask_to_retranslate(visit: Visit) -> Response:
    """Ask which locales to retranslate.

    For each locale, show the maximum number of characters that would be sent to the engine.
    """
    article = await find_article_of(visit)
    loop = asyncio.get_running_loop()
    source = await loop.run_in_executor(_threads, read_article_source, article.payload)
    return visit.render(
        "articles/retranslate.html",
        article=article,
        languages=[
            (row.locale, name_language(row.locale)) for row in _in_order(article) if row.status in FINISHED
        ],
        characters=sum(map(len, source.hashes)),
    )


async def retranslate_article(visit: Visit) -> Response:
    """Queue the article's finished translations again.

    If the form names a locale, only the translation into this locale is queued.
    """
    article, form = await find_article_of(visit), await visit.read_form()
    locale = form.get("locale") or None
    async with transaction():
        chosen = TranslationFilter(article.id, locale)
        count = await retranslate(chosen, forgets_memory=form.get("forgets_memory") == "on")
        if count:
            subject = f"{article.slug}: {locale}" if locale else article.slug
            await record(visit.team.id, visit.actor, Action.ARTICLE_RETRANSLATED, subject, article.id)
    if count:
        await translate_article.send(str(article.id))
    return visit.redirect(f"/articles/{article.id}", notice="article_retranslated" if count else None)


async def ask_to_unpublish(visit: Visit) -> Response:
    """Ask for confirmation before unpublishing an article."""
    return visit.render("articles/unpublish.html", article=await find_article_of(visit))


async def unpublish_article(visit: Visit) -> Response:
    """Remove an article's files from the blog, and keep its text in the database."""
    article = await find_article_of(visit)
    await withdraw_article(article.id, PublicationStatus.UNPUBLISHED, visit.actor)
    return visit.redirect(f"/articles/{article.id}", notice="article_unpublished")


async def publish_article(visit: Visit) -> Response:
    """Publish an unpublished article again, with the stored text."""
    article = await find_article_of(visit)
    try:
        published = await publish_kept(article.id, visit.actor)
    except NothingToPublish:
        raise Problem("article_empty") from None
    if published:
        await translate_article.send(str(article.id))
    return visit.redirect(f"/articles/{article.id}", notice="article_published" if published else None)


async def ask_to_delete(visit: Visit) -> Response:
    """Ask for confirmation before deleting an article."""
    return visit.render("articles/delete.html", article=await find_article_of(visit))


async def delete_article(visit: Visit) -> Response:
    """Delete an article for good, with its text, translations and files."""
    article = await find_article_of(visit)
    await withdraw_article(article.id, PublicationStatus.DELETED, visit.actor)
    return visit.redirect("/articles", notice="article_deleted")


async def read_article(visit: Visit) -> Response:
    """Show an article beside its translation. If the blog storage is unavailable, show the article alone."""
    article = await find_article_of(visit)
    translation = find_translation_of(article, visit)
    stored = await _find_stored(visit, article, translation)
    delivery = stored.page["delivery"] if stored.page else None
    loop = asyncio.get_running_loop()
    reading = await loop.run_in_executor(_threads, lay_side_by_side, article.payload, delivery)
    return visit.render(
        "articles/read.html",
        article=article,
        translation=translation,
        translations=_in_order(article),
        page=stored.page,
        publisher=PUBLISHER,
        problem=stored.problem,
        reading=reading,
        refused_count=await count_refusals(translation.id),
        source_locale=SOURCE_LOCALE,
        direction=direction_of(translation.locale),
    )


@dataclass(frozen=True, slots=True)
class _Stored:
    page: dict[str, Any] | None = None
    problem: str | None = None


async def _find_stored(visit: Visit, article: Article, translation: Translation) -> _Stored:
    try:
        return _Stored(page=await find_page(article.slug, translation.locale))
    except StorageUnavailable:
        is_configured = visit.settings.blog_storage_url is not None
        name = "service_unavailable" if is_configured else "blog_storage_not_configured"
        return _Stored(problem=visit.catalogue.respond(name).body["error"])


async def find_article_of(visit: Visit) -> Article:
    """Return the article named in the path. Raises Problem if it is missing, or the team has no access."""
    require_article_access(visit)
    article_id = visit.read_id("article_id")
    log_article(article_id)
    article = await find_article(article_id)
    if article is None:
        raise Problem("article_not_found")
    return article


def require_article_access(visit: Visit) -> None:
    """Raise `Problem("not_found")` if the team has no access to articles."""
    if not visit.sees_articles:
        raise Problem("not_found")


def find_translation_of(article: Article, visit: Visit) -> Translation:
    """Return the article's translation for the path's locale. Raises `Problem("not_found")`."""
    for translation in article.translations:
        if translation.locale == visit.path_params["locale"]:
            return translation
    raise Problem("not_found")


def _in_order(article: Article) -> list[Translation]:
    return sorted(article.translations, key=lambda translation: translation.locale)


def _is_translating(visit: Visit) -> bool:
    """Return whether a translation engine is configured. Without one, translations stay queued."""
    return visit.settings.translator != "none"


async def show_costs(visit: Visit) -> Response:
    """Show the translation usage for the query's month, or else for the current month.

    An invalid or future month is ignored.
    """
    require_article_access(visit)
    current, asked = this_month(), visit.query.get("month", "")
    month = asked if _MONTH.fullmatch(asked) and asked <= current else current
    rows = await list_usage(month)
    used = sum(row.characters for row in rows)
    budget = visit.settings.translation_monthly_characters
    return visit.render(
        "articles/costs.html",
        rows=rows,
        used=used,
        requests=sum(row.requests for row in rows),
        budget=budget,
        month_words=f"{date.fromisoformat(f'{month}-01'):%B %Y}",
        before=_month_before(month),
        is_current=month == current,
        waiting=await count_waiting_for_budget() if budget and month == current else 0,
    )


def _month_before(month: str) -> str:
    year, number = map(int, month.split("-"))
    return f"{year - (number == 1)}-{12 if number == 1 else number - 1:02}"


async def _name_sources_of_costs(_: Visit) -> list[Shown]:
    return [Shown(Source.USAGE, EVERYWHERE)]


async def _name_sources(_: Visit) -> list[Shown]:
    return [Shown(Source.ARTICLES, EVERYWHERE)]


async def _name_sources_of_one(visit: Visit) -> list[Shown]:
    return [Shown(source, visit.read_id("article_id")) for source in (Source.ARTICLE, Source.DELIVERIES)]


ROUTES = (
    for_members("/articles", get=live(_name_sources, show_articles)),
    for_members("/articles/costs", get=live(_name_sources_of_costs, show_costs)),
    for_members("/articles/{article_id}", get=live(_name_sources_of_one, show_article)),
    for_members("/articles/{article_id}/retry", post=retry_translations),
    for_members("/articles/{article_id}/retranslate", get=ask_to_retranslate, post=retranslate_article),
    for_members("/articles/{article_id}/unpublish", get=ask_to_unpublish, post=unpublish_article),
    for_members("/articles/{article_id}/publish", post=publish_article),
    for_members("/articles/{article_id}/delete", get=ask_to_delete, post=delete_article),
    for_members("/articles/{article_id}/{locale}", get=live(_name_sources_of_one, read_article)),
)
