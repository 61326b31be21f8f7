"""The cast and the backends of tests/, and one seed for a run's fuzzing, which is printed at the end."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from seen import record_every_service

pytest_plugins = ["conftest"]  # tests/conftest.py

# Their tests take minutes each, and those of a full key take the longest.
LONG = ("test_fuzzing.py", "test_fuzzing_in_trouble.py", "test_stranger.py")
LONGEST = "[full key]"


def pytest_configure(config: pytest.Config) -> None:
    """Choose a new seed unless FUZZING_SEED gives one. The workers of pytest-xdist inherit it."""
    os.environ.setdefault("FUZZING_SEED", str(secrets.randbelow(2**32)))
    if folder := os.environ.get("CONTRACT_REPORTS"):
        record_every_service(Path(folder) / "seen", config.getoption("--backends"))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each worker its part of the long tests first, so that all are busy until the end.

    `--dist=worksteal` hands out the items in one slice a worker, and the slices may differ by one.
    """
    workers = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    long = sorted((item for item in items if item.path.name in LONG), key=_takes_less)
    short = [item for item in items if item.path.name not in LONG]
    unassigned = len(items)
    items.clear()
    for number in range(workers):
        part = long[number::workers]
        size = (unassigned - len(items)) // (workers - number)
        rest = max(size - len(part), 0)
        items += part + short[:rest]
        del short[:rest]


def _takes_less(item: pytest.Item) -> bool:
    return LONGEST not in item.name


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how to repeat the run."""
    terminalreporter.write_line(f"Repeat this fuzzing with FUZZING_SEED={os.environ['FUZZING_SEED']}")
