"""What the ways out of forms are called: deletions are refrained from, and everything else is cancelled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from browser.places import PLACES

if TYPE_CHECKING:
    from browser.acme.people import Member
    from browser.acme.team import Acme
    from browser.chromium import Arrive, Person

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

WAY_OUT = re.compile(r'</button>\s*(?:</form>\s*)?<a class="button" [^>]*>(Cancel|Keep|Leave)\b')
DELETES = re.compile(r'<button class="button danger">(?:Delete|Remove|Withdraw) ')


def test_keep_is_said_of_deletions_and_cancel_of_all_else(acme: Acme, arrive: Arrive) -> None:
    people: dict[Member | None, Person] = {}
    seen = set()
    for name, place in PLACES.items():
        who = place.find_visitor(acme)
        person = people.setdefault(who, people.get(who) or arrive(who))
        page = person.ask(place.path.format(acme=acme)).text()
        for word in WAY_OUT.findall(page):
            assert (name, word) == (name, "Keep" if DELETES.search(page) else "Cancel")
            seen.add(word)
    assert seen == {"Keep", "Cancel"}
