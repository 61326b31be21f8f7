"""PostgreSQL compares, sorts and locks in its own way; and Tortoise's models speak one dialect a process."""

import os
import subprocess
import sys
from pathlib import Path

ASKED_FOR = "TEST_MONITORS_ON_POSTGRESQL"

HERE = Path(__file__)


def test_everything_about_monitors_holds_on_postgresql_too() -> None:
    # Without what pytest-xdist and the outer call have left for their own.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", HERE.parent, f"--ignore={HERE}"],
        cwd=HERE.parents[2],
        env={**environment, ASKED_FOR: "yes"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-8000:]
