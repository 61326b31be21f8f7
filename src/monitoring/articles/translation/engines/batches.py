"""Groups segments into requests within an engine's limits on count and size."""

import json
import re
from collections.abc import Callable, Iterator, Sequence

from monitoring.articles.translation.engines.protocol import BatchLimit, TransientEngineError

Ask = Callable[[Sequence[str]], Sequence[str]]

# Characters that XML or UTF-8 cannot encode.
UNSENDABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


# The maximum number of times that a batch is halved because its response was cut off.
MAX_CUTS = 3


class BatchRefused(Exception):  # noqa: N818 - an answer rather than an error
    """The engine rejects these texts as one batch. It may accept fewer texts."""


class AnswerCutOff(BatchRefused):
    """The engine's response was cut off. A response to fewer texts may be complete."""


def ask_in_batches(segments: Sequence[str], limit: BatchLimit, ask: Ask) -> list[str]:
    """Translate all segments in batches, and return the translations in order.

    A batch that the engine rejects is halved. The translation is empty for a segment that the engine rejects
    even alone, and for segments whose response is still cut off after `MAX_CUTS` halvings. Raises
    TransientEngineError if a response has more or fewer texts than the request.
    """
    sendable = [UNSENDABLE.sub("", segment) for segment in segments]
    return [answer for batch in split(sendable, limit) for answer in _ask(batch, ask, MAX_CUTS)]


def split(segments: Sequence[str], limit: BatchLimit) -> Iterator[list[str]]:
    """Split segments into batches within the limit. An oversized segment is a batch of its own."""
    batch: list[str] = []
    batch_bytes = 0
    for segment in segments:
        segment_bytes = len(json.dumps(segment)) + 2  # with the separator
        if batch and (len(batch) == limit.max_texts or batch_bytes + segment_bytes > limit.max_bytes):
            yield batch
            batch, batch_bytes = [], 0
        batch.append(segment)
        batch_bytes += segment_bytes
    if batch:
        yield batch


def _ask(batch: list[str], ask: Ask, cuts_left: int) -> list[str]:
    try:
        answers = list(ask(batch))
    except BatchRefused as refusal:
        if isinstance(refusal, AnswerCutOff):
            cuts_left -= 1
        if len(batch) == 1 or cuts_left < 0:
            return [""] * len(batch)
        middle = len(batch) // 2
        return _ask(batch[:middle], ask, cuts_left) + _ask(batch[middle:], ask, cuts_left)
    if len(answers) != len(batch):
        raise TransientEngineError(f"The engine returned {len(answers)} texts for {len(batch)}")
    return answers
