from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
import pytest

from monitoring.monitors.models import Monitor, Watch
from monitoring.monitors.queries import row_of
from monitoring.monitors.representations import represent_monitor
from monitoring.monitors.service import get_monitor
from monitors.conversations import MONITORS, create, is_problem, list_ids, path_of

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService


def _pages(player: Player, limit: int, **query: Any) -> list[list[str]]:
    """Walk a list to its end, as a client would."""
    pages = []
    cursor: dict[str, str] = {}
    while True:
        page = player.get(MONITORS, params={"limit": limit, **query, **cursor}).raise_for_status().json()
        pages.append([monitor["id"] for monitor in page["monitors"]])
        if page["next_cursor"] is None:
            return pages
        cursor = {"cursor": page["next_cursor"]}


class TestPages:
    def test_of_a_team_without_monitors_are_one_that_is_empty(self, alice: Player) -> None:
        assert alice.get(MONITORS).json() == {"monitors": [], "next_cursor": None}

    @pytest.mark.parametrize(
        ("limit", "sizes"), [(1, [1] * 6), (2, [2, 2, 2]), (4, [4, 2]), (6, [6]), (100, [6])]
    )
    def test_hold_every_monitor_once_newest_first(self, alice: Player, limit: int, sizes: list[int]) -> None:
        ids = [create(alice)["id"] for _ in range(6)]
        pages = _pages(alice, limit)
        assert [len(page) for page in pages] == sizes
        assert [monitor_id for page in pages for monitor_id in page] == ids[::-1]

    def test_are_not_shifted_by_what_is_created_or_deleted_meanwhile(self, alice: Player) -> None:
        first, second, third, fourth = (create(alice) for _ in range(4))
        page = alice.get(MONITORS, params={"limit": 2}).json()
        assert [monitor["id"] for monitor in page["monitors"]] == [fourth["id"], third["id"]]
        create(alice)
        alice.delete(path_of(third))  # the monitor that the cursor names
        assert list_ids(alice, cursor=page["next_cursor"]) == [second["id"], first["id"]]

    def test_hold_fifty_unless_asked_otherwise(self, alice: Player) -> None:
        for _ in range(51):
            create(alice)
        assert len(list_ids(alice)) == 50

    def test_show_monitors_as_they_are_shown_alone(self, alice: Player) -> None:
        monitor = create(alice, tags=["shop"], request_headers={"Accept": "text/html"})
        assert alice.get(MONITORS).json()["monitors"] == [monitor]

    @pytest.mark.parametrize("microsecond", [0, 7, 87_000, 999_999])
    def test_show_what_checks_have_moved_as_any_other_answer_does(
        self, alice: Player, service: RunningService, microsecond: int
    ) -> None:
        checked_at = datetime(2026, 11, 20, 9, 40, 0, microsecond, tzinfo=timezone(timedelta(hours=2)))
        seen: dict[str, Any] = {
            "last_response_time_ms": 0,
            "last_error": "slow",
            "last_checked_at": checked_at,
        }

        async def move(monitor_id: str) -> None:
            await Watch.filter(monitor_id=monitor_id).update(next_check_at=checked_at, **seen)
            await Monitor.filter(id=monitor_id).update(status_changed_at=checked_at, status="degraded")

        async def represent(monitor_id: UUID) -> dict[str, Any]:
            return represent_monitor(row_of(await get_monitor(alice.team_id, monitor_id), None))

        for paused in (False, True):
            service.run(move(create(alice, paused=paused)["id"]))
        page = alice.get(MONITORS)
        alone = [service.run(represent(UUID(monitor["id"]))) for monitor in page.json()["monitors"]]
        assert page.content == orjson.dumps({"monitors": alone, "next_cursor": None})
        assert [monitor["next_check_at"] is None for monitor in alone] == [True, False]
        assert alone[0]["last_checked_at"] == f"2026-11-20T07:40:00.{microsecond:06}Z"

    @pytest.mark.parametrize(
        ("field", "query"),
        [
            ("cursor", {"cursor": "x"}),
            ("cursor", {"cursor": "A" * 23}),
            ("cursor", {"cursor": "AAAAAAAAAAAAAAAAAAAAAB"}),
            ("limit", {"limit": 0}),
            ("limit", {"limit": 101}),
            ("limit", {"limit": "ten"}),
            ("cursor", {"cursor": "=="}),
            ("status", {"status": "asleep"}),
            ("tag", {"tag": "Shop"}),
            ("paused", {"paused": "yes"}),
            ("search", {"search": ""}),
            ("offset", {"offset": 10}),
        ],
    )
    def test_name_the_parameter_that_is_wrong(self, alice: Player, field: str, query: dict[str, Any]) -> None:
        answer = alice.get(MONITORS, params=query)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{field}: ")


