"""Tests which tests the production run omits, and which it must not omit."""

from __future__ import annotations

from pathlib import Path

import pytest

import chosen_backends
from backend_free import CHOICE, follow_imports, reaches_backends

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["outbound/test_client.py", "articles/translation/test_markdown_source.py"])
def test_what_imports_no_backends_is_free_of_them(name: str) -> None:
    assert CHOICE not in follow_imports(HERE / name)


@pytest.mark.parametrize(
    "name", ["backends/test_queue.py", "checks/test_claims.py", "test_processes.py", "test_backend_free.py"]
)
def test_what_imports_them_by_way_of_others_is_not(name: str) -> None:
    assert CHOICE in follow_imports(HERE / name)


@pytest.mark.usefixtures("catalogue")
def test_who_asks_for_the_service_is_not(request: pytest.FixtureRequest) -> None:
    assert reaches_backends(request.node)


def test_who_asks_for_the_choice_is_counted() -> None:
    before = chosen_backends.times_asked()
    assert chosen_backends.kind() in chosen_backends.KINDS
    assert chosen_backends.times_asked() > before
