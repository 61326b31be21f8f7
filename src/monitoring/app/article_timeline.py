"""What happened to an article, newest first: revisions, translations, what people did, who was told. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from monitoring.app.article_words import name_language
from monitoring.app.incident_timeline import Entry, Tone, tell_delivery
from monitoring.articles.models import Article, HistoryEntry, HistoryEvent
from monitoring.articles.withdrawal import PUBLISHER
from monitoring.audit.actions import Action
from monitoring.audit.actors import COMMAND_LINE
from monitoring.audit.models import AuditEntry
from monitoring.notifications.models import NotificationDelivery

# An article is translated into many locales at once, and corrected segment by segment: that is one entry.
BURST = timedelta(minutes=10)

_ACTORS = {PUBLISHER.name: "The publisher", COMMAND_LINE.name: "The command line"}

# What somebody did to the translation into a locale, and what to all of them or the article.
_ACTS: Mapping[str, tuple[str, str]] = {
    Action.TRANSLATIONS_RETRIED: ("retried", "retried all that failed"),
    Action.ARTICLE_RETRANSLATED: ("had it translated again into", "had it translated again"),
    Action.TRANSLATION_CORRECTED: ("corrected", "corrected a translation"),
    Action.ARTICLE_UNPUBLISHED: ("unpublished", "unpublished it"),
}


class _Deed(NamedTuple):
    """Something that happened, perhaps in one locale, which then follows the title."""

    happened_at: datetime
    title: str
    text: str = ""
    locale: str = ""
    who: str = ""
    tone: Tone = Tone.PLAIN

    @property
    def words(self) -> tuple[str, str, str]:
        """What it has in common with others of a burst."""
        return self.who, self.title, self.text


def tell_article(
    article: Article,
    history: Sequence[HistoryEntry],
    acts: Iterable[AuditEntry],
    told: Iterable[NotificationDelivery],
) -> list[Entry]:
    """Return what happened, newest first. Translations of an earlier release are known by their rows."""
    deeds = [_Deed(article.received_at, "Received from the publisher")]
    seen = {(each.locale, each.happened_at) for each in history}
    deeds += map(_tell_history, history)
    deeds += (
        _tell_translated(row.translated_at, row.locale, row.revision)
        for row in article.translations
        if row.translated_at and (row.locale, row.translated_at) not in seen
    )
    deeds += map(_tell_act, acts)
    deeds += map(_tell_delivery, told)
    deeds.sort(key=lambda deed: deed.happened_at)
    return [_sum_up(burst) for burst in reversed(_find_bursts(deeds))]


def _tell_history(entry: HistoryEntry) -> _Deed:
    if entry.event == HistoryEvent.TRANSLATED:
        return _tell_translated(entry.happened_at, entry.locale or "", entry.revision)
    if entry.event == HistoryEvent.FAILED:
        return _Deed(entry.happened_at, "Given up:", entry.reason or "", entry.locale or "", tone=Tone.BAD)
    if entry.event == HistoryEvent.PUBLISHED:
        return _Deed(entry.happened_at, "Published")
    return _Deed(entry.happened_at, f"Revision {entry.revision} received from the publisher")


def _tell_translated(moment: datetime, locale: str, revision: int) -> _Deed:
    return _Deed(moment, "Translated into", f"Revision {revision}." if revision > 1 else "", locale)


def _tell_act(entry: AuditEntry) -> _Deed:
    """Tell what somebody did. The subject is the article's folder, and then perhaps a locale."""
    _, colon, locale = entry.subject.rpartition(": ")
    in_locale, in_all = _ACTS.get(entry.action, (entry.action, entry.action))
    words = in_locale if colon else in_all
    actor = _ACTORS.get(entry.actor, entry.actor) if entry.actor_user_id is None else entry.actor
    return _Deed(entry.happened_at, words, locale=locale if colon else "", who=actor)


def _tell_delivery(delivery: NotificationDelivery) -> _Deed:
    told = tell_delivery(delivery)
    return _Deed(told.happened_at, told.title, told.text, who=told.who, tone=told.tone)


def _find_bursts(deeds: Iterable[_Deed]) -> list[list[_Deed]]:
    """Put together what is alike and happened within `BURST`, with nothing else in between."""
    bursts: list[list[_Deed]] = []
    for deed in deeds:
        first = bursts[-1][0] if bursts else None
        is_alike = first is not None and first.words == deed.words
        if first is None or not is_alike or deed.happened_at - first.happened_at > BURST:
            bursts.append([])
        bursts[-1].append(deed)
    return bursts


def _sum_up(burst: Sequence[_Deed]) -> Entry:
    newest = burst[-1]
    languages = sorted(map(name_language, {deed.locale for deed in burst} - {""}))
    times = f"{len(burst)} times." if len(burst) > max(1, len(languages)) else ""
    return Entry(
        newest.happened_at,
        f"{newest.title} {', '.join(languages)}".strip(),
        f"{newest.text} {times}".strip(),
        newest.who,
        newest.tone,
    )
