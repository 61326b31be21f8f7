"""Has segments translated by an engine, whose answers are never trusted."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass
from functools import partial
from threading import Event
from types import MappingProxyType
from typing import Any

from monitoring.articles.translation.codes import CODE, accepted, has_words, normalise_spaces
from monitoring.articles.translation.engines.batches import split
from monitoring.articles.translation.engines.protocol import (
    STOPPED,
    Engine,
    EngineError,
    TransientEngineError,
)
from monitoring.articles.translation.judgement import Fault

# Says of a segment, its translation and a locale what is wrong, if anything.
FindFault = Callable[[str, str, str], str | None]

# What an engine does to all texts of a request. Short ones do not show it alone.
_OF_WHOLE_ANSWERS = frozenset({Fault.LENGTH, Fault.SCRIPT, Fault.ENGLISH, Fault.LANGUAGE})

# Has work done, perhaps in another thread.
Submit = Callable[[Callable[[], Any]], Future[Any]]


@dataclass(frozen=True, slots=True)
class Translations:
    """Texts by segment. `learned` has the new ones by hash. `refused` segments stay untranslated."""

    texts: Mapping[str, str]
    learned: Mapping[str, str]
    refused: frozenset[str]
    corrected: frozenset[str]
    faults: Counter[str]  # what was wrong with answers, those to second questions included


def segment_hash(segment: str) -> str:
    """Return a segment's key in a translation memory: stable across releases, however spaces are laid out."""
    return hashlib.blake2b(normalise_spaces(segment).strip().encode(), digest_size=16).hexdigest()


def do_now(work: Callable[[], Any]) -> Future[Any]:
    """Do work in this thread."""
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
    """Look each segment up in `corrections` and `known` (by hash), and ask the engine once for each other.

    A correction with the right codes is taken as it is; what is known is judged like an answer.

    `submit` gets each request to be done. An answer with broken codes is replaced by translations of the runs
    of words between the codes. If `find_fault` finds something in an answer, the segment is asked for once
    more. What is not acceptable then stays in the source language. Raises the engine's errors, whose
    `learned` has the answers to all other requests.
    """
    asking = _Asking(engine, source, target, find_fault)
    texts: dict[str, str] = {}
    unknown: list[str] = []
    corrected: set[str] = set()
    for segment in dict.fromkeys(segments):
        hash_ = segment_hash(segment)
        correction = accepted(segment, corrections.get(hash_))
        remembered = correction or asking.take(segment, known.get(hash_))
        if correction is not None:
            corrected.add(segment)
        if remembered is None:
            unknown.append(segment)
        else:
            texts[segment] = remembered
    failed = Event()
    answers = [
        submit(partial(_Asking(engine, source, target, find_fault).translate_unless, failed, batch))
        for batch in split(unknown, engine.batch_limit)
    ]
    wait(answers)
    learned, faults, error = _gather(answers)
    if error:
        error.learned = _by_hash(learned)
        raise error
    refused = frozenset(unknown) - learned.keys()
    return Translations(
        texts | learned, _by_hash(learned), refused, frozenset(corrected), asking.faults + faults
    )


def _gather(
    answers: Iterable[Future[tuple[dict[str, str], Counter[str]]]],
) -> tuple[dict[str, str], Counter[str], EngineError | None]:
    """Return what was learned, what was wrong, and the first error."""
    learned: dict[str, str] = {}
    faults: Counter[str] = Counter()
    first_error: EngineError | None = None
    for answer in answers:
        try:
            translated, found = answer.result()
        except CancelledError:
            first_error = first_error or TransientEngineError(STOPPED)
        except EngineError as error:
            first_error = first_error or error
        else:
            learned |= translated
            faults += found
    return learned, faults, first_error


def _by_hash(learned: Mapping[str, str]) -> dict[str, str]:
    return {segment_hash(segment): text for segment, text in learned.items()}


class _Asking:
    """Asks an engine, and counts what was wrong with its answers."""

    def __init__(self, engine: Engine, source: str, target: str, find_fault: FindFault | None) -> None:
        self.faults: Counter[str] = Counter()
        self._engine = engine
        self._source = source
        self._target = target
        self._find_fault = find_fault

    def translate_unless(self, failed: Event, segments: list[str]) -> tuple[dict[str, str], Counter[str]]:
        """Return the acceptable translations and what was wrong; nothing if another request has failed."""
        if failed.is_set():
            return {}, self.faults
        try:
            return self.translate(segments), self.faults
        except EngineError:
            failed.set()
            raise

    def translate(self, segments: list[str]) -> dict[str, str]:
        """Return the acceptable translations."""
        answers = self._ask(segments)
        cleaned = self._cleaned(answers)
        learned = self._without_faults(cleaned)
        doubtful = [
            segment for segment, text in cleaned.items() if text is not None and segment not in learned
        ]
        broken = [segment for segment, text in cleaned.items() if text is None]
        return learned | self._take_all(self._ask(doubtful)) | self._translate_by_runs(broken)

    def take(self, segment: str, answer: object) -> str | None:
        """Clean an answer, or return None if there is none or it must not be used."""
        return None if answer is None else self._take_all({segment: answer}).get(segment)

    def _take_all(self, answers: Mapping[str, object]) -> dict[str, str]:
        return self._without_faults(self._cleaned(answers))

    def _cleaned(self, answers: Mapping[str, object]) -> dict[str, str | None]:
        cleaned = {segment: accepted(segment, answer) for segment, answer in answers.items()}
        for segment, text in cleaned.items():
            if text is None:
                self.faults[Fault.MARKUP if has_words(str(answers[segment])) else Fault.EMPTY] += 1
        return cleaned

    def _without_faults(self, cleaned: Mapping[str, str | None]) -> dict[str, str]:
        """Leave out cleaned answers that are none, and those with a fault, which are counted."""
        texts = {segment: text for segment, text in cleaned.items() if text is not None}
        if self._find_fault is None:
            return texts
        found = {segment: self._find_fault(segment, text, self._target) for segment, text in texts.items()}
        if sum(fault in _OF_WHOLE_ANSWERS for fault in found.values()) * 3 > len(found):
            whole = self._find_fault(" ".join(texts), " ".join(texts.values()), self._target)
            if whole in _OF_WHOLE_ANSWERS:
                found = {segment: fault or whole for segment, fault in found.items()}
        self.faults.update(filter(None, found.values()))
        return {segment: text for segment, text in texts.items() if not found[segment]}

    def _translate_by_runs(self, segments: Sequence[str]) -> dict[str, str]:
        """Translate each run of words between codes by itself. Leave out segments with a run that fails."""
        pieces = {segment: _pieces(segment) for segment in segments if CODE.search(segment)}
        runs = [run.strip() for parts in pieces.values() for run in parts if has_words(run)]
        taken = self._take_all(self._ask(list(dict.fromkeys(runs))))
        rebuilt = {
            segment: "".join(
                part.replace(part.strip(), taken[part.strip()]) if has_words(part) else part for part in parts
            )
            for segment, parts in pieces.items()
            if all(part.strip() in taken for part in parts if has_words(part))
        }
        return self._take_all(rebuilt)

    def _ask(self, segments: list[str]) -> dict[str, str]:
        answers = self._engine.translate(segments, self._source, self._target) if segments else []
        if len(answers) != len(segments):
            told = f"{self._engine.name} answered {len(answers)} texts to {len(segments)} segments"
            raise TransientEngineError(told)
        return dict(zip(segments, answers, strict=True))


def _pieces(segment: str) -> list[str]:
    return re.split(f"({CODE.pattern})", segment)
