"""Translates real documents with engines that change every word, and counts what stays intact.

Exits with 1 if an engine that changes nothing changes a byte, or if a document that is not listed in
`exceptions.txt` loses its structure. `make corpus` runs this.
"""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from corpus.rendered import Rendered, first_difference, github_anchors, render
from corpus.texts import Text, read_texts
from monitoring.articles.translation.documents import read_document
from monitoring.articles.translation.engines.protocol import BatchLimit
from monitoring.articles.translation.inline_codes import CODE
from monitoring.articles.translation.markdown_anchors import numbered_slugs
from monitoring.articles.translation.translated_segments import translate_segments

EXCEPTIONS = Path(__file__).parent / "exceptions.txt"
_WORD = re.compile(r"&#?\w+;|[^\W\d_]+")


class Engine:
    """A translation engine that returns a function's result for each segment."""

    is_demonstration = True
    batch_limit = BatchLimit(max_texts=10_000, max_bytes=10_000_000)

    def __init__(self, name: str, answer: Callable[[str], str]) -> None:
        self.name = name
        self._answer = answer

    def check(self, locales: Sequence[str]) -> list[str]:  # noqa: ARG002
        return []

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:  # noqa: ARG002
        return [self._answer(segment) for segment in segments]

    def close(self) -> None:
        pass


def _changed_words(segment: str, change: Callable[[str], str]) -> str:
    parts = re.split(f"({CODE.pattern})", segment)
    return "".join(
        part
        if CODE.fullmatch(part)
        else _WORD.sub(lambda word: word[0] if "&" in word[0] else change(word[0]), part)
        for part in parts
    )


def _like_german(segment: str) -> str:
    return _changed_words(segment, lambda word: word[::-1] + "ß")


def _like_chinese(segment: str) -> str:
    words = _changed_words(segment, lambda word: "".join(chr(0x4E00 + ord(char) % 0x5000) for char in word))
    return words.replace(" ", "").replace(".", "。").replace(",", "、")


ENGINES = (Engine("words reversed", _like_german), Engine("no blanks", _like_chinese))


def translate(text: Text, engine: Engine) -> str:
    """Translate a text as the service does."""
    document = read_document(text.source, text.text_format)
    return document.translated(translate_segments(document.segments(), engine, "en", "de", {}).texts).text


def read_exceptions() -> set[str]:
    """Return the names of the documents that are known not to be intact."""
    return {line.partition("#")[0].strip() for line in EXCEPTIONS.read_text().splitlines()}


def print_fault(name: str, fault: str, listed: set[str]) -> bool:
    """Print what a document lost, and return whether `exceptions.txt` lists the document."""
    is_listed = name in listed
    print(f"{'listed' if is_listed else 'NEW'}: {name}: {fault}")
    return is_listed


def main() -> int:
    """Check every text, and print the counts. Return the exit status."""
    texts = list(read_texts())
    listed = read_exceptions()
    changed = [text.name for text in texts if translate(text, Engine("identity", str)) != text.source]
    before = [render(text.source, text.text_format) for text in texts]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        counts[text.group]["documents"] += 1
        counts[text.group]["identical"] += text.name not in changed
    faults: dict[str, str] = {}
    for engine in ENGINES:
        results = [translate(text, engine) for text in texts]
        after = [render(result, text.text_format) for result, text in zip(results, texts, strict=True)]
        lost = _lost_links(before, after, counts["links"])
        for text, result, old, new, lost_link in zip(texts, results, before, after, lost, strict=True):
            fault = first_difference(old, new) or lost_link
            counts[text.group][f"intact with {engine.name}"] += fault is None
            counts[text.group][f"left in English with {engine.name}"] += result == text.source and bool(
                segments(text)
            )
            if fault:
                faults.setdefault(text.name, f"{engine.name}: {fault}")
    _print(counts, changed, faults, listed)
    return bool(changed or faults.keys() - listed)


def segments(text: Text) -> list[str]:
    """Return the segments of a text that an engine would translate."""
    return read_document(text.source, text.text_format).segments()


def _lost_links(before: list[Rendered], after: list[Rendered], counts: Counter[str]) -> list[str | None]:
    """Return for each document a link within it that no longer leads to the same heading, or None."""
    old_anchors = github_anchors([page.headings for page in before])
    new_anchors = github_anchors([page.headings for page in after])
    lost: list[str | None] = []
    for old, new, had, has in zip(before, after, old_anchors, new_anchors, strict=True):
        counts["anchors"] += len(had)
        counts["anchors as GitHub's"] += sum(map(str.__eq__, had, numbered_slugs(old.headings)))
        fault = None
        for link, moved in zip(old.in_page_links, new.in_page_links, strict=False):
            if link in had and link not in old.ids:
                leads = moved in has and has.index(moved) == had.index(link)
                counts["links to headings"] += 1
                counts["that still lead there"] += leads
                fault = fault or (None if leads else f"#{link} -> #{moved}")
        lost.append(fault)
    return lost


def _print(
    counts: dict[str, Counter[str]], changed: list[str], faults: dict[str, str], listed: set[str]
) -> None:
    for group, counted in counts.items():
        print(f"{group}: " + ", ".join(f"{count:,} {what}" for what, count in counted.items()))
    for name in changed:
        print(f"CHANGED by an engine that changes nothing: {name}")
    for name, fault in faults.items():
        print_fault(name, fault, listed)


if __name__ == "__main__":
    sys.exit(main())
