"""What a translation engine must be."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol


class EngineError(Exception):
    """The engine has no answer. `learned` is what it did answer before, texts by segment hash."""

    learned: Mapping[str, str] = MappingProxyType({})


class TransientEngineError(EngineError):
    """The engine cannot answer now and may later; the message is a reason an operator understands.

    `retry_after_seconds` is what the engine itself has asked for, if it has.
    """

    def __init__(self, reason: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_seconds = retry_after_seconds


class PermanentEngineError(EngineError):
    """The engine will never answer this; the message is a reason an operator understands."""


class Engine(Protocol):
    """Translates segments. Safe to use from several threads at once."""

    @property
    def name(self) -> str:
        """The engine's part of a translation memory's key; changes when its translations do."""

    @property
    def is_demonstration(self) -> bool:
        """Whether what it returns is no translation a reader should see."""

    def check(self, locales: Sequence[str]) -> list[str]:
        """Say in sentences what keeps the engine from serving these locales; nothing if all is well."""

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
        """Answer each segment, in order; blocks.

        Segments are XML text with `<g1>..</g1>` and `<x2/>` codes that the answer should carry too. Raises
        TransientEngineError or PermanentEngineError.
        """

    def close(self) -> None:
        """Release everything; a closed engine is not used again."""
