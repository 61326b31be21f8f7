"""Summarizes response times in a few numbers. Summaries can be merged. Percentiles are at most 2 % off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import ceil, log

# The ratio between a bucket's bounds. A bucket's middle is within 1 % of both bounds. Above 50 ms, rounding
# the middle to whole milliseconds adds an error of less than 1 %. Below 50 ms, rounding adds no error,
# because no bucket contains two whole milliseconds.
GROWTH = 1.02

_LOG_GROWTH = log(GROWTH)


class Latencies:
    """A DDSketch of whole milliseconds (Masson, Rim, Lee: DDSketch, PVLDB 12(12), 2019).

    Buckets for longer times are wider. 0 ms is in bucket 0, and a day is in bucket 924. Because there are so
    few buckets, none has to be dropped. Merging two sketches therefore gives exactly the same result as
    adding all response times to one sketch.
    """

    def __init__(self, response_times_ms: Iterable[int] = ()) -> None:
        self._counts: Counter[int] = Counter()
        for response_time_ms in response_times_ms:
            self.add(response_time_ms)

    @classmethod
    def from_json(cls, counts: Mapping[str, int]) -> Latencies:
        """Return the sketch with the counts that `to_json` returned."""
        latencies = cls()
        latencies._counts.update({int(bucket): count for bucket, count in counts.items()})
        return latencies

    def to_json(self) -> dict[str, int]:
        """Return the count of each non-empty bucket, lowest first."""
        return {str(bucket): self._counts[bucket] for bucket in sorted(self._counts)}

    @property
    def count(self) -> int:
        """How many response times there are."""
        return self._counts.total()

    def add(self, response_time_ms: int) -> None:
        """Add a response time."""
        self._counts[_bucket_of(response_time_ms)] += 1

    def merge(self, other: Latencies) -> None:
        """Add all the response times from another sketch."""
        self._counts.update(other._counts)

    def percentile(self, percent: float) -> int | None:
        """Return a percentile of the response times in ms (nearest rank), or None if there are none."""
        rank = ceil(percent * self.count / 100)
        for bucket in sorted(self._counts):
            rank -= self._counts[bucket]
            if rank <= 0:
                return _middle_of(bucket)
        return None


def _bucket_of(response_time_ms: int) -> int:
    return 1 + ceil(log(response_time_ms) / _LOG_GROWTH) if response_time_ms else 0


def _middle_of(bucket: int) -> int:
    """Return the value in ms that differs from both bounds of a bucket by the same percentage."""
    return round(2 * GROWTH ** (bucket - 1) / (GROWTH + 1)) if bucket else 0
