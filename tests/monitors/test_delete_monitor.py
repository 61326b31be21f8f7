from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from monitors.conversations import MONITORS, create, is_problem, list_ids, path_of, read

if TYPE_CHECKING:
    from cast import Player
    from monitoring.contract.catalogue import Catalogue


class TestDeleteMonitor:
    def test_answers_without_a_body_and_leaves_nothing(self, alice: Player, catalogue: Catalogue) -> None:
        monitor, other = create(alice), create(alice)
        answer = alice.delete(path_of(monitor))
        assert (answer.status_code, answer.content) == (204, b"")
        assert is_problem(alice.get(path_of(monitor)), catalogue, "monitor_not_found")
        assert list_ids(alice) == [other["id"]]

    def test_twice_is_a_404(self, alice: Player, catalogue: Catalogue) -> None:
        monitor = create(alice)
        alice.delete(path_of(monitor))
        assert is_problem(alice.delete(path_of(monitor)), catalogue, "monitor_not_found")

    def test_obeys_if_match(self, alice: Player, catalogue: Catalogue) -> None:
        monitor = create(alice)
        answer = alice.delete(path_of(monitor), headers={"If-Match": '"2"'})
        assert is_problem(answer, catalogue, "monitor_changed")
        assert read(alice, monitor) == monitor
        assert alice.delete(path_of(monitor), headers={"If-Match": '"1"'}).status_code == 204

    def test_is_not_for_keys_that_may_only_read(
        self, alice: Player, bob: Player, catalogue: Catalogue
    ) -> None:
        assert is_problem(
            bob.delete(path_of(create(alice))), catalogue, "insufficient_permissions", scope="monitors:write"
        )

    def test_of_nobodys_and_of_another_teams_monitor_are_the_same_404(
        self, alice: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        monitor = create(alice)
        for path in (path_of(monitor), f"{MONITORS}/{uuid4()}"):
            assert is_problem(charlie.delete(path), catalogue, "monitor_not_found")
        assert read(alice, monitor) == monitor
