"""Pages that show and correct the segments of a translation, for the teams in the setting ARTICLE_TEAMS."""

from __future__ import annotations

from typing import NamedTuple

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
    """List a page of the translation's segments, beginning at the index in the query's `from`.

    With `?show=refused`, list only the segments for which the engine's translation was rejected.
    """
    article = await find_article_of(visit)
    translation = find_translation_of(article, visit)
    segments = await list_segments(article, translation.locale)
    refused = [segment for segment in segments if segment.fault]
    is_refused_only = _is_refused_only(visit)
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
    place = await _find_place(visit, article, translation)
    return _render_form(
        visit, article, translation, place, readable(place.segment.text or place.segment.source)
    )


async def correct_segment(visit: Visit) -> Response:
    """Save the correction of a segment. If the form has `takes_back`, withdraw the correction instead.

    If the correction was changed or withdrawn, queue the translation into this locale again. If the form has
    `goes_on`, redirect to the next segment.
    """
    article, form = await find_article_of(visit), await visit.read_form()
    translation = find_translation_of(article, visit)
    place = await _find_place(visit, article, translation)
    segment, text = place.segment, form.get("text", "")
    if not (text.strip() or form.get("takes_back")):
        return _render_form(visit, article, translation, place, text, REFUSALS["correction_empty"])
    try:
        if form.get("takes_back"):
            is_changed = await take_back_correction(article, translation.locale, segment.hash, visit.actor)
        else:
            is_changed = bool(await correct(article, translation.locale, {segment.hash: text}, visit.actor))
    except BrokenCodes:
        return _render_form(visit, article, translation, place, text, REFUSALS["codes_broken"])
    if is_changed:
        await translate_article.send(str(article.id))
    path = f"/articles/{article.id}/{translation.locale}/segments"
    if form.get("goes_on") and place.next:
        path = f"{path}/{place.next}"
    notice = "translation_corrected" if is_changed else None
    return visit.redirect(path, notice=notice, show="refused" if _is_refused_only(visit) else None)


class _Place(NamedTuple):
    """A segment and its position in the list of segments.

    `number` is counted from 1, `total` is the list's length, and `next` is the next segment's hash, if any.
    """

    segment: TranslatedSegment
    number: int
    total: int
    next: str | None


def _render_form(  # noqa: PLR0913, PLR0917 - what the form shows
    visit: Visit,
    article: Article,
    translation: Translation,
    place: _Place,
    text: str,
    error: str = "",
) -> Response:
    return visit.render(
        "articles/segment.html",
        status=400 if error else 200,
        article=article,
        translation=translation,
        segment=place.segment,
        spot=place,
        show="refused" if _is_refused_only(visit) else None,
        text=text,
        faults=FAULTS,
        error=error,
        direction=direction_of(translation.locale),
    )


async def _find_place(visit: Visit, article: Article, translation: Translation) -> _Place:
    """Return the segment that the path names, with its position. Raises `Problem("not_found")`.

    With `?show=refused`, only this segment and those whose translation was rejected are counted.
    """
    segments = await list_segments(article, translation.locale)
    here = next((each for each in segments if each.hash == visit.path_params["segment_id"]), None)
    if here is None:
        raise Problem("not_found")
    shown = [each for each in segments if each.fault or each is here] if _is_refused_only(visit) else segments
    at = shown.index(here)
    return _Place(here, at + 1, len(shown), shown[at + 1].hash if at + 1 < len(shown) else None)


def _is_refused_only(visit: Visit) -> bool:
    return visit.query.get("show") == "refused"


ROUTES = (
    for_members("/articles/{article_id}/{locale}/segments", get=show_segments),
    for_members(
        "/articles/{article_id}/{locale}/segments/{segment_id}", get=show_segment, post=correct_segment
    ),
)
