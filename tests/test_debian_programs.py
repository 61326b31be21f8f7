"""Tests that a test whose program is missing is skipped and counted, or fails if programs are demanded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from debian_programs import find_program

pytestmark = pytest.mark.night("it is about the tests themselves")

TESTS = """
import pytest
from debian_programs import find_program

@pytest.fixture(scope="module")
def server():
    return find_program("no-such-server")

def test_one_thing(server):
    pass

def test_another_thing(server):
    pass

@pytest.mark.programs("sh", "no-such-browser")
def test_a_page():
    pass

@pytest.mark.programs("sh")
def test_what_needs_nothing_more():
    assert find_program("sh").endswith("/sh")

@pytest.mark.skip("the moon is full")
def test_what_is_skipped_for_another_reason():
    pass
"""


def run_tests(folder: Path, *options: str) -> tuple[int, list[str]]:
    """Run the tests in TESTS, and return the exit status and the output lines."""
    (folder / "test_things.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "debian_programs", *options],
        cwd=folder,
        env={"PYTHONPATH": str(Path(__file__).parent), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.night("one process says it too"))])
def test_the_last_line_counts_the_tests_that_were_skipped_for_missing_programs(
    workers: int, tmp_path: Path
) -> None:
    status, printed = run_tests(tmp_path, "-n", str(workers))
    assert status == 0
    assert "1 passed, 4 skipped" in printed[-2]
    assert printed[-1] == (
        "3 skipped without no-such-browser, no-such-server: `make servers` installs what is missing"
    )


def test_the_gate_fails_where_a_program_is_missing(tmp_path: Path) -> None:
    status, printed = run_tests(tmp_path, "--demand-programs")
    assert status == 1
    assert "1 passed, 1 skipped, 3 errors" in printed[-1]
    assert "no-such-server is missing: `make servers` installs it" in "\n".join(printed)


def test_nothing_is_said_where_all_programs_are_there(tmp_path: Path) -> None:
    status, printed = run_tests(tmp_path, "-k", "nothing_more")
    assert status == 0
    assert "1 passed" in printed[-1]


def test_postgresql_is_found_where_debian_keeps_it() -> None:
    assert Path(find_program("initdb")).name == "initdb"
