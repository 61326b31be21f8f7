"""The monitors that a form about some of them offers to tick."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from app.visitor import Visitor, read_text
from monitoring.app.monitors import choices as offered_monitors
from monitors.conversations import create

if TYPE_CHECKING:
    from cast import Player

FORMS = {
    "/settings/maintenance/new": "monitor_ids",
    "/settings/notifications/new?type=slack": "routing_monitor_ids",
}
TOO_MANY = "There are too many to list: these are the newest. Choose others by a tag."


def list_offered(page: str, field: str) -> list[str]:
    """List the names beside the boxes of a field."""
    return re.findall(rf'<label><input name="{field}"[^>]*> ([^<]*)</label>', page)


@pytest.fixture
def names(alice: Player) -> list[str]:
    """Make a few monitors, and return their names in the order in which they were made."""
    names = ["shop", "Blog", "api", "Zoo"]
    for name in names:
        create(alice, name=name)
    return names


class TestAForm:
    @pytest.mark.parametrize("path", FORMS)
    def test_offers_every_monitor_by_name(
        self, member: Visitor, names: list[str], monkeypatch: pytest.MonkeyPatch, path: str
    ) -> None:
        monkeypatch.setattr(offered_monitors, "MAX_OFFERED", len(names))
        monkeypatch.setattr(offered_monitors, "NEWEST_OFFERED", 1)
        page = member.open(path).text
        assert list_offered(page, FORMS[path]) == ["api", "Blog", "shop", "Zoo"]
        assert TOO_MANY not in read_text(page)

    def test_offers_the_newest_of_too_many_and_says_so(
        self, member: Visitor, names: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(offered_monitors, "MAX_OFFERED", len(names) - 1)
        monkeypatch.setattr(offered_monitors, "NEWEST_OFFERED", 2)
        page = member.open("/settings/maintenance/new").text
        assert list_offered(page, "monitor_ids") == ["api", "Zoo"]
        assert TOO_MANY in read_text(page)

    def test_begins_with_what_is_ticked(self, member: Visitor, alice: Player, names: list[str]) -> None:
        wanted = create(alice, name="Wanted")
        page = member.open(f"/settings/maintenance/new?monitor={wanted['id']}").text
        assert list_offered(page, "monitor_ids") == ["Wanted", "api", "Blog", "shop", "Zoo"]
        assert names
