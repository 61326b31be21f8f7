"""How often passwords may be tried: nobody's guesses keep somebody out of a browser that knows them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from app.visitor import PASSWORD, Stranger, Visitor, read_text
from cast import form_team
from monitoring.app.sign_in import attempts
from monitoring.audit.models import AuditEntry
from monitoring.settings import RateLimitPolicy
from running_service import running_service
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from uuid import UUID

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

BROWSER = "browser"
REFUSED, LIMITED = "session.sign_in_refused", "session.sign_in_limited"


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[RunningService]:
    """Allow two attempts for an email at an address or in a browser, five at an address, eight by email."""
    with running_service(
        tmp_path,
        rate_limit_sign_in="2/3600",
        rate_limit_sign_in_address="5/3600",
        rate_limit_sign_in_email="8/3600",
    ) as service:
        yield service


@pytest.fixture
def alice(strict: RunningService) -> Iterator[Visitor]:
    """Has signed in with her browser once, and out again."""
    with Visitor(strict, form_team(strict)) as visitor:
        visitor.submit("/monitors", action="/sign-out")
        yield visitor


@pytest.fixture
def guess(strict: RunningService) -> Iterator[Callable[..., int]]:
    """Guess with a new browser at an address of your choice."""
    with ExitStack() as stack:

        def try_to_sign_in(email: str, address: str, word: str = "wrong") -> int:
            return stack.enter_context(Stranger(strict, address)).sign_in(email, word).status_code

        yield try_to_sign_in


class TestALimit:
    def test_holds_for_one_email_at_one_address_and_says_how_long(
        self, strict: RunningService, alice: Visitor, catalogue: Catalogue
    ) -> None:
        with Stranger(strict, "127.0.0.2") as stranger:
            answers = [stranger.sign_in(alice.email, "wrong") for _ in range(3)]
            assert [answer.status_code for answer in answers] == [400, 400, 429]
            assert int(answers[-1].headers["retry-after"]) <= 3600
            assert catalogue.respond("rate_limited").body["error"] in read_text(answers[-1].text)
            assert stranger.sign_in(alice.email, PASSWORD).status_code == 429

    def test_counts_all_spellings_of_an_email_as_one(self, guess: Callable[..., int]) -> None:
        spellings = ("zoë@example.com", "ZOË@example.com", " zoe\u0308@example.com")
        assert [guess(spelling, "127.0.0.2") for spelling in spellings] == [400, 400, 429]

    def test_holds_for_one_address_whatever_the_email(self, guess: Callable[..., int]) -> None:
        emails = [f"{name}@example.com" for name in "abcdef"]
        assert [guess(email, "127.0.0.2") for email in emails] == [400] * 5 + [429]
        assert guess("not an email", "127.0.0.2") == 429

    def test_that_others_used_up_keeps_nobody_out_elsewhere(
        self, alice: Visitor, guess: Callable[..., int]
    ) -> None:
        assert [guess(alice.email, "127.0.0.2") for _ in range(3)] == [400, 400, 429]
        assert guess(alice.email, "127.0.0.3", PASSWORD) == 200

    def test_holds_for_one_email_however_many_addresses_guess(
        self, alice: Visitor, guess: Callable[..., int]
    ) -> None:
        addresses = [f"127.0.0.{number}" for number in range(2, 12)]
        # Alice's browser was new too when she signed in first.
        assert [guess(alice.email, address) for address in addresses] == [400] * 7 + [429] * 3


class TestAKnownBrowser:
    def test_lets_its_owner_in_whatever_strangers_used_up(
        self, strict: RunningService, alice: Visitor, guess: Callable[..., int]
    ) -> None:
        for address in ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"):
            for email in (alice.email, alice.email, *(f"{name}@example.com" for name in "abcd")):
                guess(email, address)
        with Stranger(strict) as stranger:
            assert stranger.sign_in(alice.email, PASSWORD).status_code == 429
        assert alice.sign_in(alice.email, PASSWORD).url.path == "/app/monitors"

    def test_has_a_count_of_its_own(self, alice: Visitor, guess: Callable[..., int]) -> None:
        answers = [alice.sign_in(alice.email, "wrong").status_code for _ in range(3)]
        assert answers == [400, 400, 429]
        assert guess(alice.email, "127.0.0.2", PASSWORD) == 200

    def test_does_not_start_to_count_anew_with_each_sign_in(self, alice: Visitor) -> None:
        before = alice.cookies[BROWSER]
        alice.sign_in(alice.email, PASSWORD)
        assert alice.cookies[BROWSER] == before

    def test_is_known_for_the_email_it_was_signed_in_with_only(
        self, alice: Visitor, guess: Callable[..., int]
    ) -> None:
        assert [guess("bob@example.com", "127.0.0.1") for _ in range(3)] == [400, 400, 429]
        assert alice.sign_in("bob@example.com", PASSWORD).status_code == 429

    @pytest.mark.parametrize("forged", ["A" * 43 + "." + "0" * 64, "x", ""])
    def test_is_none_that_says_so_itself(
        self, strict: RunningService, alice: Visitor, guess: Callable[..., int], forged: str
    ) -> None:
        assert [guess(alice.email, "127.0.0.2") for _ in range(2)] == [400, 400]
        with Stranger(strict, "127.0.0.2") as mallory:
            mallory.cookies.set(BROWSER, forged)
            assert mallory.sign_in(alice.email, PASSWORD).status_code == 429

    def test_is_known_by_a_cookie_that_tells_nothing_and_that_scripts_and_other_sites_do_not_get(
        self, strict: RunningService, alice: Visitor
    ) -> None:
        with Stranger(strict) as stranger:
            form = {"email": alice.email, "password": PASSWORD}
            stranger.follow_redirects = False
            given = stranger.submit("/sign-in", **form).headers.get_list("set-cookie")
        [cookie] = [each for each in given if each.startswith(f"{BROWSER}=")]
        assert {"httponly", "samesite=lax", "path=/"} <= {part.strip() for part in cookie.lower().split(";")}
        assert alice.email not in cookie


async def list_refusals(team_id: UUID) -> list[AuditEntry]:
    return await AuditEntry.filter(team_id=team_id, action__in=[REFUSED, LIMITED]).order_by("id")


class TestTheAuditLog:
    def test_has_the_first_refusal_of_an_address_and_the_last_that_a_limit_allows(
        self, tmp_path: Path
    ) -> None:
        with (
            running_service(tmp_path, rate_limit_sign_in="4/3600") as service,
            Visitor(service, form_team(service)) as alice,
            Stranger(service, "127.0.0.2") as stranger,
        ):
            for _ in range(6):
                stranger.sign_in(alice.email, "a wrong password")
            stranger.sign_in("nobody@example.com", "a wrong password")
            wait_until(lambda: len(service.run(list_refusals(alice.team.id))) == 2)
            entries = service.run(list_refusals(alice.team.id))
            assert [entry.action for entry in entries] == [REFUSED, LIMITED]
            assert {(entry.actor, entry.subject, entry.address) for entry in entries} == {
                ("somebody", alice.email, "127.0.0.2")
            }
            shown = read_text(alice.open("/settings/audit-log").text)
            assert f"somebody used up the attempts to sign in as {alice.email} 127.0.0.2" in shown
            assert f"somebody tried a wrong password for {alice.email} 127.0.0.2" in shown
            assert "a wrong password " not in shown.replace("tried a wrong password", "")

    def test_is_not_flooded_by_many_addresses(
        self,
        strict: RunningService,
        alice: Visitor,
        guess: Callable[..., int],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(attempts, "NOTED_OF_ONE_PERSON", RateLimitPolicy("sign_in_noted", 3, 3600))
        for number in range(2, 9):
            guess(alice.email, f"127.0.0.{number}")

        def actions() -> list[str]:
            return [entry.action for entry in strict.run(list_refusals(alice.team.id))]

        wait_until(lambda: LIMITED in actions() and actions().count(REFUSED) >= 3)
        assert sorted(actions()) == [LIMITED, *[REFUSED] * 3]
