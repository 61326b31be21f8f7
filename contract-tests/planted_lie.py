"""A pytest plugin that plants the lie named by PLANTED_LIE in the process that runs the test."""

from __future__ import annotations

import os


def pytest_sessionstart() -> None:
    """Plant the lie after pytest has set up the import path, and before it collects the tests."""
    from lies import LIES  # noqa: PLC0415

    for lie in LIES:
        if lie.claim == os.environ["PLANTED_LIE"]:
            for seam in lie.seams:
                seam.plant()
