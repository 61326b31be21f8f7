"""Tests which checks `make quick` runs for a change."""

from __future__ import annotations

import pytest

from quick import find_tests, list_rooms


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("src/monitoring/checks/claims.py", ["tests/checks"]),
        ("src/monitoring/logs.py", ["tests/test_logs.py"]),
        ("tests/checks/test_claims.py", ["tests/checks/test_claims.py"]),
        ("tests/articles/desk.py", ["tests/articles"]),
        ("contract-tests/test_document.py", ["contract-tests/test_document.py"]),
        ("docs/architecture.md", ["tests/test_docs.py"]),
        ("Makefile", []),
    ],
)
def test_a_change_calls_for_the_tests_about_it(path: str, tests: list[str]) -> None:
    assert find_tests(path) == tests


def test_rooms_are_the_folders_with_tests() -> None:
    assert {"app", "checks", "notifications"} <= set(list_rooms())
    assert "bakery" not in list_rooms()
