"""Fuzzes the service while limits are low, and while backends are unavailable or not configured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cast import Player, form_team
from fuzzing import FULL_KEY, WRONG_SECRET, credentials_of, fuzz, fuzzed_service
from real_servers import running_postgres
from running_service import running_service
from service_process import wait_until

pytestmark = [
    pytest.mark.night("test_every_sentence.py provokes each of these answers once"),
    pytest.mark.long(seconds=40),
]

CONFIG = Path(__file__).parent / "in_trouble.toml"


def test_beyond_the_limits_every_answer_says_when_to_come_back(tmp_path: Path) -> None:
    guesser = replace(FULL_KEY, webhook_secret=WRONG_SECRET)
    with fuzzed_service(tmp_path) as generous:
        credentials = credentials_of(generous, guesser)
    limits = ("rate_limit_api", "rate_limit_token", "rate_limit_pings", "rate_limit_webhook_failures")
    low = dict.fromkeys(limits, "3/5")
    with fuzzed_service(tmp_path, article_teams=generous.settings.article_teams, **low) as service:
        fuzz(service, guesser, credentials, config=CONFIG, trouble="low limits")


def test_when_the_window_is_over_the_service_answers_again(tmp_path: Path) -> None:
    with (
        running_service(tmp_path, rate_limit_api="1/1") as service,
        Player(service, form_team(service)) as alice,
    ):
        wait_until(lambda: alice.get("/api/monitors").status_code == 429)
        wait_until(lambda: alice.get("/api/monitors").status_code == 200)


@pytest.mark.production("SQLite is never away")
def test_without_its_database_the_service_says_so(tmp_path: Path) -> None:
    with (
        running_postgres() as server,
        fuzzed_service(tmp_path, database_url=server.create_database()) as service,
    ):
        credentials = credentials_of(service, FULL_KEY)
        server.stop()
        fuzz(service, FULL_KEY, credentials, config=CONFIG, trouble="no database")


@pytest.mark.embedded("it is said before a backend is asked")
@pytest.mark.parametrize(
    ("trouble", "setting"), [("no secret", "webhook_secrets"), ("no blog storage", "blog_storage_url")]
)
def test_without_what_the_webhook_needs_it_says_so(trouble: str, setting: str, tmp_path: Path) -> None:
    with fuzzed_service(tmp_path, **{setting: None}) as service:
        credentials = credentials_of(service, FULL_KEY)
        fuzz(service, FULL_KEY, credentials, "--include-tag", "Articles", config=CONFIG, trouble=trouble)
