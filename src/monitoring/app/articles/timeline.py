"""Builds an article's timeline, newest first: revisions, translations, user actions and notifications.

Has no side effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from monitoring.app.articles.labels import name_language
from monitoring.app.incidents.timeline import Entry, Tone, describe_notification
from monitoring.articles.models import Article, HistoryEntry, HistoryEvent
from monitoring.articles.withdrawal import PUBLISHER
from monitoring.audit.actions import Action
from monitoring.audit.actors import COMMAND_LINE
from monitoring.audit.models import AuditEntry
from monitoring.notifications.models import NotificationDelivery

# Similar events within this time become a single timeline entry. Examples are translations into many locales,
# and corrections of several segments.
BURST = timedelta(minutes=10)

_ACTORS = {PUBLISHER.name: "The publisher", COMMAND_LINE.name: "The command line"}

# Two texts for each action: one for a single locale, and one for all locales or the article itself.
_ACTS: Mapping[str, tuple[str, str]] = {
    Action.TRANSLATIONS_RETRIED: ("retried", "retried all that failed"),
    Action.ARTICLE_RETRANSLATED: ("had it translated again into", "had it translated again"),
    Action.TRANSLATION_CORRECTED: ("corrected", "corrected a translation"),
    Action.ARTICLE_UNPUBLISHED: ("unpublished", "unpublished it"),
    Action.ARTICLE_PUBLISHED: ("published", "published it again"),
}


class _Event(NamedTuple):
    """An event of an article. If it concerns one locale, the language is shown after the title."""

    happened_at: datetime
    title: str
    text: str = ""
    locale: str = ""
    who: str = ""
    tone: Tone = Tone.PLAIN

    @property
    def words(self) -> tuple[str, str, str]:
        """The actor, title and text. Events are grouped only if these are equal."""
        return self.who, self.title, self.text


def build_article_timeline(
    article: Article,
    history: Sequence[HistoryEntry],
    acts: Iterable[AuditEntry],
    told: Iterable[NotificationDelivery],
    names: Mapping[str, str],
) -> list[Entry]:
    """Return the article's timeline, newest entry first. `names` maps each actor to the name to show.

    Translations that an earlier release made have no entry in `history`, so they are taken from
    `article.translations`.
    """
    events = [_Event(article.received_at, "Received from the publisher")]
    seen = {(each.locale, each.happened_at) for each in history}
    events += map(_describe_history, history)
    events += (
        _describe_translation(row.translated_at, row.locale, row.revision)
        for row in article.translations
        if row.translated_at and (row.locale, row.translated_at) not in seen
    )
    events += (_describe_act(act, names) for act in acts)
    events += map(_describe_delivery, told)
    events.sort(key=lambda event: event.happened_at)
    return [_sum_up(burst) for burst in reversed(_find_bursts(events))]


def _describe_history(entry: HistoryEntry) -> _Event:
    if entry.event == HistoryEvent.TRANSLATED:
        return _describe_translation(entry.happened_at, entry.locale or "", entry.revision)
    if entry.event == HistoryEvent.FAILED:
        return _Event(
            entry.happened_at,
            "Could not be translated into",
            entry.reason or "",
            entry.locale or "",
            tone=Tone.BAD,
        )
    if entry.event == HistoryEvent.PUBLISHED:
        return _Event(entry.happened_at, "Published")
    return _Event(entry.happened_at, f"Revision {entry.revision} received from the publisher")


def _describe_translation(moment: datetime, locale: str, revision: int) -> _Event:
    return _Event(moment, "Translated into", f"Revision {revision}." if revision > 1 else "", locale)


def _describe_act(entry: AuditEntry, names: Mapping[str, str]) -> _Event:
    """Describe an action from the audit log. The entry's subject is the article's slug, or `slug: locale`."""
    _, colon, locale = entry.subject.rpartition(": ")
    in_locale, in_all = _ACTS.get(entry.action, (entry.action, entry.action))
    words = in_locale if colon else in_all
    is_person = entry.actor_user_id is not None
    actor = names[entry.actor] if is_person else _ACTORS.get(entry.actor, entry.actor)
    return _Event(entry.happened_at, words, locale=locale if colon else "", who=actor)


def _describe_delivery(delivery: NotificationDelivery) -> _Event:
    told = describe_notification(delivery)
    return _Event(told.happened_at, told.title, told.text, who=told.who, tone=told.tone)


def _find_bursts(events: Iterable[_Event]) -> list[list[_Event]]:
    """Group consecutive events with equal `words` that happened within `BURST` of the group's first event."""
    bursts: list[list[_Event]] = []
    for event in events:
        first = bursts[-1][0] if bursts else None
        is_alike = first is not None and first.words == event.words
        if first is None or not is_alike or event.happened_at - first.happened_at > BURST:
            bursts.append([])
        bursts[-1].append(event)
    return bursts


def _sum_up(burst: Sequence[_Event]) -> Entry:
    newest = burst[-1]
    languages = sorted(map(name_language, {event.locale for event in burst} - {""}))
    times = f"{len(burst)} times." if len(burst) > max(1, len(languages)) else ""
    return Entry(
        newest.happened_at,
        f"{newest.title} {', '.join(languages)}".strip(),
        f"{newest.text} {times}".strip(),
        newest.who,
        newest.tone,
    )
