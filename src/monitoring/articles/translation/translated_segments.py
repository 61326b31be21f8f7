"""Translates segments with an engine, and checks each translation because engines make mistakes."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass
from functools import partial
from threading import Event
from types import MappingProxyType
from typing import Any

from monitoring.articles.translation.engines.batches import split
from monitoring.articles.translation.engines.protocol import (
    STOPPED,
    Engine,
    EngineError,
    TransientEngineError,
)
from monitoring.articles.translation.inline_codes import CODE, accepted, has_words, normalise_spaces
from monitoring.articles.translation.judgement import Fault, find_short_in_another_language
from monitoring.articles.translation.mended_answers import mended

# (segment, translation, locale) -> the translation's fault, or None.
FindFault = Callable[[str, str, str], str | None]

# Faults that usually affect all texts of a request, although a short text alone may not reveal them.
_OF_WHOLE_ANSWERS = frozenset({Fault.LENGTH, Fault.SCRIPT, Fault.ENGLISH, Fault.LANGUAGE})

# Faults that an engine may avoid if the text has no codes.
_OF_MARKUP = frozenset({Fault.MARKUP, Fault.BORDERS})

# A function that runs work, perhaps in another thread, and returns a future.
Submit = Callable[[Callable[[], Any]], Future[Any]]


@dataclass(frozen=True, slots=True)
class Translations:
    """`texts` maps segments to translations. `learned` maps segment hashes to new translations.

    `refused` maps each segment that stays untranslated to the fault in its last translation.
    """

    texts: Mapping[str, str]
    learned: Mapping[str, str]
    refused: Mapping[str, str]
    corrected: frozenset[str]
    faults: Counter[str]  # of all translations, including those of repeated requests


def segment_hash(segment: str) -> str:
    """Return a segment's key in the translation memory. It is stable across releases and ignores spacing."""
    return hashlib.blake2b(normalise_spaces(segment).strip().encode(), digest_size=16).hexdigest()


def do_now(work: Callable[[], Any]) -> Future[Any]:
    """Run work in the current thread."""
    future: Future[Any] = Future()
    try:
        future.set_result(work())
    except EngineError as error:
        future.set_exception(error)
    return future


def translate_segments(  # noqa: PLR0913, PLR0917 - as an engine is asked, and what else is known
    segments: Iterable[str],
    engine: Engine,
    source: str,
    target: str,
    known: Mapping[str, str],
    find_fault: FindFault | None = None,
    submit: Submit = do_now,
    corrections: Mapping[str, str] = MappingProxyType({}),
) -> Translations:
    """Translate segments with `corrections` and `known`, and those that are in neither with the engine.

    `corrections` and `known` map segment hashes to translations. A correction with the right inline codes is
    accepted unchanged. A translation in `known` is checked like a translation by the engine.

    `submit` runs each request. If a translation has broken codes, the texts between the codes are translated
    separately. If `find_fault` finds a fault, the segment is requested once more. The article's short
    segments are requested once more, too, if their translations together are in the wrong language. If
    the second translation has a markup fault, the texts between its codes are translated separately.
    Segments without an acceptable translation stay in the source language. Raises the engine's errors. The
    error's `learned` contains the translations from the requests that succeeded.
    """
    asking = _Asking(engine, source, target, find_fault, submit)
    texts: dict[str, str] = {}
    corrected: set[str] = set()
    for segment in dict.fromkeys(segments):
        hash_ = segment_hash(segment)
        correction = accepted(segment, corrections.get(hash_))
        remembered = correction or asking.take(segment, known.get(hash_))
        if correction is not None:
            corrected.add(segment)
        if remembered is not None:
            texts[segment] = remembered
    judged = {segment: text for segment, text in texts.items() if segment not in corrected}
    for segment in asking.find_short_in_another_language(judged):
        del texts[segment]
    unknown = [segment for segment in dict.fromkeys(segments) if segment not in texts]
    learned = asking.translate(unknown)
    by_hash = {segment_hash(segment): text for segment, text in learned.items()}
    if asking.error:
        asking.error.learned = by_hash
        raise asking.error
    refused = {each: asking.last_faults[each] for each in unknown if each not in learned}
    return Translations(texts | learned, by_hash, refused, frozenset(corrected), asking.faults)


