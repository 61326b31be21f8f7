"""Plants every fault ("lie") of lies.py, and reports which test detects it. `make lies` runs this."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catchers import CATCHER, FUZZING
from lies import LIES
from planting import Lie, copy_tree, find_catcher, plant, run_tests

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("lie", LIES, ids=[lie.claim for lie in LIES])
def test_it_is_caught(lie: Lie, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    tree = copy_tree(tmp_path)
    if lie.changes:
        plant(lie.changes, tree, only_published=lie.only_published)
    record_property(CATCHER, f"{lie.claim}: {find_catcher(tree, lie)}")


@pytest.mark.parametrize("folder", ["contract-tests/", "tests/"])
def test_without_a_lie_nothing_is_caught(folder: str, tmp_path: Path) -> None:
    """Run all tests that detect lies on a copy without a lie, except the long fuzzing of `make contract`."""
    catchers = [
        lie.caught_by for lie in LIES if lie.caught_by.startswith(folder) and lie.caught_by != FUZZING
    ]
    tree = copy_tree(tmp_path)
    plant([], tree)
    run = run_tests(tree, *dict.fromkeys(catchers))
    assert run.returncode == 0, run.stdout + run.stderr
