"""Everybody can use every page: axe finds no fault, none is too wide for a phone, and all are tidy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.barriers import EXAMINER, find_barriers
from browser.places import PLACES
from browser.possessions import find_address, list_addresses, list_pages

if TYPE_CHECKING:
    from browser.acme.team import Acme
    from browser.chromium import Arrive

pytestmark = pytest.mark.embedded("pages are the same on every backend")

# Addresses that always redirect, and forms whose answer always does.
LEADING_ELSEWHERE = {"/settings", "/monitors/selected"}
ANSWERED_ELSEWHERE = {
    "/settings/notifications/{channel_id}/deliveries/{delivery_id}/send-again",
    "/settings/account/sessions/{session_id}/end",
    "/acknowledge",
    "/confirm-email",
    "/incidents/{incident_id}/acknowledge",
    "/incidents/{incident_id}/tell",
    "/monitors/{monitor_id}/renew-ping-url",
    "/articles/{article_id}/delete",
    "/articles/{article_id}/publish",
    "/articles/{article_id}/retranslate",
    "/articles/{article_id}/retry",
    "/articles/{article_id}/unpublish",
    "/monitors/deletions/{deletion_id}/undo",
    "/monitors/selected/delete",
    "/monitors/{monitor_id}/check",
    "/monitors/{monitor_id}/keep",
    "/monitors/{monitor_id}/mute",
    "/monitors/{monitor_id}/unmute",
    "/monitors/{monitor_id}/delete",
    "/monitors/{monitor_id}/pause",
    "/monitors/{monitor_id}/resume",
    "/monitors/{monitor_id}/test-notifications",
    "/settings/account/sign-out-everywhere",
    "/settings/maintenance/{window_id}/delete",
    "/settings/maintenance/{window_id}/end",
    "/settings/members/invitations/{invitation_id}/withdraw",
    "/settings/notifications/{channel_id}/ask",
    "/settings/notifications/{channel_id}/delete",
    "/settings/notifications/{channel_id}/test",
    "/sign-out",
}


@pytest.mark.night("test_hostile_texts.py looks for barriers on each page too")
@pytest.mark.parametrize("name", PLACES)
def test_everybody_can_use_the_page(name: str, acme: Acme, come_back: Arrive) -> None:
    place = PLACES[name]
    visitor = come_back(place.find_visitor(acme), script=EXAMINER)
    place.visit(visitor, acme)
    assert find_barriers(visitor.page) == []


def test_every_address_of_the_app_is_among_the_places(acme: Acme) -> None:
    seen = {find_address("GET", place.path.format(acme=acme)) for place in PLACES.values() if not place.sent}
    assert seen - {None} == set(list_pages()) - LEADING_ELSEWHERE


def test_every_form_that_is_answered_with_a_page_is_among_the_places(acme: Acme) -> None:
    seen = {find_address("POST", place.path.format(acme=acme)) for place in PLACES.values() if place.sent}
    assert seen == set(list_addresses("POST")) - ANSWERED_ELSEWHERE
