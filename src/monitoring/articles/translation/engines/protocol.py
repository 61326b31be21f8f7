"""The translation engine interface."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

# The timeout for the request in `check` that lists the engine's languages. It is short, because the check
# delays the start of the process.
CHECK_TIMEOUT_SECONDS = 5.0


# The error message for a request that was never sent.
STOPPED = "The worker stopped before the engine was asked"


class EngineError(Exception):
    """The engine failed. `learned` maps segment hashes to the translations received before the failure."""

    learned: Mapping[str, str] = MappingProxyType({})


class TransientEngineError(EngineError):
    """The engine failed, but a retry may succeed. The message is meant for operators.

    `retry_after_seconds` is the delay that the engine requested, or None.
    """

    def __init__(self, reason: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_seconds = retry_after_seconds


class PermanentEngineError(EngineError):
    """The engine failed, and retries would fail, too. The message is meant for operators."""


@dataclass(frozen=True, slots=True)
class BatchLimit:
    """The limits of one request. The size of a text is the size of its JSON encoding."""

    max_texts: int
    max_bytes: int


class Engine(Protocol):
    """Translates segments. Safe to use from several threads at once."""

    @property
    def name(self) -> str:
        """The engine's name in translation memory keys. It changes whenever the translations would change."""

    @property
    def is_demonstration(self) -> bool:
        """Whether the engine's translations only demonstrate the service, and are not meant for readers."""

    @property
    def batch_limit(self) -> BatchLimit:
        """The limits of one request. Segments beyond these limits are sent in later requests."""

    def check(self, locales: Sequence[str]) -> list[str]:
        """Return the problems that prevent the engine from translating into these locales, as messages."""

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
        """Translate segments, and return the translations in order. Blocks the thread.

        Segments are XML text with the inline codes `<g1>..</g1>` and `<x2/>`, which the translations should
        contain, too. An empty string means that there is no translation. Raises TransientEngineError or
        PermanentEngineError.
        """

    def close(self) -> None:
        """Release all resources. A closed engine is not used again."""