class _Asking:
    """Sends requests to an engine, and counts the faults in its translations.

    Translations are checked in the calling thread, while the engine works on the next request.
    """

    def __init__(
        self, engine: Engine, source: str, target: str, find_fault: FindFault | None, submit: Submit
    ) -> None:
        self.faults: Counter[str] = Counter()
        self.last_faults: dict[str, str] = defaultdict(lambda: Fault.EMPTY)  # keyed by segment
        self.error: EngineError | None = None  # the first error
        self._engine = engine
        self._source = source
        self._target = target
        self._find_fault = find_fault
        self._submit = submit
        self._requests: list[Future[dict[str, str]]] = []
        self._has_failed = Event()

    def translate(self, segments: Sequence[str]) -> dict[str, str]:
        """Return the acceptable translations. After an error, no further request starts."""
        try:
            return self._translate(segments)
        finally:
            wait(self._requests)

    def _translate(self, segments: Sequence[str]) -> dict[str, str]:
        learned: dict[str, str] = {}
        doubtful: list[Future[dict[str, str]]] = []
        broken: list[_Runs] = []
        for request in [self._ask(batch) for batch in split(segments, self._engine.batch_limit)]:
            cleaned = self._cleaned(self._answers(request))
            good = self._without_faults(cleaned)
            learned |= good
            doubtful.append(self._ask([each for each, text in cleaned.items() if text and each not in good]))
            broken.append(self._ask_for_runs([each for each, text in cleaned.items() if text is None]))
        wrong = self.find_short_in_another_language(learned)
        doubtful += [self._ask(batch) for batch in split(sorted(wrong), self._engine.batch_limit)]
        again: dict[str, str] = {}
        for request in doubtful:
            answers = self._answers(request)
            taken = self._take_all(answers)
            faults = {each: self.last_faults[each] for each in answers if each not in taken}
            broken.append(self._ask_for_runs([each for each, fault in faults.items() if fault in _OF_MARKUP]))
            again |= taken
        for runs in broken:
            again |= self._put_together(runs)
        still_wrong = self.find_short_in_another_language(again)
        return _without(wrong, learned) | _without(still_wrong, again)

    def find_short_in_another_language(self, answers: Mapping[str, str]) -> frozenset[str]:
        """Count and return the segments whose short translations together are in the wrong language."""
        if self._find_fault is None:
            return frozenset()
        wrong = find_short_in_another_language(answers, self._target)
        self._note(dict.fromkeys(wrong, Fault.LANGUAGE))
        return wrong

    def take(self, segment: str, answer: object) -> str | None:
        """Return a cleaned translation, or None if it is missing or not acceptable."""
        return None if answer is None else self._take_all({segment: answer}).get(segment)

    def _take_all(self, answers: Mapping[str, object]) -> dict[str, str]:
        return self._without_faults(self._cleaned(answers))

    def _cleaned(self, answers: Mapping[str, object]) -> dict[str, str | None]:
        cleaned = {
            segment: accepted(segment, mended(segment, answer, self._target))
            for segment, answer in answers.items()
        }
        unclean = [segment for segment, text in cleaned.items() if text is None]
        self._note({each: Fault.MARKUP if has_words(str(answers[each])) else Fault.EMPTY for each in unclean})
        return cleaned

    def _without_faults(self, cleaned: Mapping[str, str | None]) -> dict[str, str]:
        """Return the translations that have no faults, and count the faults of the other translations."""
        texts = {segment: text for segment, text in cleaned.items() if text is not None}
        if self._find_fault is None:
            return texts
        found = {segment: self._find_fault(segment, text, self._target) for segment, text in texts.items()}
        if sum(fault in _OF_WHOLE_ANSWERS for fault in found.values()) * 3 > len(found):
            whole = self._find_fault(" ".join(texts), " ".join(texts.values()), self._target)
            if whole in _OF_WHOLE_ANSWERS:
                found = {segment: fault or whole for segment, fault in found.items()}
        self._note({segment: fault for segment, fault in found.items() if fault})
        return {segment: text for segment, text in texts.items() if not found[segment]}

    def _note(self, found: Mapping[str, str]) -> None:
        self.faults.update(found.values())
        self.last_faults |= found

    def _ask_for_runs(self, segments: Sequence[str]) -> "_Runs":
        """Request the translation of each text between inline codes separately."""
        pieces = {segment: _pieces(segment) for segment in segments if CODE.search(segment)}
        runs = [run.strip() for parts in pieces.values() for run in parts if has_words(run)]
        return _Runs(pieces, self._ask(list(dict.fromkeys(runs))))

    def _put_together(self, runs: "_Runs") -> dict[str, str]:
        """Rebuild segments from the translations of their parts. A segment with a failed part is omitted."""
        taken = self._take_all(self._answers(runs.request))
        rebuilt = {}
        for segment, parts in runs.pieces.items():
            failed = [part.strip() for part in parts if has_words(part) and part.strip() not in taken]
            if failed:
                self.last_faults[segment] = self.last_faults[failed[0]]
                continue
            rebuilt[segment] = "".join(
                part.replace(part.strip(), taken[part.strip()]) if has_words(part) else part for part in parts
            )
        return self._take_all(rebuilt)

    def _ask(self, segments: Sequence[str]) -> Future[dict[str, str]]:
        """Submit a request for segments. Without segments, no request is sent, and the result is empty."""
        ask = self._submit if segments else do_now
        self._requests.append(ask(partial(self._ask_now, segments)))
        return self._requests[-1]

    def _ask_now(self, segments: Sequence[str]) -> dict[str, str]:
        if not segments or self._has_failed.is_set():
            return {}
        try:
            return self._ask_engine(segments)
        except BaseException:
            self._has_failed.set()
            raise

    def _ask_engine(self, segments: Sequence[str]) -> dict[str, str]:
        answers = self._engine.translate(segments, self._source, self._target)
        if len(answers) != len(segments):
            told = f"{self._engine.name} returned {len(answers)} texts for {len(segments)} segments"
            raise TransientEngineError(told)
        return dict(zip(segments, answers, strict=True))

    def _answers(self, request: Future[dict[str, str]]) -> dict[str, str]:
        """Wait for the translations of a request.

        If the request fails, record the error and return no translations.
        """
        try:
            return request.result()
        except CancelledError:
            self.error = self.error or TransientEngineError(STOPPED)
        except EngineError as error:
            self.error = self.error or error
        return {}


@dataclass(frozen=True, slots=True)
class _Runs:
    """Segments split at inline codes, and the request for the pieces with words."""

    pieces: Mapping[str, Sequence[str]]
    request: Future[dict[str, str]]


def _without(wrong: frozenset[str], texts: Mapping[str, str]) -> dict[str, str]:
    return {segment: text for segment, text in texts.items() if segment not in wrong}


def _pieces(segment: str) -> list[str]:
    return re.split(f"({CODE.pattern})", segment)
