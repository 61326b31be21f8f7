"""Whether a long run did what was due, and whether its figures stay as they are. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_GROWTH = 0.10
LEAST_OF_DUE_CHECKS = 0.5

# Small figures move by more than a tenth without growing: (part of the name, by how much).
PLAY = (("memory in MiB", 8.0), ("open files", 10.0), ("connections", 5.0), ("bytes a row", 20.0))


@dataclass(frozen=True)
class Growth:
    """What became of one figure: its median early, right after the run settled, and late."""

    name: str
    early: float
    late: float

    @property
    def is_too_much(self) -> bool:
        """Whether the figure grew by more than a tenth and by more than it moves anyway."""
        play = next(most for part, most in PLAY if part in self.name)
        return self.late > self.early * (1 + MOST_GROWTH) and self.late > self.early + play

    def __str__(self) -> str:
        """Write a line for the figure."""
        return f"{self.early:10.1f} {self.late:10.1f}  {self.name}{'  GREW' if self.is_too_much else ''}"


def find_growth(samples: Sequence[tuple[float, dict[str, float]]], settling_seconds: float) -> list[Growth]:
    """Compare the first quarter after the run has settled with the last one.

    Figures that are missing in either are left out. Raises ValueError if the run was too short to compare.
    """
    settled = [figures for second, figures in samples if second >= settling_seconds]
    quarter = len(settled) // 4
    if not quarter:
        raise ValueError(f"nothing was measured after the first {settling_seconds:.0f} s")
    early, late = settled[:quarter], settled[-quarter:]
    names = sorted(set.intersection(*(set(figures) for figures in (*early, *late))))
    return [
        Growth(name, *(median(figures[name] for figures in part) for part in (early, late))) for name in names
    ]


def judge_checks(stored_a_second: float, due_a_second: float) -> Iterator[str]:
    """Yield a sentence if so few checks were stored that the other figures are not those of the load."""
    if stored_a_second < due_a_second * LEAST_OF_DUE_CHECKS:
        yield f"{stored_a_second:.1f} checks a second were stored, and {due_a_second:.1f} were due"