class TestAudience:
    def test_bob_reads_what_alices_team_has(self, alice: Player, bob: Player) -> None:
        monitor = create(alice)
        assert list_ids(bob) == [monitor["id"]]

    def test_charlie_sees_nothing_of_alices(self, alice: Player, charlie: Player) -> None:
        monitor = create(alice)
        assert list_ids(charlie) == []
        assert list_ids(charlie, search="shop", paused="false", status="pending") == []
        assert list_ids(alice) == [monitor["id"]]

    def test_a_cursor_opens_no_other_teams_list(self, alice: Player, charlie: Player) -> None:
        create(alice)
        create(alice)
        cursor = alice.get(MONITORS, params={"limit": 1}).json()["next_cursor"]
        assert list_ids(charlie, cursor=cursor) == []

    def test_mallory_is_turned_away(self, mallory: httpx.Client, catalogue: Catalogue) -> None:
        assert is_problem(mallory.get(MONITORS), catalogue, "authorization_missing")


class TestFilters:
    def test_paused_divides_the_list_in_two(self, alice: Player) -> None:
        running, paused = create(alice), create(alice, paused=True)
        assert list_ids(alice, paused="true") == list_ids(alice, status="paused") == [paused["id"]]
        assert list_ids(alice, paused="false") == list_ids(alice, status="pending") == [running["id"]]
        assert list_ids(alice, status="up") == []

    def test_tag_is_matched_whole(self, alice: Player) -> None:
        shop = create(alice, tags=["eu", "shop", "a_b"])
        create(alice, tags=["shopping", "web-shop", "axb"])
        create(alice, name='"shop"')
        assert list_ids(alice, tag="shop") == [shop["id"]]
        assert list_ids(alice, tag="a_b") == [shop["id"]]
        assert list_ids(alice, tag="sho") == []

    @pytest.mark.parametrize(
        ("name", "search"),
        [
            ("Storefront", "storefront"),
            ("Storefront", "FRONT"),
            ("Ärzte Übersicht", "ärzte ÜBER"),
            ("ΑΘΗΝΑ", "αθηνα"),
            ("Straße", "STRASSE"),
            ("100% uptime", "0% u"),
            ("snake_case", "E_C"),
            ("back\\slash", "k\\s"),
            ('it\'s "quoted"', "'s \""),
            ("line\nbreak", "e\nb"),
            ("日本", "本"),
        ],
    )
    def test_search_finds_a_part_of_the_name_whatever_its_case(
        self, alice: Player, name: str, search: str
    ) -> None:
        monitor = create(alice, name=name)
        create(alice, name="unlike")
        assert list_ids(alice, search=search) == [monitor["id"]]

    def test_search_finds_a_part_of_the_url(self, alice: Player) -> None:
        monitor = create(alice, name="unlike", url="https://Shop.example.com/Kasse")
        assert list_ids(alice, search="SHOP.example") == list_ids(alice, search="kasse") == [monitor["id"]]

    @pytest.mark.parametrize("search", ["%", "_", "\\", "s%p", "sh_p", "'", "%' OR 1=1 --"])
    def test_search_knows_no_wildcards(self, alice: Player, search: str) -> None:
        create(alice)
        assert list_ids(alice, search=search) == []

    def test_search_follows_a_change(self, alice: Player) -> None:
        monitor = create(alice)
        alice.patch(path_of(monitor), json={"name": "Checkout"})
        assert list_ids(alice, search="checkout") == [monitor["id"]]

    def test_combine_with_and(self, alice: Player) -> None:
        both = create(alice, tags=["shop"], paused=True)
        create(alice, tags=["shop"])
        create(alice, paused=True)
        assert list_ids(alice, tag="shop", paused="true", search="SHOP", status="paused") == [both["id"]]

    def test_hold_on_every_page(self, alice: Player) -> None:
        ids = [create(alice, paused=number % 2 == 0)["id"] for number in range(7)]
        assert _pages(alice, 2, paused="true") == [[ids[6], ids[4]], [ids[2], ids[0]]]
