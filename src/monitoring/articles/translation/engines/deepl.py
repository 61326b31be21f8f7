"""DeepL's API (https://developers.deepl.com/api-reference), called directly over HTTP.

DeepL's own package is not used: when DeepL is busy, the package sleeps in the caller's thread and hides how
long DeepL asks clients to wait.
"""

import hashlib
import html
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx2

from monitoring.articles.translation.engines.batches import BatchRefused, ask_in_batches
from monitoring.articles.translation.engines.http_errors import judge_status, unreadable_answer
from monitoring.articles.translation.engines.json_exchange import exchange_json
from monitoring.articles.translation.engines.locales import closest_code
from monitoring.articles.translation.engines.protocol import (
    CHECK_TIMEOUT_SECONDS,
    BatchLimit,
    PermanentEngineError,
    TransientEngineError,
)
from monitoring.articles.translation.engines.throttle import Throttle
from monitoring.articles.translation.inline_codes import CODE
from monitoring.articles.translation.terms import NO_TERMS, Terms

# DeepL allows 50 texts and 128 KiB per request. Everything except the texts takes less than 1 KiB.
LIMIT = BatchLimit(max_texts=50, max_bytes=127 * 1024)

Exchange = Callable[..., Any]  # method, path and httpx2 arguments -> JSON of a successful response

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TargetLanguage:
    """The DeepL features available for a language."""

    keeps_tags: bool
    has_formality: bool
    has_glossary: bool


# The languages in DeepL's documentation, used if DeepL does not respond at startup.
# fmt: off
_WITH_FORMALITY = {"de", "es", "es-419", "fr", "it", "ja", "nl", "pl", "pt-BR", "pt-PT", "ru"}
_WITH_TAGS = _WITH_FORMALITY | {
    "ar", "bg", "cs", "da", "el", "et", "fi", "hu", "id", "ko", "lt", "lv", "nb", "ro", "sk", "sl", "sv",
    "tr", "uk", "zh", "zh-Hans", "zh-Hant",
}
_WITHOUT_TAGS = {
    "ace", "af", "an", "as", "ay", "az", "ba", "be", "bho", "bn", "br", "bs", "ca", "ceb", "ckb", "cy", "eo",
    "eu", "fa", "ga", "gl", "gn", "gom", "gu", "ha", "he", "hi", "hr", "ht", "hy", "ig", "is", "jv", "ka",
    "kk", "kmr", "ky", "la", "lb", "lmo", "ln", "mai", "mg", "mi", "mk", "ml", "mn", "mr", "ms", "mt", "my",
    "ne", "oc", "om", "pa", "pag", "pam", "prs", "ps", "qu", "sa", "scn", "sq", "sr", "st", "su", "sw", "ta",
    "te", "tg", "th", "tk", "tl", "tn", "ts", "tt", "ur", "uz", "vi", "wo", "xh", "yi", "yue", "zu",
}
# https://developers.deepl.com/api-reference/glossaries/create-a-glossary
_WITH_GLOSSARY = _WITH_TAGS | {"he", "th", "vi"}
# fmt: on
DOCUMENTED = {
    code: TargetLanguage(code in _WITH_TAGS, code in _WITH_FORMALITY, code in _WITH_GLOSSARY)
    for code in sorted(_WITH_TAGS | _WITHOUT_TAGS)
}


