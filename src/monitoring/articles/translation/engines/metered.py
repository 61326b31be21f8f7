"""Counts an engine's requests and their characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from monitoring.articles.translation.engines.protocol import Engine


@dataclass(frozen=True, slots=True)
class Cost:
    """The number of engine requests, and of segment characters sent in them."""

    characters: int = 0
    requests: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.characters + other.characters, self.requests + other.requests)

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.characters - other.characters, self.requests - other.requests)


class MeteredEngine:
    """An engine that adds up the cost of its requests. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self.cost = Cost()
        self.name = engine.name
        self.is_demonstration = engine.is_demonstration
        self.batch_limit = engine.batch_limit
        self.check, self.close = engine.check, engine.close
        self._engine = engine
        self._counting = Lock()

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
        """Translate segments, and add their cost to `cost`."""
        with self._counting:
            self.cost += Cost(sum(map(len, segments)), 1)
        return self._engine.translate(segments, source, target)
