"""Finds programs that tests need besides Python, mostly servers and browsers from Debian packages.

A test is skipped if its program is missing. The last line of the run shows how many tests were skipped, for
which programs, and how to install them. With --demand-programs, as in the gate, such a test fails.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

INSTALL = "make servers"
POSTGRESQL = Path("/usr/lib/postgresql")  # programs by version, which Debian keeps off the path

_MISSING = re.compile(r"Skipped: (\S+) is missing")
_are_demanded = False


def find_program(name: str) -> str:
    """Return the path of a program. If the program is missing, skip the test or fail it."""
    path = f"{os.environ['PATH']}:/usr/sbin"  # not on the path of Debian users
    if found := shutil.which(name, path=path) or max(
        map(str, POSTGRESQL.glob(f"*/bin/{name}")), default=None
    ):
        return found
    if _are_demanded:
        pytest.fail(f"{name} is missing: `{INSTALL}` installs it", pytrace=False)
    pytest.skip(f"{name} is missing", allow_module_level=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--demand-programs", action="store_true", help="fail what needs a missing program")


def pytest_configure(config: pytest.Config) -> None:
    global _are_demanded  # noqa: PLW0603 - as process-wide as the option
    _are_demanded = config.getoption("--demand-programs")
    config.addinivalue_line("markers", "programs(*names): needs these, as `find_program` does")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("programs"):
        for name in marker.args:
            find_program(name)


@pytest.hookimpl(trylast=True)  # after the line that counts the tests
def pytest_unconfigure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    missing = [found[1] for report in skipped if (found := _MISSING.search(str(report.longrepr)))]
    if reporter and missing:
        programs = ", ".join(sorted(set(missing)))
        reporter.write_line(
            f"{len(missing)} skipped without {programs}: `{INSTALL}` installs what is missing"
        )
