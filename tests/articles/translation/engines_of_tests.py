"""Fake engines, and a way to use an engine."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from monitoring.articles.translation.article import read_article
from monitoring.articles.translation.engines.protocol import BatchLimit
from monitoring.articles.translation.inline_codes import CODE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from monitoring.articles.translation.article import TranslatedArticle


def translate_article(
    payload: Mapping[str, Any], *, brand_names: Sequence[str] = (), **details: Any
) -> TranslatedArticle:
    return read_article(payload, brand_names).translate(**details)


class FunctionEngine:
    """Answers each segment with a function's result, and records what it was asked."""

    name = "function"
    is_demonstration = False
    batch_limit = BatchLimit(max_texts=100, max_bytes=64 * 1024)

    def __init__(self, answer: Callable[[str], str]) -> None:
        self.asked: list[str] = []
        self._answer = answer

    def check(self, locales: Sequence[str]) -> list[str]:  # noqa: ARG002
        return []

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:  # noqa: ARG002
        self.asked += segments
        return [self._answer(segment) for segment in segments]

    def close(self) -> None:
        pass


def hurtful_engine(seed: int) -> FunctionEngine:
    """Make an engine whose answers are as harmful as possible, and differ with each seed."""
    return FunctionEngine(lambda segment: _hurtful_answer(segment, Random(seed + len(segment))))  # noqa: S311


def _hurtful_answer(segment: str, chance: Random) -> str:
    codes = CODE.findall(segment)
    shuffled = chance.sample(codes, len(codes))
    return chance.choice(
        (
            "",
            "\0\x1b\ud800",
            CODE.sub("", segment),  # codes dropped
            segment + segment,  # doubled
            "".join(shuffled) + "mot",  # reordered
            CODE.sub(lambda code: f" {code.group().upper()} ", segment),
            segment.replace("<g1>", "<g1><script>alert(1)</script>"),
            segment + "&lt;script&gt;alert(1)&lt;/script&gt;",
            segment + "<img src=x onerror=alert(1)>",
            f"# {segment}\n\n* punto\n\n```\n",
            f"1. {segment} ](http://evil.example) **x** _y_ `z` | q | ~~s~~ \\",
            f"\"{segment}\" onclick='x' --> ]]> &#10;&#10; &#0; * * *",
            f"===\u2028{segment}\r\n---",
            f"> {segment}",
            f"- {segment} <http://evil.example> &copy; {{{{ x }}}}",
            "¡" + segment.upper() + "!",
        )
    )
