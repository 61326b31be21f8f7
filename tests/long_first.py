"""Makes every worker begin with long tests, so that no worker is the last to finish because of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def put_long_first(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Distribute the tests that are marked `long` to the workers' shares, longest first.

    `--dist=worksteal` gives each worker one slice of the items. The sizes of the slices may differ by one.
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
