"""One person's pages never keep others waiting: they are counted, and take turns."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING

import pytest

from app.visitor import Visitor, read_forms, read_text
from cast import Player, form_team
from monitoring.app import session_turns
from monitoring.app.session_turns import AT_ONCE, Turns
from monitoring.app.visits import FOLLOWED_MEDIA_TYPE
from running_service import running_service
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

LIMIT = 5
FOLLOWED = {"Accept": FOLLOWED_MEDIA_TYPE}
PATHS = ("/monitors", "/settings/audit-log.csv", "/settings/plan")


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[RunningService]:
    with running_service(tmp_path, rate_limit_api=f"{LIMIT}/3600") as service:
        yield service


class TestALimit:
    @pytest.mark.parametrize("path", PATHS)
    def test_counts_pages_and_files_as_a_keys_requests_are(
        self, path: str, strict: RunningService, catalogue: Catalogue
    ) -> None:
        with Visitor(strict, form_team(strict)) as busy, Visitor(strict, busy.team) as colleague:
            answers = [busy.get(path) for _ in range(LIMIT + 1)]
            assert [answer.status_code for answer in answers] == [200] * LIMIT + [429]
            left = [answer.headers["ratelimit"].partition(";t=")[0] for answer in answers]
            assert left == [f'"api";r={count}' for count in (*reversed(range(LIMIT)), 0)]
            assert catalogue.respond("rate_limited").body["error"] in read_text(answers[-1].text)
            assert 0 < int(answers[-1].headers["retry-after"]) <= 3600
            assert colleague.get(path).status_code == 200

    def test_counts_what_scripts_follow_and_what_forms_do(self, strict: RunningService) -> None:
        with Visitor(strict, form_team(strict)) as busy:
            token = read_forms(busy.get("/settings/plan").text)["/app/sign-out"]["csrf_token"]
            for _ in range(LIMIT - 1):
                assert busy.get("/monitors", headers={**FOLLOWED, "Prefer": "return=minimal"}).is_success
            assert busy.get("/monitors", headers=FOLLOWED).status_code == 429
            assert busy.post("/settings/members/invite", data={"csrf_token": token}).status_code == 429

    def test_of_a_person_takes_nothing_from_their_keys(self, strict: RunningService) -> None:
        with Visitor(strict, form_team(strict)) as busy, Player(strict, busy.team) as key:
            assert [busy.get("/settings/plan").status_code for _ in range(LIMIT + 1)][-1] == 429
            assert key.get("/api/monitors").status_code == 200


class TestTurns:
    @pytest.mark.anyio
    async def test_let_a_few_requests_of_one_session_be_in_progress_and_anybody_elses(self) -> None:
        taken, busy, is_over = Turns(), "busy", asyncio.Event()
        in_progress: list[str] = []

        async def work(token: str) -> None:
            async with taken.take(token):
                in_progress.append(token)
                await is_over.wait()

        working = [asyncio.ensure_future(work(busy)) for _ in range(3 * AT_ONCE)]
        working.append(asyncio.ensure_future(work("other")))
        await asyncio.sleep(0)
        assert in_progress.count(busy) == AT_ONCE
        assert len(in_progress) == AT_ONCE + 1
        is_over.set()
        await asyncio.gather(*working)
        assert in_progress.count(busy) == 3 * AT_ONCE

    def test_are_taken_by_pages_and_their_files(self, service: RunningService) -> None:
        with (
            Visitor(service, form_team(service)) as busy,
            Visitor(service, busy.team) as other,
            ThreadPoolExecutor() as threads,
        ):
            held = AsyncExitStack()

            async def hold() -> None:
                for _ in range(AT_ONCE):
                    await held.enter_async_context(service.app.pages.site.turns.take(busy.cookies["session"]))

            service.run(hold())
            waiting = [threads.submit(busy.get, path) for path in PATHS]
            assert [other.get(path).status_code for path in PATHS] == [200] * len(PATHS)
            assert not any(each.done() for each in waiting)
            service.run(held.aclose())
            assert [each.result().status_code for each in waiting] == [200] * len(PATHS)


class TestFollowedPages:
    def test_of_a_session_are_only_so_many_at_once(
        self, service: RunningService, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(session_turns, "FOLLOWED_AT_ONCE", 2)
        with (
            Visitor(service, form_team(service)) as busy,
            Visitor(service, busy.team) as other,
            ExitStack() as follows,
        ):
            first = follows.enter_context(ExitStack())
            first.enter_context(busy.stream("GET", "/monitors", headers=FOLLOWED))
            follows.enter_context(busy.stream("GET", "/incidents", headers=FOLLOWED))
            refused = busy.get("/monitors", headers=FOLLOWED)
            assert refused.status_code == 429
            assert catalogue.respond("rate_limited").body["error"] in read_text(refused.text)
            with other.stream("GET", "/monitors", headers=FOLLOWED) as followed:
                assert followed.status_code == 200
            first.close()

            def is_let_in() -> bool:
                with busy.stream("GET", "/monitors", headers=FOLLOWED) as followed:
                    return followed.status_code == 200

            wait_until(is_let_in)
