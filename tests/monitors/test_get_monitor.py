from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from monitors.conversations import MONITORS, create, is_problem, path_of, read

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from monitoring.contract.catalogue import Catalogue


class TestGetMonitor:
    def test_shows_it_as_it_was_created(self, alice: Player) -> None:
        monitor = create(alice, name="Storefront", tags=["shop"])
        assert read(alice, monitor) == monitor

    def test_gives_the_entity_tag_that_creating_gave(self, alice: Player) -> None:
        created = alice.post(MONITORS, json={"url": "https://shop.example.com"})
        assert alice.get(created.headers["Location"]).headers["ETag"] == created.headers["ETag"]

    def test_takes_an_id_in_capitals(self, alice: Player) -> None:
        monitor = create(alice)
        assert alice.get(f"{MONITORS}/{monitor['id'].upper()}").json() == monitor

    def test_is_for_bob_too(self, alice: Player, bob: Player) -> None:
        monitor = create(alice)
        assert read(bob, monitor) == monitor

    def test_is_not_for_strangers(self, alice: Player, mallory: httpx.Client, catalogue: Catalogue) -> None:
        assert is_problem(mallory.get(path_of(create(alice))), catalogue, "authorization_missing")

    def test_of_nobody_and_of_another_team_are_the_same_404(
        self, alice: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        nobodys, alices = charlie.get(f"{MONITORS}/{uuid4()}"), charlie.get(path_of(create(alice)))
        assert is_problem(nobodys, catalogue, "monitor_not_found")
        assert is_problem(alices, catalogue, "monitor_not_found")
        assert nobodys.headers.keys() == alices.headers.keys()

    @pytest.mark.parametrize("monitor_id", ["1", "null", "019a9c3e5b7a7c1e9d423f8b6a1e2c70", "%7B%7D"])
    def test_of_an_id_that_is_none_is_the_same_404(
        self, alice: Player, catalogue: Catalogue, monitor_id: str
    ) -> None:
        assert is_problem(alice.get(f"{MONITORS}/{monitor_id}"), catalogue, "monitor_not_found")
