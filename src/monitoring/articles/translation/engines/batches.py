"""Groups segments into requests that an engine accepts: not too many at once, and not too long."""

import json
import re
from collections.abc import Callable, Iterator, Sequence

from monitoring.articles.translation.engines.protocol import BatchLimit, TransientEngineError

Ask = Callable[[Sequence[str]], Sequence[str]]

# XML or UTF-8 cannot express these.
UNSENDABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


# How many times the texts of an answer that was cut off are asked for in halves.
MAX_CUTS = 3


class BatchRefused(Exception):  # noqa: N818 - an answer rather than an error
    """The engine does not accept these texts together; it may accept fewer."""


class AnswerCutOff(BatchRefused):
    """The engine stopped in the middle of its answer; that to fewer texts may be whole."""


def ask_in_batches(segments: Sequence[str], limit: BatchLimit, ask: Ask) -> list[str]:
    """Ask for all segments, in order. One that the engine refuses even alone gets an empty answer.

    So do those whose answer is cut off even after `MAX_CUTS` halvings. Raises TransientEngineError if an
    answer has more or fewer texts than the request.
    """
    sendable = [UNSENDABLE.sub("", segment) for segment in segments]
    return [answer for batch in split(sendable, limit) for answer in _ask(batch, ask, MAX_CUTS)]


def split(segments: Sequence[str], limit: BatchLimit) -> Iterator[list[str]]:
    """Split segments into batches within the limit. A longer one is a batch of its own."""
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
        raise TransientEngineError(f"The engine answered {len(answers)} texts to {len(batch)}")
    return answers
