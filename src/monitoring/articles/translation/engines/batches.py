"""Groups segments into requests that an engine accepts: not too many at once, and not too long."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from monitoring.articles.translation.engines.protocol import TransientEngineError

Ask = Callable[[Sequence[str]], Sequence[str]]

# XML or UTF-8 cannot express these.
_UNSENDABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class BatchRefused(Exception):  # noqa: N818 - an answer rather than an error
    """The engine does not accept these texts together; it may accept fewer."""


@dataclass(frozen=True, slots=True)
class BatchLimit:
    """What fits in one request; a text's size is that of its JSON."""

    max_texts: int
    max_bytes: int


def ask_in_batches(segments: Sequence[str], limit: BatchLimit, ask: Ask) -> list[str]:
    """Ask for all segments, in order. One that the engine refuses even alone gets an empty answer.

    Raises TransientEngineError if an answer has more or fewer texts than the request.
    """
    sendable = [_UNSENDABLE.sub("", segment) for segment in segments]
    return [answer for batch in _batches(sendable, limit) for answer in _ask(batch, ask)]


def _batches(segments: Sequence[str], limit: BatchLimit) -> Iterator[list[str]]:
    batch: list[str] = []
    batch_bytes = 0
    for segment in segments:
        segment_bytes = len(json.dumps(segment)) + 2  # and the separator before the next
        if batch and (len(batch) == limit.max_texts or batch_bytes + segment_bytes > limit.max_bytes):
            yield batch
            batch, batch_bytes = [], 0
        batch.append(segment)
        batch_bytes += segment_bytes
    if batch:
        yield batch


def _ask(batch: list[str], ask: Ask) -> list[str]:
    try:
        answers = list(ask(batch))
    except BatchRefused:
        if len(batch) == 1:
            return [""]
        middle = len(batch) // 2
        return _ask(batch[:middle], ask) + _ask(batch[middle:], ask)
    if len(answers) != len(batch):
        raise TransientEngineError(f"The engine answered {len(answers)} texts to {len(batch)}")
    return answers
