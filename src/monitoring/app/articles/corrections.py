"""An article's translation segment by segment, where people correct it. For the teams of ARTICLE_TEAMS."""

from __future__ import annotations

from starlette.responses import Response

from monitoring.app.articles.labels import FAULTS
from monitoring.app.articles.pages import find_article_of, find_translation_of
from monitoring.app.articles.side_by_side import direction_of
from monitoring.app.routing import for_members
from monitoring.app.sentences import REFUSALS
from monitoring.app.visits import Visit
from monitoring.articles.corrections import (
    BrokenCodes,
    TranslatedSegment,
    correct,
    list_segments,
    take_back_correction,
)
from monitoring.articles.models import Article, Translation
from monitoring.articles.tasks import translate_article
from monitoring.articles.translation.inline_codes import readable
from monitoring.contract.problems import Problem

SEGMENTS_A_PAGE = 100


async def show_segments(visit: Visit) -> Response:
    """List segments, all or those that were refused, from the one numbered `from`."""
    article = await find_article_of(visit)
    translation = find_translation_of(article, visit)
    segments = await list_segments(article, translation.locale)
    refused = [segment for segment in segments if segment.fault]
    is_refused_only = visit.query.get("show") == "refused"
    shown = refused if is_refused_only else segments
    asked = visit.query.get("from", "")
    start = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < len(str(2**31)) else 0
    return visit.render(
        "articles/segments.html",
        article=article,
        translation=translation,
        segments=shown[start : start + SEGMENTS_A_PAGE],
        is_refused_only=is_refused_only,
        all_count=len(segments),
        refused_count=len(refused),
        faults=FAULTS,
        next_start=start + SEGMENTS_A_PAGE if len(shown) > start + SEGMENTS_A_PAGE else None,
        direction=direction_of(translation.locale),
    )


async def show_segment(visit: Visit) -> Response:
    """Show the form for one segment."""
    article = await find_article_of(visit)
    translation = find_translation_of(article, visit)
    segment = await _find_segment(visit, article, translation)
    return _render_form(visit, article, translation, segment, readable(segment.text or segment.source))


async def correct_segment(visit: Visit) -> Response:
    """Take a correction, or take it back, and translate the locale again."""
    article, form = await find_article_of(visit), await visit.read_form()
    translation = find_translation_of(article, visit)
    segment = await _find_segment(visit, article, translation)
    text = form.get("text", "")
    if not (text.strip() or form.get("takes_back")):
        return _render_form(visit, article, translation, segment, text, REFUSALS["correction_empty"])
    try:
        if form.get("takes_back"):
            is_changed = await take_back_correction(article, translation.locale, segment.hash, visit.actor)
        else:
            is_changed = bool(await correct(article, translation.locale, {segment.hash: text}, visit.actor))
    except BrokenCodes:
        return _render_form(visit, article, translation, segment, text, REFUSALS["codes_broken"])
    if is_changed:
        await translate_article.send(str(article.id))
    path = f"/articles/{article.id}/{translation.locale}/segments"
    return visit.redirect(path, notice="translation_corrected" if is_changed else None)


def _render_form(  # noqa: PLR0913, PLR0917 - what the form shows
    visit: Visit,
    article: Article,
    translation: Translation,
    segment: TranslatedSegment,
    text: str,
    error: str = "",
) -> Response:
    return visit.render(
        "articles/segment.html",
        status=400 if error else 200,
        article=article,
        translation=translation,
        segment=segment,
        text=text,
        faults=FAULTS,
        error=error,
        direction=direction_of(translation.locale),
    )


async def _find_segment(visit: Visit, article: Article, translation: Translation) -> TranslatedSegment:
    for segment in await list_segments(article, translation.locale):
        if segment.hash == visit.path_params["segment_id"]:
            return segment
    raise Problem("not_found")


ROUTES = (
    for_members("/articles/{article_id}/{locale}/segments", get=show_segments),
    for_members(
        "/articles/{article_id}/{locale}/segments/{segment_id}", get=show_segment, post=correct_segment
    ),
)
