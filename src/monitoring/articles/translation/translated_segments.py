"""Has segments translated by an engine, whose answers are never trusted."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from monitoring.articles.translation.codes import CODE, accepted, has_words, normalise_spaces
from monitoring.articles.translation.engines.protocol import Engine, EngineError, TransientEngineError

# Answers received before an engine fails are kept: the fewer segments at a time, the less is lost.
SEGMENTS_AT_A_TIME = 100


@dataclass(frozen=True, slots=True)
class Translations:
    """Texts by segment. `learned` has the new ones by hash; `refused` segments stay untranslated."""

    texts: Mapping[str, str]
    learned: Mapping[str, str]
    refused: frozenset[str]


def segment_hash(segment: str) -> str:
    """Return a segment's key in a translation memory: stable across releases, however spaces are laid out."""
    return hashlib.blake2b(normalise_spaces(segment).strip().encode(), digest_size=16).hexdigest()


def translate_segments(
    segments: Iterable[str], engine: Engine, source: str, target: str, known: Mapping[str, str]
) -> Translations:
    """Look each segment up in `known` (by hash), and ask the engine for the others, once each.

    An answer with broken codes is replaced by translations of the runs of words between the codes. A run
    whose answer is not acceptable either stays in the source language. Raises the engine's errors, whose
    `learned` has the answers until then.
    """
    texts: dict[str, str] = {}
    unknown: list[str] = []
    for segment in dict.fromkeys(segments):
        remembered = accepted(segment, known.get(segment_hash(segment)))
        if remembered is None:
            unknown.append(segment)
        else:
            texts[segment] = remembered
    learned: dict[str, str] = {}
    try:
        for start in range(0, len(unknown), SEGMENTS_AT_A_TIME):
            learned |= _translated(unknown[start : start + SEGMENTS_AT_A_TIME], engine, source, target)
    except EngineError as error:
        error.learned = _by_hash(learned)
        raise
    return Translations(texts | learned, _by_hash(learned), frozenset(unknown) - learned.keys())


def _translated(segments: list[str], engine: Engine, source: str, target: str) -> dict[str, str]:
    """Return the acceptable translations."""
    answers = _asked(engine, segments, source, target)
    taken = {segment: accepted(segment, answer) for segment, answer in zip(segments, answers, strict=True)}
    broken = [segment for segment, text in taken.items() if text is None]
    learned = {segment: text for segment, text in taken.items() if text is not None}
    return learned | _translated_by_runs(broken, engine, source, target)


def _by_hash(learned: Mapping[str, str]) -> dict[str, str]:
    return {segment_hash(segment): text for segment, text in learned.items()}


def _translated_by_runs(segments: Sequence[str], engine: Engine, source: str, target: str) -> dict[str, str]:
    """Translate each run of words between codes by itself. Leave out segments without an acceptable run."""
    pieces = {segment: _pieces(segment) for segment in segments if CODE.search(segment)}
    runs = list(dict.fromkeys(run.strip() for parts in pieces.values() for run in parts if has_words(run)))
    answers = zip(runs, _asked(engine, runs, source, target), strict=True)
    taken = {run: text for run, answer in answers if (text := accepted(run, answer)) is not None}
    rebuilt: dict[str, str] = {}
    for segment, parts in pieces.items():
        if any(part.strip() in taken for part in parts):
            joined = "".join(
                part.replace(part.strip(), taken[part.strip()]) if part.strip() in taken else part
                for part in parts
            )
            text = accepted(segment, joined)
            if text is not None:
                rebuilt[segment] = text
    return rebuilt


def _asked(engine: Engine, segments: list[str], source: str, target: str) -> list[str]:
    answers = engine.translate(segments, source, target) if segments else []
    if len(answers) != len(segments):
        raise TransientEngineError(f"{engine.name} answered {len(answers)} texts to {len(segments)} segments")
    return answers


def _pieces(segment: str) -> list[str]:
    return re.split(f"({CODE.pattern})", segment)
