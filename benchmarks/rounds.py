"""Runs rounds.

Each round runs every candidate once, in rotating order, so that noise affects all of them alike.

A candidate's cost is the median of its rounds. Two candidates are compared by the median of their ratios in
each round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median, quantiles
from typing import Any


@dataclass(frozen=True)
class Sample:
    """The result of one candidate in one round: CPU microseconds per operation, speed, and memory at rest."""

    application_us: float
    postgres_us: float = 0.0
    redis_us: float = 0.0
    per_second: float = 0.0
    median_ms: float = 0.0
    p99_ms: float = 0.0
    memory_mib: float = 0.0

    @property
    def total_us(self) -> float:
        """The total cost of an operation.

        It is a sum, because a program could shift work from one server to another.
        """
        return self.application_us + self.postgres_us + self.redis_us


@dataclass(frozen=True)
class Spread:
    """A median and the quartiles around it."""

    median: float
    low: float
    high: float


Samples = dict[str, list[Sample]]


@dataclass(frozen=True)
class Scenario:
    """An operation, and the samples of every candidate."""

    key: str
    title: str
    samples: Samples

    def to_json(self) -> dict[str, Any]:
        """Return the scenario for results.json, including the medians that readers look for."""
        return {
            "title": self.title,
            "candidates": {
                name: {
                    "median": {
                        field: round(cost(samples, field).median, 3)
                        for field in ("total_us", *asdict(samples[0]))
                    },
                    "rounds": [asdict(sample) for sample in samples],
                }
                for name, samples in self.samples.items()
            },
        }

    @staticmethod
    def from_json(key: str, written: Mapping[str, Any]) -> Scenario:
        """Return a scenario that was read from results.json."""
        candidates = written["candidates"].items()
        rounds = {name: [Sample(**sample) for sample in told["rounds"]] for name, told in candidates}
        return Scenario(key, written["title"], rounds)


def take_turns(names: Sequence[str], rounds: int, run: Callable[[str], Sample]) -> Samples:
    """Run every candidate once to warm up, then once per round.

    Each round begins with a different candidate.
    """
    samples: Samples = {name: [] for name in names}
    for name in names:
        run(name)
    for number in range(rounds):
        start = number % len(names)
        for name in [*names[start:], *names[:start]]:
            samples[name].append(run(name))
    return samples


def cost(samples: Sequence[Sample], field: str = "total_us") -> Spread:
    """Return the cost of one operation, or another field of the samples."""
    return _spread([getattr(sample, field) for sample in samples])


def ratio(over: Sequence[Sample], under: Sequence[Sample], field: str = "total_us") -> Spread:
    """Return the ratio of two candidates' costs, from their ratios in each round."""
    pairs = zip(over, under, strict=True)
    return _spread([getattr(one, field) / getattr(other, field) for one, other in pairs])


def _spread(figures: list[float]) -> Spread:
    if len(figures) == 1:
        return Spread(figures[0], figures[0], figures[0])
    low, _, high = quantiles(figures, n=4, method="inclusive")
    return Spread(median(figures), low, high)
