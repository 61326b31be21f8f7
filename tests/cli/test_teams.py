from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

import chosen_backends
from monitoring.audit.models import AuditEntry
from monitoring.cli import app
from ready_tables import make_tables
from temporary_backends import ENCRYPTION_KEY, SIGNING_KEY, make_settings, temporary_backends

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an installation with two plans and one team, and let the environment describe it."""
    environment = {
        "SIGNING_KEYS": SIGNING_KEY,
        "ENCRYPTION_KEYS": ENCRYPTION_KEY,
        "PLANS": "free=10,team=100",
        **chosen_backends.environment_for(tmp_path),
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    make_tables(make_settings(tmp_path))
    assert run("teams", "create", "Acme").exit_code == 0
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def list_teams() -> Any:
    return json.loads(run("teams", "list", "--json").stdout)


def list_audited(folder: Path) -> list[str]:
    async def read() -> list[str]:
        async with temporary_backends(folder):
            entries = await AuditEntry.all().order_by("id")
            return [f"{entry.action} {entry.subject}" for entry in entries]

    return asyncio.run(read())


class TestCreate:
    def test_a_team_is_on_the_first_plan_if_none_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PLANS", "big=5000,small=10")
        assert run("teams", "create", "Globex").exit_code == 0
        assert [
            (team["plan"], team["max_monitors"]) for team in list_teams() if team["name"] == "Globex"
        ] == [("big", 5000)]

    @pytest.mark.parametrize("plan", [("team",), ("--plan", "team")], ids=" ".join)
    def test_takes_its_plan_as_changing_does(self, plan: tuple[str, ...]) -> None:
        assert run("teams", "create", "Globex", *plan).exit_code == 0
        assert [team["plan"] for team in list_teams() if team["name"] == "Globex"] == ["team"]

    def test_a_name_that_is_taken_is_one_sentence(self) -> None:
        refused = run("teams", "create", "Acme")
        assert (refused.exit_code, refused.stderr) == (1, "There is a team Acme already\n")


class TestChangePlan:
    @pytest.mark.parametrize("plan", [("team",), ("--plan", "team")], ids=" ".join)
    def test_moves_the_team_and_tells_the_audit_log(self, tmp_path: Path, plan: tuple[str, ...]) -> None:
        assert run("teams", "change-plan", "Acme", *plan).exit_code == 0
        (team,) = list_teams()
        assert (team["plan"], team["max_monitors"]) == ("team", 100)
        assert list_audited(tmp_path) == ["team.created Acme", "team.plan_changed team"]

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (("Acme", "gold"), "There is no plan gold; PLANS has free, team"),
            (("Nobody", "team"), "There is no team Nobody"),
        ],
    )
    def test_changes_nothing_for_a_plan_or_team_that_is_not_there(
        self, arguments: tuple[str, str], sentence: str
    ) -> None:
        refused = run("teams", "change-plan", *arguments)
        assert (refused.exit_code, refused.stderr) == (1, f"{sentence}\n")
        assert [team["plan"] for team in list_teams()] == ["free"]
