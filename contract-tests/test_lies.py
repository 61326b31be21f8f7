"""Tests the list of lies: each lie can still be planted, and README.md lists the test that detects it."""

from __future__ import annotations

import pytest

from lies import LIES, write_table
from planting import ROOT, Lie
from promises import DOCUMENT

README = ROOT / "contract-tests" / "README.md"


@pytest.mark.parametrize("lie", LIES, ids=[lie.claim for lie in LIES])
def test_a_lie_can_be_planted(lie: Lie) -> None:
    document = before = DOCUMENT.root
    for change in lie.changes:
        document = change.of(document)
    assert (document != before) == bool(lie.changes)
    for seam in lie.seams:
        holder, name = seam.find()
        truth = getattr(holder, name)
        assert seam.lying(truth) is not truth
    assert lie.changes or lie.seams


@pytest.mark.parametrize("lie", LIES, ids=[lie.claim for lie in LIES])
def test_what_catches_a_lie_is_there(lie: Lie) -> None:
    path, *names = lie.caught_by.partition("[")[0].split("::")
    source = (ROOT / path).read_text()
    assert all(f"{'class' if name[0].isupper() else 'def'} {name}" in source for name in names)


def test_no_lie_is_told_twice() -> None:
    assert len({lie.claim for lie in LIES}) == len(LIES)
    told = [lie.parts for lie in LIES]
    assert all(told.count(parts) == 1 for parts in told)


def test_the_readme_has_the_table_of_all_lies() -> None:
    assert write_table() in README.read_text(), "PYTHONPATH=tests python contract-tests/lies.py writes it"
