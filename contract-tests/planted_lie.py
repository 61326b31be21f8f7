"""A pytest plugin that plants the lie PLANTED_LIE names, in the process that runs the test."""

from __future__ import annotations

import os


def pytest_sessionstart() -> None:
    """Plant it once pytest knows where tests import from, and before it collects them."""
    from lies import LIES  # noqa: PLC0415

    for lie in LIES:
        if lie.claim == os.environ["PLANTED_LIE"]:
            for seam in lie.seams:
                seam.plant()
