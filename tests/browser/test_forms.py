"""Forms tell everything that is wrong at once, and lead to the first of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.app.monitor_words import LABELS

if TYPE_CHECKING:
    from browser.acme.team import Acme
    from browser.chromium import Arrive, Person

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

WRONG = {"url": "nowhere", "interval_seconds": "soon", "tags": "Größe", "timeout_seconds": "0"}
OTHER = {"interval_choice": ""}  # than the intervals of the list


def describe(person: Person, field: str) -> tuple[str | None, str]:
    """Return a field's `aria-invalid`, and the texts that `aria-describedby` names."""
    found = person.page.locator(f"#{field}")
    ids = (found.get_attribute("aria-describedby") or "").split()
    return found.get_attribute("aria-invalid"), " ".join(
        person.page.locator(f"[id='{each}']").inner_text() for each in ids
    )


class TestSeveralWrongFields:
    def test_are_all_told_above_the_form_and_each_at_its_field(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open("/monitors/new")
        assert owner.fill_in(WRONG | OTHER).status == 400
        told = owner.page.get_by_role("alert").get_by_role("listitem").all_inner_texts()
        assert [line.partition(":")[0] for line in told] == [LABELS[name] for name in WRONG]
        for name, line in zip(WRONG, told, strict=True):
            is_invalid, description = describe(owner, name)
            assert is_invalid == "true"
            assert line.partition(": ")[2] in description

    def test_lead_to_the_first_one(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open("/monitors/new")
        owner.fill_in(WRONG | OTHER | {"url": "https://shop.acme.example/"})
        assert owner.page.evaluate("document.activeElement.id") == "interval_seconds"
        owner.page.get_by_role("alert").get_by_role("link", name=LABELS["timeout_seconds"]).click()
        assert owner.page.evaluate("document.activeElement.id") == "timeout_seconds"

    @pytest.mark.parametrize(
        ("path", "wrong"),
        [
            ("/settings/account/password", {"current_password": "a guess", "new_password": "short"}),
            ("/settings/api-keys/new", {"name": "", "scopes": ""}),
        ],
    )
    def test_are_all_told_on_every_page(
        self, path: str, wrong: dict[str, str], acme: Acme, arrive: Arrive
    ) -> None:
        owner = arrive(acme.owner)
        owner.open(path)
        owner.fill_in(wrong)
        assert owner.page.locator("[id^=error-]").count() == len(wrong)
        assert owner.page.evaluate("document.activeElement.name") == next(iter(wrong))

    def test_of_a_filter_are_all_told(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        assert owner.open("/monitors?tag=No+tag&status=sleeping").status == 400
        assert owner.page.locator("[id^=error-]").count() == 2
        assert owner.page.evaluate("document.activeElement.id") == "tag"


def test_a_stranger_who_joins_is_told_about_name_and_password(acme: Acme, arrive: Arrive) -> None:
    stranger = arrive()
    stranger.open("/join")
    stranger.fill_in({"code": acme.invited.code})
    stranger.fill_in({"name": " ", "password": "short"})
    assert stranger.page.locator("[id^=error-]").count() == 2
    assert stranger.page.evaluate("document.activeElement.id") == "name"


def test_a_conflict_is_an_alert_and_has_the_focus(acme: Acme, arrive: Arrive) -> None:
    owner = arrive(acme.owner)
    owner.open(f"/monitors/{acme.monitors['degraded']}/edit")
    assert owner.fill_in({"version": "0", "name": "Checkout"}).status == 412
    alert = owner.page.get_by_role("alert")
    assert "changed" in alert.inner_text()
    assert owner.page.evaluate("document.activeElement.getAttribute('role')") == "alert"