class DeepL:
    """Translates English with DeepL.

    For a language without tag handling, the translation of a segment with inline codes is empty.
    """

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
        throttle: Throttle | None = None,
    ) -> None:
        self._api_key = api_key
        self._formality = None if formality == "default" else formality
        self._glossaries = glossaries or {}
        self._terms = terms
        self._timeout_seconds = timeout_seconds
        self._throttle = throttle or Throttle()
        self._languages: Mapping[str, TargetLanguage] = DOCUMENTED
        self._client = httpx2.Client(
            base_url=url or _address_for(api_key),
            headers={"Authorization": f"DeepL-Auth-Key {api_key}"},
            timeout=timeout_seconds,
        )
        self._term_glossary = TermGlossary(self._exchange, {})

    @property
    def name(self) -> str:
        """The engine's name, which depends on the formality and the glossaries.

        The name does not depend on the terms, because stored translations are checked against the current
        terms.
        """
        if self._formality is None and not self._glossaries:
            return "deepl"
        wishes = json.dumps([self._formality, sorted(self._glossaries.items())])
        return f"deepl-{hashlib.blake2b(wishes.encode(), digest_size=4).hexdigest()}"

    def check(self, locales: Sequence[str]) -> list[str]:
        """Return a message for each locale that DeepL cannot translate into with the configured options.

        If DeepL does not respond, the languages in its documentation are used.
        """
        try:
            self._languages = self._ask_languages()
        except TransientEngineError as error:
            log.warning("%s: using the languages that DeepL documents", error)
        except PermanentEngineError as error:
            return [str(error)]
        self._term_glossary = TermGlossary(self._exchange, self._dictionaries(locales))
        return [problem for locale in locales if (problem := self._problem_with(locale))]

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
        """Translate English segments.

        For a language without tag handling, the translation of a segment with inline codes is empty.
        """
        code = closest_code(target, self._languages)
        if code is None or source.partition("-")[0] != "en":
            raise PermanentEngineError(f"DeepL cannot translate {source} into {target}")
        wishes: dict[str, Any] = {
            "source_lang": "EN",
            "target_lang": code.upper(),
            "preserve_formatting": True,  # DeepL must not complete a segment that is part of a sentence
            "split_sentences": "nonewlines",
        }
        if self._formality:
            wishes["formality"] = self._formality
        if glossary_id := self._glossaries.get(target) or self._term_glossary.id_for(code):
            wishes["glossary_id"] = glossary_id
        if not self._languages[code].keeps_tags:
            return self._translate_plain(segments, wishes)
        # With outline detection, DeepL would treat some codes as sentence ends.
        wishes |= {"tag_handling": "xml", "tag_handling_version": "v2", "outline_detection": False}
        return ask_in_batches(segments, LIMIT, lambda batch: self._ask(batch, wishes))

    def close(self) -> None:
        """Close the connections. Threads that wait to send a request get an error."""
        self._throttle.close()
        self._client.close()

    def _dictionaries(self, locales: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """Return the terms for the locales, by language.

        Locales with a configured glossary are omitted, and so are languages without glossary support.
        """
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
                f"DeepL has no choice of formality for {locale}; prefer_{self._formality} applies only "
                "to locales that have it"
            )
        return None

    def _translate_plain(self, segments: Sequence[str], wishes: Mapping[str, Any]) -> list[str]:
        plain = [html.unescape(segment) for segment in segments if not CODE.search(segment)]
        answers = iter(ask_in_batches(plain, LIMIT, lambda batch: self._ask(batch, wishes)))
        return [
            "" if CODE.search(segment) else html.escape(next(answers), quote=False) for segment in segments
        ]

    def _ask(self, batch: Sequence[str], wishes: Mapping[str, Any]) -> list[str]:
        answer = self._exchange("POST", "/v2/translate", json={"text": list(batch), **wishes})
        try:
            texts = [translation["text"] for translation in answer["translations"]]
        except (KeyError, TypeError) as error:
            raise unreadable_answer("DeepL") from error
        if not all(isinstance(text, str) for text in texts):
            raise unreadable_answer("DeepL")
        return texts

    def _ask_languages(self) -> dict[str, TargetLanguage]:
        answer = self._exchange(
            "GET",
            "/v3/languages",
            params={"resource": "translate_text"},
            timeout=min(CHECK_TIMEOUT_SECONDS, self._timeout_seconds),
        )
        try:
            return {
                language["lang"]: TargetLanguage(
                    keeps_tags="tag_handling" in language["features"],
                    has_formality="formality" in language["features"],
                    has_glossary="glossary" in language["features"],
                )
                for language in answer
                if language["usable_as_target"] and language["lang"] != "pt"  # `pt` may be either variant
            }
        except (KeyError, TypeError) as error:
            raise unreadable_answer("DeepL") from error

    def _exchange(self, method: str, path: str, **request: Any) -> Any:  # noqa: ANN401 (it is JSON)
        """Send a request once and return its JSON. Raises `BatchRefused` or an engine error on failure."""
        response, answer = exchange_json("DeepL", self._client, self._throttle, method, path, **request)
        if response.is_success:
            return answer
        if response.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise BatchRefused
        told = answer if isinstance(answer, Mapping) else {}
        message = told.get("message") or told.get("Message")
        raise judge_status(
            "DeepL", response.status_code, response.headers, message=message, secret=self._api_key
        )


