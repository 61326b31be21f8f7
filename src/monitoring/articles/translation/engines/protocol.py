"""What a translation engine must be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

# How long a check may ask a server for its languages: no process should start much later for it.
CHECK_TIMEOUT_SECONDS = 5.0


# The reason of a request that was never sent.
STOPPED = "The worker stopped before the engine was asked"


class EngineError(Exception):
    """The engine has no answer. `learned` has its earlier answers: texts by segment hash."""

    learned: Mapping[str, str] = MappingProxyType({})


class TransientEngineError(EngineError):
    """The engine cannot answer now but may later. The message is a reason that an operator understands.

    `retry_after_seconds` is the wait that the engine itself asked for, if it did.
    """

    def __init__(self, reason: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_seconds = retry_after_seconds


class PermanentEngineError(EngineError):
    """The engine will never answer this. The message is a reason that an operator understands."""


@dataclass(frozen=True, slots=True)
class BatchLimit:
    """What fits in one request; a text's size is that of its JSON."""

    max_texts: int
    max_bytes: int


class Engine(Protocol):
    """Translates segments. Safe to use from several threads at once."""

    @property
    def name(self) -> str:
        """The engine's part of a translation memory's key. It changes when the engine's translations do."""

    @property
    def is_demonstration(self) -> bool:
        """Whether readers should not see its translations."""

    @property
    def batch_limit(self) -> BatchLimit:
        """How much to ask at once. More is translated too, in several requests one after the other."""

    def check(self, locales: Sequence[str]) -> list[str]:
        """Return a sentence for each reason why the engine cannot serve these locales."""

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
        """Answer each segment, in order. Blocks.

        Segments are XML text with `<g1>..</g1>` and `<x2/>` codes, which the answers should contain too. An
        empty answer counts as none. Raises TransientEngineError or PermanentEngineError.
        """

    def close(self) -> None:
        """Release everything. A closed engine is not used again."""
