"""The guide *Test mode* has the table of the script, row by row."""

from __future__ import annotations

import re
from pathlib import Path

from monitoring.outbound.scripted_hosts import ROLES

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "test-mode.md"


def test_the_guide_has_every_role_and_no_other() -> None:
    rows = re.findall(r"^\| `([a-z0-9.-]+\.test)` \| (.+) \|$", GUIDE.read_text(), re.MULTILINE)
    assert rows == [(role.example, role.does) for role in ROLES]


def test_every_example_plays_its_own_role_alone() -> None:
    for role in ROLES:
        assert [each.example for each in ROLES if each.name.fullmatch(role.example)] == [role.example]
