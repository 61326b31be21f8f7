"""Matches clients' regular expressions with RE2, in linear and bounded time. Has no side effects."""

from __future__ import annotations

from functools import lru_cache

import re2

# A step is one instruction of the compiled pattern for one byte of text, and takes about 25 ns. The limit
# applies to the largest possible number of steps, which RE2 seldom needs.
MAX_STEPS = 50_000_000
MAX_PROGRAM_SIZE = 5_000
MAX_BYTES = 1_048_576  # the most memory that a program and its cached states may use


class UnreadablePatternError(Exception):
    """A pattern that RE2 rejects; `reason` is RE2's message, without any part of the pattern."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TooMuchWorkError(Exception):
    """A text is too long to be searched with a pattern or a JSON path."""


class Pattern:
    """A compiled pattern. Searching releases the GIL, so it may run in a thread."""

    def __init__(self, written: str) -> None:
        options = re2.Options()
        options.max_mem = MAX_BYTES
        options.log_errors = False
        try:
            self._compiled = re2.compile(written, options)
        except re2.error as error:
            raise UnreadablePatternError(_reason_of(error)) from None
        if self._compiled.programsize > MAX_PROGRAM_SIZE:
            raise UnreadablePatternError(_TOO_LARGE)

    def is_in(self, text: str, max_steps: int = MAX_STEPS) -> bool:
        """Return whether the pattern matches anywhere in a text. Raises TooMuchWorkError."""
        self._limit(text, max_steps)
        return self._compiled.search(text) is not None

    def is_all_of(self, text: str, max_steps: int = MAX_STEPS) -> bool:
        """Return whether the pattern matches an entire text. Raises TooMuchWorkError."""
        self._limit(text, max_steps)
        return self._compiled.fullmatch(text) is not None

    def _limit(self, text: str, max_steps: int) -> None:
        if len(text) * self._compiled.programsize > max_steps:
            raise TooMuchWorkError


@lru_cache(256)
def read_pattern(written: str) -> Pattern:
    """Compile a pattern. Raises UnreadablePatternError."""
    return Pattern(written)


_TOO_LARGE = "pattern too large"


def _reason_of(error: Exception) -> str:
    """Return RE2's message up to the part that quotes the pattern."""
    [said] = error.args
    reason, _, _ = (said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)).partition(": ")
    return _TOO_LARGE if "too large" in reason else reason
