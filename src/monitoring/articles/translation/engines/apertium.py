"""Apertium: rule-based, offline translation with the packages in `.ci/apertium-packages.txt`."""

import hashlib
import re
import shutil
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from monitoring.articles.translation.engines.apertium_pipe import MODE_COMPILER, ApertiumPipe
from monitoring.articles.translation.engines.apertium_stream import MAX_CODES, from_stream, to_stream
from monitoring.articles.translation.engines.locales import closest_code
from monitoring.articles.translation.engines.protocol import BatchLimit, PermanentEngineError
from monitoring.articles.translation.inline_codes import CODE

# Maps a lower-case BCP 47 tag to the modes that translate English into that language. If there are two modes,
# the first translates from English into Spanish, and the second from Spanish into the language.
MODES = {
    "ca": ("eng-cat",),
    "ca-valencia": ("eng-cat_valencia",),
    "eo": ("en-eo",),
    "es": ("eng-spa",),
    "fr": ("eng-spa", "es-fr"),
    "gl": ("en-gl",),
    "it": ("eng-spa", "spa-ita"),
    "pt": ("eng-spa", "es-pt"),
    "pt-br": ("eng-spa", "es-pt_BR"),
}


class Apertium:
    """Translates English with one long-running pipeline per mode."""

    is_demonstration = False
    batch_limit = BatchLimit(max_texts=100, max_bytes=64 * 1024)  # small, so that little is lost on failure

    def __init__(
        self, modes_folder: Path = Path("/usr/share/apertium/modes"), silence_timeout_seconds: float = 30
    ) -> None:
        self._pipes = {
            mode: ApertiumPipe(modes_folder / f"{mode}.mode", silence_timeout_seconds)
            for modes in MODES.values()
            for mode in modes
        }
        self._modes_folder = modes_folder
        self.name = f"apertium-{_digest(modes_folder)}"

    def check(self, locales: Sequence[str]) -> list[str]:
        """Return a message for each unsupported locale and each missing mode file."""
        if not shutil.which(MODE_COMPILER):
            return [f"Apertium is not installed: the program {MODE_COMPILER} is missing"]
        problems: list[str] = []
        for locale in locales:
            modes = modes_for(locale)
            if not modes:
                problems.append(f"Apertium cannot translate into {locale}, but into {', '.join(MODES)}")
            problems += [
                f"Apertium cannot translate into {locale}: {self._modes_folder / mode}.mode is missing"
                for mode in modes
                if not (self._modes_folder / f"{mode}.mode").exists()
            ]
        return problems

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
        """Translate English segments. The translation of a segment with too many inline codes is empty."""
        modes = modes_for(target)
        if not modes or source.lower().partition("-")[0] != "en":
            raise PermanentEngineError(f"Apertium cannot translate {source} into {target}")
        feasible = [segment for segment in segments if len(CODE.findall(segment)) <= MAX_CODES]
        streams = [to_stream(segment) for segment in feasible]
        for mode in modes:
            streams = self._pipes[mode].translate(streams)
        answers = dict(zip(feasible, map(from_stream, streams, feasible), strict=True))
        return [answers.get(segment, "") for segment in segments]

    def close(self) -> None:
        """Stop all pipelines."""
        for pipe in self._pipes.values():
            pipe.close()


def modes_for(locale: str) -> tuple[str, ...]:
    """Return the modes for a BCP 47 locale, or else for its language, or else an empty tuple."""
    code = closest_code(locale, MODES)
    return MODES[code] if code else ()


def _digest(modes_folder: Path) -> str:
    """Return a hash of the path, size and modification time of every data file.

    The contents are not hashed, because dictionaries are too large to read.
    """
    mode_files = [modes_folder / f"{mode}.mode" for mode in sorted(set(chain(*MODES.values())))]
    data_files = {
        Path(path)
        for mode in mode_files
        if mode.exists()
        for path in re.findall("'(/[^']+)'", mode.read_text())
    }
    facts = [
        f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}"
        for file in (*mode_files, *sorted(data_files))
        if file.exists()
    ]
    return hashlib.blake2b("\n".join(facts).encode(), digest_size=4).hexdigest()
