"""The fixtures of tests/, and a fuzzing seed for each test run, which is printed at the end."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from catchers import CATCHER
from seen import record_every_service

if TYPE_CHECKING:
    import pytest

pytest_plugins = ["conftest"]  # tests/conftest.py


def pytest_configure(config: pytest.Config) -> None:
    """Choose a new seed unless FUZZING_SEED is set. The workers of pytest-xdist inherit the seed."""
    os.environ.setdefault("FUZZING_SEED", str(secrets.randbelow(2**32)))
    if folder := os.environ.get("CONTRACT_REPORTS"):
        record_every_service(Path(folder) / "seen", config.getoption("--backends"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how to repeat the run, and which test detected which planted fault."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name == CATCHER:
                terminalreporter.write_line(value)
    terminalreporter.write_line(f"Repeat this fuzzing with FUZZING_SEED={os.environ['FUZZING_SEED']}")
