"""DeepL, through its official package."""

import hashlib
import html
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

import deepl

from monitoring.articles.translation.codes import CODE
from monitoring.articles.translation.engines.batches import ask_in_batches
from monitoring.articles.translation.engines.deepl_connection import DeepLConnection
from monitoring.articles.translation.engines.deepl_glossary import (
    TermGlossary,
    dictionaries_for,
    unreadable_answer,
)
from monitoring.articles.translation.engines.deepl_languages import DOCUMENTED, TargetLanguage
from monitoring.articles.translation.engines.locales import closest_code
from monitoring.articles.translation.engines.pacing import Pace
from monitoring.articles.translation.engines.protocol import (
    CHECK_TIMEOUT_SECONDS,
    BatchLimit,
    PermanentEngineError,
    TransientEngineError,
)
from monitoring.articles.translation.terms import NO_TERMS, Terms

# A request may have 50 texts and 128 KiB. Everything but the texts takes less than 1 KiB.
LIMIT = BatchLimit(max_texts=50, max_bytes=127 * 1024)

log = logging.getLogger(__name__)


class DeepL:
    """Translates English. For languages in which DeepL keeps no tags, it translates words between codes."""

    is_demonstration = False
    batch_limit = LIMIT

    def __init__(  # noqa: PLR0913 (what an operator can set)
        self,
        api_key: str,
        *,
        url: str | None = None,
        formality: str = "default",
        glossaries: Mapping[str, str] | None = None,
        terms: Terms = NO_TERMS,
        timeout_seconds: float = 30,
        pace: Pace | None = None,
    ) -> None:
        self._formality = None if formality == "default" else formality
        self._glossaries = glossaries or {}
        self._terms = terms
        self._pace = pace or Pace()
        self._languages: Mapping[str, TargetLanguage] = DOCUMENTED
        self._connection = DeepLConnection(api_key, timeout_seconds, self._pace)
        self._client = deepl.DeepLClient(api_key, server_url=url and f"{url}/")
        self._client._client = self._connection  # noqa: SLF001 - there is no other way to give it
        self._term_glossary = TermGlossary(self._client, {})

    @property
    def name(self) -> str:
        """The engine's name, which differs by formality and glossaries.

        Terms leave it as it is: the memory's texts are judged by them, so that it need not be forgotten.
        """
        if self._formality is None and not self._glossaries:
            return "deepl"
        wishes = json.dumps([self._formality, sorted(self._glossaries.items())])
        return f"deepl-{hashlib.blake2b(wishes.encode(), digest_size=4).hexdigest()}"

    def check(self, locales: Sequence[str]) -> list[str]:
        """Ask DeepL for its languages. If it does not answer, its documentation's languages count."""
        try:
            self._languages = self._ask_languages()
        except TransientEngineError as error:
            log.warning("%s: using the languages of its documentation", error)
        except PermanentEngineError as error:
            return [str(error)]
        self._term_glossary = TermGlossary(self._client, self._dictionaries(locales))
        return [problem for locale in locales if (problem := self._problem_with(locale))]

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
        """Translate English segments. Where DeepL keeps no tags, those with codes get an empty answer."""
        code = closest_code(target, self._languages)
        if code is None or source.partition("-")[0] != "en":
            raise PermanentEngineError(f"DeepL cannot translate {source} into {target}")
        wishes: dict[str, Any] = {
            "source_lang": "en",
            "target_lang": code,
            "formality": self._formality,
            "glossary": self._glossaries.get(target) or self._term_glossary.id_for(code),
            "preserve_formatting": True,  # a segment may be half a sentence, which DeepL must not complete
            "split_sentences": "nonewlines",
        }
        if not self._languages[code].keeps_tags:
            return self._translate_plain(segments, wishes)
        # With outline detection, DeepL would take some codes for the ends of sentences.
        wishes |= {"tag_handling": "xml", "tag_handling_version": "v2", "outline_detection": False}
        return ask_in_batches(segments, LIMIT, lambda batch: self._ask(batch, wishes))

    def close(self) -> None:
        """Close the connections, and refuse turns to threads that wait for one."""
        self._pace.close()
        self._client.close()  # type: ignore[no-untyped-call]

    def _dictionaries(self, locales: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """Return the terms of locales that have no glossary of their own, in languages that can have one."""
        codes = {locale: closest_code(locale, self._languages) for locale in locales}
        return dictionaries_for(
            {
                locale: code
                for locale, code in codes.items()
                if code and self._languages[code].has_glossary and locale not in self._glossaries
            },
            self._terms,
        )

    def _problem_with(self, locale: str) -> str | None:
        code = closest_code(locale, self._languages)
        if code is None:
            return f"DeepL cannot translate into {locale}, but into {', '.join(self._languages)}"
        if self._formality in ("more", "less") and not self._languages[code].has_formality:
            return (
                f"DeepL cannot choose the formality of {locale}; prefer_{self._formality} asks for it"
                " only where it can"
            )
        return None

    def _translate_plain(self, segments: Sequence[str], wishes: Mapping[str, Any]) -> list[str]:
        plain = [html.unescape(segment) for segment in segments if not CODE.search(segment)]
        answers = iter(ask_in_batches(plain, LIMIT, lambda batch: self._ask(batch, wishes)))
        return [
            "" if CODE.search(segment) else html.escape(next(answers), quote=False) for segment in segments
        ]

    def _ask(self, batch: Sequence[str], wishes: Mapping[str, Any]) -> list[str]:
        try:
            answers = self._client.translate_text(batch, **wishes)
            return [answer.text for answer in answers]  # type: ignore[union-attr]  # many to many
        except (AttributeError, TypeError, ValueError) as error:
            raise unreadable_answer() from error

    def _ask_languages(self) -> dict[str, TargetLanguage]:
        """Ask for DeepL's current list of languages. The package knows only a shorter, deprecated one."""
        url = urljoin(self._client.server_url, "v3/languages?resource=translate_text")
        _, answer = self._connection.request_with_backoff(
            "GET", url, None, None, dict(self._client.headers), timeout_seconds=CHECK_TIMEOUT_SECONDS
        )
        try:
            return {
                language["lang"]: TargetLanguage(
                    keeps_tags="tag_handling" in language["features"],
                    has_formality="formality" in language["features"],
                    has_glossary="glossary" in language["features"],
                )
                for language in json.loads(answer)
                if language["usable_as_target"] and language["lang"] != "pt"  # the package refuses it
            }
        except (KeyError, TypeError, ValueError) as error:
            raise unreadable_answer() from error
