"""Reads the translations that publishers send with an article. They are used instead of an engine's.

The field `article.translations` is a map from locales to translations, or a list of objects that have a
locale field. Directus sends a list. Strapi names the field `localizations`. Other values in this field, such
as Polylang's ids, are ignored. Has no side effects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from monitoring.articles.field_names import LOCALES, OWN_TRANSLATIONS, TAGS, TEXTS, TITLES
from monitoring.articles.models import PublicationStatus
from monitoring.articles.publishing_words import read_status
from monitoring.articles.translation.article import FIELDS_FOR_READERS

# The engine name of pages that the publisher translated.
PUBLISHER = "publisher"

FIELD = OWN_TRANSLATIONS[0]

_WORDS = frozenset((*FIELDS_FOR_READERS, *TAGS, "format"))


def keep_own_translations(payload: dict[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload with the publisher's translations collected in `FIELD`.

    Translations that the payload lacks are taken from `kept`, the stored article. A translation that is null
    or a draft in the payload is omitted, because the publisher has withdrawn it.
    """
    told = dict(_read(payload["article"]))
    own = {locale: one for locale, one in (dict(_read(kept)) | told).items() if one is not None}
    if not own and not told:
        return payload
    article = {name: value for name, value in payload["article"].items() if name not in OWN_TRANSLATIONS}
    return {**payload, "article": article | ({FIELD: own} if own else {})}


def find_own_translation(payload: Mapping[str, Any], locale: str) -> dict[str, Any] | None:
    """Return the reader-visible fields of the publisher's translation into a locale, or None."""
    own = dict(_read(payload["article"]))
    found = own.get(_normalize(locale))
    return {name: value for name, value in found.items() if name in _WORDS} if found else None


def with_each_own_translation(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the payload, and one copy of it for each of the publisher's translations.

    In a copy, the fields of the translation replace the article's.
    """
    own = filter(None, dict(_read(payload["article"])).values())
    return [payload, *(with_own_translation(payload, one) for one in own)]


def without_own_translations(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a payload without the publisher's translations into other languages."""
    article = payload["article"]
    if not dict(_read(article)):
        return dict(payload)
    return {**payload, "article": {name: article[name] for name in article if name not in OWN_TRANSLATIONS}}


def leave_for_engine(payload: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a payload without the fields that the publisher has translated in `own`.

    The text, the title and the tags each have several possible field names. If the publisher has translated
    one of these three, under any of its names, every field for it is removed.
    """
    given = set(own)
    for group in (set(TEXTS), set(TITLES), set(TAGS)):
        given |= group if group & given else set()
    article = payload["article"]
    return {**payload, "article": {name: article[name] for name in article if name not in given}}


def with_own_translation(payload: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload with the fields of the publisher's translation in place of the article's."""
    return {**payload, "article": {**payload["article"], **own}}


def _read(article: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield each locale with its translation, or with None if the translation is withdrawn."""
    for name in OWN_TRANSLATIONS:
        match article.get(name):
            case dict() as by_locale:
                listed = list(by_locale.items())
            case list() as objects:
                listed = [(_locale_of(one), one) for one in objects if isinstance(one, dict)]
            case _:
                continue
        for locale, one in listed:
            if one is None and locale:
                yield _normalize(locale), None
            elif isinstance(one, dict) and locale and _has_words(one):
                is_public = read_status({"article": one}) is PublicationStatus.PUBLISHED
                yield _normalize(locale), one if is_public else None


def _locale_of(one: Mapping[str, Any]) -> str | None:
    return next((one[name] for name in LOCALES if isinstance(one.get(name), str)), None)


def _has_words(one: Mapping[str, Any]) -> bool:
    return any(isinstance(one.get(name), str) and one[name].strip() for name in (*TEXTS, *TITLES))


def _normalize(locale: str) -> str:
    """Normalize a locale: `es_ES` to `es`, `pt_BR` to `pt-br`. A region equal to the language is dropped."""
    language, _, rest = locale.strip().lower().replace("_", "-").partition("-")
    return language if rest in ("", language) else f"{language}-{rest}"
