"""Finds tests that use no backend. They would be the same in both runs, so the production run omits them.

A test module uses the backends of a run if it imports `chosen_backends`, or another test module that does. A
test uses the backends if its module does, or the module of one of its fixtures. This is derived from the
files when tests are collected, and `Watch` verifies it during the embedded run.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import chosen_backends

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

HERE = Path(__file__).parent
ROOTS = (HERE, HERE.parent / "contract-tests")
CHOICE = HERE / "chosen_backends.py"
CONFTEST = HERE / "conftest.py"

# Fixtures of conftest.py, which imports `chosen_backends`. Every fixture in it that uses a backend is one of
# these, or requests one of them.
REACHING = {"service", "backends"}


def reaches_backends(item: pytest.Item) -> bool:
    """Return whether a test may behave differently with other backends."""
    if not isinstance(item, pytest.Function) or item.get_closest_marker("production"):
        return True
    fixtures = fixtures_of(item)
    modules = {sys.modules[fixture.func.__module__] for fixture in fixtures}
    files = {item.path, *(Path(module.__file__) for module in modules if module.__file__)} - {CONFTEST}
    names = {fixture.argname for fixture in fixtures}
    return bool(REACHING & names) or any(CHOICE in follow_imports(file) for file in files)


def fixtures_of(item: pytest.Function) -> list[pytest.FixtureDef[object]]:
    """Return the fixtures that a test requests, directly or indirectly."""
    named = item._fixtureinfo.name2fixturedefs  # noqa: SLF001 - pytest tells nobody
    return [fixture for fixtures in named.values() for fixture in fixtures]


@cache
def follow_imports(file: Path) -> frozenset[Path]:
    """Return the test modules that a file imports, directly or indirectly."""
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        new = imported_files(waiting.pop()) - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def imported_files(file: Path) -> frozenset[Path]:
    """Return the test modules that a file imports directly, anywhere in the file."""
    if not any(file.is_relative_to(root) for root in ROOTS):
        return frozenset()
    names = _imported_names(ast.parse(file.read_bytes()))
    candidates = (root / f"{name.replace('.', '/')}.py" for name in names for root in ROOTS)
    return frozenset(candidate for candidate in candidates if candidate.exists())


def _imported_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class Watch:
    """Fails a test that uses the backends although its files did not indicate this."""

    def __init__(self) -> None:
        self._reaching_fixtures: set[object] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """Remember the fixtures that use the backends, for tests that later reuse these fixtures."""
        before = chosen_backends.times_asked()
        result = yield
        if chosen_backends.times_asked() != before:
            self._reaching_fixtures.add(fixturedef.func)  # several fixtures may have the same name
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Run the test, and check whether it used the backends."""
        before = chosen_backends.times_asked()
        result = yield
        if isinstance(item, pytest.Function) and not reaches_backends(item):
            reached = self._reaching_fixtures & {fixture.func for fixture in fixtures_of(item)}
            assert not reached, f"reaches the backends by {reached}, unseen by tests/backend_free.py"
            assert chosen_backends.times_asked() == before, "unseen by tests/backend_free.py"
        return result
