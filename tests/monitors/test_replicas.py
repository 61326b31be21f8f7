"""Several processes on one database: together they keep what each of them promises."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import cycle, islice
from typing import TYPE_CHECKING

import httpx

from cast import Player, form_team
from monitors.conversations import MONITORS, URL, list_ids
from running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REQUESTS = 40


@contextmanager
def playing_at_two_services(folder: Path, max_monitors: int) -> Iterator[list[httpx.Client]]:
    """Let Alice call two services on one database with the same token."""
    with ExitStack() as stack:
        one, other = (stack.enter_context(running_service(folder)) for _ in range(2))
        alice = stack.enter_context(Player(one, form_team(one, max_monitors)))
        headers = {"Authorization": alice.headers["Authorization"]}
        there = stack.enter_context(httpx.Client(base_url=other.base_url, headers=headers, timeout=30))
        yield [alice, there]


def create_at_once(players: list[httpx.Client], **headers: str) -> list[httpx.Response]:
    """Send the same request to both services again and again, all at the same time."""
    with ThreadPoolExecutor(REQUESTS) as pool:
        return list(
            pool.map(
                lambda player: player.post(MONITORS, json={"url": URL}, headers=headers),
                islice(cycle(players), REQUESTS),
            )
        )


def test_the_last_places_of_a_plan_are_given_away_once_by_two_services_at_once(tmp_path: Path) -> None:
    with playing_at_two_services(tmp_path, max_monitors=3) as players:
        answers = create_at_once(players)
        assert sorted(answer.status_code for answer in answers) == [201] * 3 + [403] * (REQUESTS - 3)
        assert len(list_ids(players[1])) == 3


def test_a_write_repeated_at_two_services_at_once_acts_once(tmp_path: Path) -> None:
    with playing_at_two_services(tmp_path, max_monitors=10) as players:
        answers = create_at_once(players, **{"Idempotency-Key": "one-and-the-same"})
        assert {answer.json()["id"] for answer in answers} == set(list_ids(players[1]))
        assert len(list_ids(players[1])) == 1
