"""Tests that what the gate leaves to the nightly run exists there, and that nothing else is omitted."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

from gate import PASS_THROUGH, ROOT, STAY, WALKS, is_left_to_the_night


def test_every_file_it_names_is_there() -> None:
    files = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("*tests/**/test_*.py")]
    named = [*PASS_THROUGH, *STAY, *WALKS]
    assert [name for name in named if not any(fnmatch(file, name) for file in files)] == []


@pytest.mark.night("it says so")
def test_what_says_so_is_left(request: pytest.FixtureRequest) -> None:
    assert is_left_to_the_night(request.node)


def test_all_else_stays(request: pytest.FixtureRequest) -> None:
    assert not is_left_to_the_night(request.node)
