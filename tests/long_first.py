"""Has every worker begin with tests that take long, so that none is busy alone at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def put_long_first(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort the tests that say `long`, the longest first, into the workers' parts.

    `--dist=worksteal` hands out the items in one slice a worker, and the slices may differ by one.
    """
    workers = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    long = sorted((item for item in items if _seconds(item)), key=_seconds, reverse=True)
    short = [item for item in items if not _seconds(item)]
    unassigned = len(items)
    items.clear()
    for number in range(workers):
        part = long[number::workers]
        size = (unassigned - len(items)) // (workers - number)
        rest = max(size - len(part), 0)
        items += part + short[:rest]
        del short[:rest]


def _seconds(item: pytest.Item) -> int:
    marker = item.get_closest_marker("long")
    return marker.kwargs["seconds"] if marker else 0