class TermGlossary:
    """The operator's terms as one glossary for all languages, because DeepL API Free allows only one.

    When a translation first needs the glossary, it is looked up at DeepL, or else created. Its name contains
    a digest of its entries, so that all processes with the same terms share a glossary. A glossary is never
    changed or deleted, because a process with older terms may still use it.
    """

    def __init__(self, exchange: Exchange, dictionaries: Mapping[str, Mapping[str, str]]) -> None:
        self._exchange = exchange
        self._dictionaries = dictionaries
        entries = json.dumps(dictionaries, sort_keys=True)
        digest = hashlib.blake2b(entries.encode(), digest_size=16).hexdigest()
        self._name = f"monitoring-service terms {digest}"
        self._glossary_id: str | None = None
        self._is_settled = False
        self._settling = threading.Lock()

    def id_for(self, code: str) -> str | None:
        """Return the glossary id for a DeepL language.

        Returns None if there are no terms in this language or DeepL rejects the glossary. Raises
        TransientEngineError if DeepL does not respond.
        """
        if _language_of(code) not in self._dictionaries:
            return None
        with self._settling:
            if not self._is_settled:
                self._glossary_id = self._settle()
                self._is_settled = True
        return self._glossary_id

    def _settle(self) -> str | None:
        try:
            return self._find() or self._create()
        except (PermanentEngineError, BatchRefused) as refusal:
            log.warning(
                "Terms are not sent to DeepL, but its translations are still checked against them: %s",
                refusal,
            )
        except (KeyError, TypeError) as error:
            raise unreadable_answer("DeepL") from error
        return None

    def _find(self) -> str | None:
        glossaries = self._exchange("GET", "/v3/glossaries")["glossaries"]
        return next((each["glossary_id"] for each in glossaries if each["name"] == self._name), None)

    def _create(self) -> str:
        dictionaries = [
            {
                "source_lang": "EN",
                "target_lang": language.upper(),
                "entries": "\n".join(map("\t".join, entries.items())),
                "entries_format": "tsv",
            }
            for language, entries in self._dictionaries.items()
        ]
        glossary = {"name": self._name, "dictionaries": dictionaries}
        try:
            return str(self._exchange("POST", "/v3/glossaries", json=glossary)["glossary_id"])
        except PermanentEngineError:
            # Another process may have just created the glossary.
            if found := self._find():
                return found
            raise


def dictionaries_for(codes: Mapping[str, str], terms: Terms) -> dict[str, Mapping[str, str]]:
    """Return a dictionary for each language, which maps terms to translations.

    `codes` maps locales to DeepL's language codes. DeepL has one dictionary for all variants of a language.
    So the dictionary contains only the entries that all locales in this language share.
    """
    dictionaries: dict[str, Mapping[str, str]] = {}
    for locale, code in codes.items():
        language = _language_of(code)
        own = terms.into(locale).translations
        dictionaries[language] = dict(sorted(own.items() & dictionaries.get(language, own).items()))
    return {language: entries for language, entries in dictionaries.items() if entries}


def _address_for(api_key: str) -> str:
    """Return the URL of DeepL's API for a key. Keys that end with `:fx` are for DeepL API Free."""
    return "https://api-free.deepl.com" if api_key.endswith(":fx") else "https://api.deepl.com"


def _language_of(code: str) -> str:
    return code.lower().partition("-")[0]
