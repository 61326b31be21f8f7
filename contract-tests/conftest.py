"""One seed for all of a run's fuzzing, whatever process it happens in, and told at its end."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_configure() -> None:
    """Choose a new seed unless FUZZING_SEED names one; pytest-xdist's workers inherit it."""
    os.environ.setdefault("FUZZING_SEED", str(secrets.randbelow(2**32)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how to repeat the run."""
    terminalreporter.write_line(f"Repeat this fuzzing with FUZZING_SEED={os.environ['FUZZING_SEED']}")
