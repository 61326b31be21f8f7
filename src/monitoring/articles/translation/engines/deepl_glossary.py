"""The operator's terms as a glossary of DeepL's."""

import hashlib
import json
import logging
import threading
from collections.abc import Mapping

import deepl
from deepl.api_data import MultilingualGlossaryDictionaryEntries

from monitoring.articles.translation.engines.batches import BatchRefused
from monitoring.articles.translation.engines.protocol import PermanentEngineError, TransientEngineError
from monitoring.articles.translation.terms import Terms

log = logging.getLogger(__name__)


class TermGlossary:
    """One glossary for all languages, because a key of DeepL API Free has room for one.

    It is looked for, and made if it is not there, when a language first needs it. Its name is a digest of its
    entries, so that all processes with the same terms use the same glossary. It is never changed or deleted:
    a process that still has the terms of before may use it.
    """

    def __init__(self, client: deepl.DeepLClient, dictionaries: Mapping[str, Mapping[str, str]]) -> None:
        self._client = client
        self._dictionaries = dictionaries
        entries = json.dumps(dictionaries, sort_keys=True)
        digest = hashlib.blake2b(entries.encode(), digest_size=16).hexdigest()
        self._name = f"monitoring-service terms {digest}"
        self._glossary_id: str | None = None
        self._is_settled = False
        self._settling = threading.Lock()

    def id_for(self, code: str) -> str | None:
        """Return the glossary's id, or None if it has no terms in DeepL's language, or DeepL refuses it.

        Raises TransientEngineError if DeepL does not answer.
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
            log.warning("Terms are not sent to DeepL, but its answers are judged by them: %s", refusal)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise unreadable_answer() from error
        return None

    def _find(self) -> str | None:
        glossaries = self._client.list_multilingual_glossaries()
        return next((each.glossary_id for each in glossaries if each.name == self._name), None)

    def _create(self) -> str:
        dictionaries = [
            MultilingualGlossaryDictionaryEntries("en", language, dict(entries))
            for language, entries in self._dictionaries.items()
        ]
        try:
            return self._client.create_multilingual_glossary(self._name, dictionaries).glossary_id
        except PermanentEngineError:
            # Another process may have made it at this moment.
            if found := self._find():
                return found
            raise


def dictionaries_for(codes: Mapping[str, str], terms: Terms) -> dict[str, Mapping[str, str]]:
    """Return translations by term, by language, for locales with DeepL's codes.

    DeepL has one dictionary for all variants of a language: it gets what they have in common.
    """
    dictionaries: dict[str, Mapping[str, str]] = {}
    for locale, code in codes.items():
        language = _language_of(code)
        own = terms.into(locale).translations
        dictionaries[language] = dict(sorted(own.items() & dictionaries.get(language, own).items()))
    return {language: entries for language, entries in dictionaries.items() if entries}


def unreadable_answer() -> TransientEngineError:
    """Return the error for an answer that is none of DeepL's."""
    return TransientEngineError("DeepL gave an answer that does not read like DeepL's")


def _language_of(code: str) -> str:
    return code.lower().partition("-")[0]
