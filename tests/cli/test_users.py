from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

import chosen_backends
from monitoring.audit.models import AuditEntry
from monitoring.auth.service import create_team
from monitoring.cli import app
from monitoring.members.invitations import accept_invitation
from monitoring.members.refusals import SENTENCES
from monitoring.members.sessions import begin_session, find_session
from monitoring.members.sign_in import authenticate
from temporary_backends import ENCRYPTION_KEY, SIGNING_KEY, temporary_backends

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an installation with one team, and let the environment describe it."""
    environment = {
        "SIGNING_KEYS": SIGNING_KEY,
        "ENCRYPTION_KEYS": ENCRYPTION_KEY,
        "BASE_URL": "https://status.example.com",
        **chosen_backends.environment_for(tmp_path),
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    inside(tmp_path, create_team("Acme", "free", 10))
    return tmp_path


def inside(folder: Path, work: Coroutine[Any, Any, Any]) -> Any:
    async def run() -> Any:
        async with temporary_backends(folder):
            return await work

    return asyncio.run(run())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def run_for_json(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def invite(email: str, *options: str) -> Any:
    return run_for_json("users", "invite", email, "--team", "Acme", *options)


def join(folder: Path, email: str) -> None:
    inside(folder, accept_invitation(invite(email)["code"], "Somebody", PASSWORD))


def assert_refused(result: Result, *words: str) -> None:
    """Demand that a command exited with 1 and wrote one line to standard error, and nothing else."""
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    assert all(word in result.stderr for word in words), result.stderr
    assert result.stderr.count("\n") == 1


class TestInvite:
    def test_shows_what_to_hand_over_once(self, installation: Path) -> None:
        result = run("users", "invite", "Ada@Example.com", "--team", "Acme")
        fields = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
        assert fields["address"] == "https://status.example.com/app/join"
        assert (fields["email"], fields["role"]) == ("ada@example.com", "owner")
        assert fields["code"] not in fields["address"]
        user = inside(installation, accept_invitation(fields["code"], "Ada", PASSWORD))
        assert (user.email, user.role) == ("ada@example.com", "owner")

    def test_makes_the_first_an_owner_and_the_others_members(self, installation: Path) -> None:
        join(installation, "ada@example.com")
        assert invite("bob@example.com")["role"] == "member"
        assert invite("bob@example.com", "--role", "owner")["role"] == "owner"
        assert invite("bob@example.com", "--role", "viewer")["role"] == "viewer"

    def test_is_refused_in_the_words_of_the_app(self, installation: Path) -> None:
        join(installation, "ada@example.com")
        again = run("users", "invite", "ADA@example.com", "--team", "Acme")
        assert_refused(again, "ADA@example.com", SENTENCES["already_member"])
        wrong = run("users", "invite", "ada", "--team", "Acme")
        assert_refused(wrong, SENTENCES["email_invalid"])

    def test_of_a_team_that_there_is_not_is_refused(self) -> None:
        assert_refused(run("users", "invite", "ada@example.com", "--team", "Nobody"), "Nobody")

    def test_to_a_role_that_there_is_not_is_wrong_usage(self) -> None:
        result = run("users", "invite", "ada@example.com", "--team", "Acme", "--role", "god")
        assert result.exit_code == 2


class TestList:
    def test_shows_who_may_sign_in_and_no_secret(self, installation: Path) -> None:
        assert run_for_json("users", "list") == []
        join(installation, "ada@example.com")
        inside(installation, create_team("Other", "free", 10))
        [row] = run_for_json("users", "list", "--team", "Acme")
        assert row.pop("created_at")
        assert row == {
            "email": "ada@example.com",
            "name": "Somebody",
            "team": "Acme",
            "role": "owner",
            "last_signed_in_at": None,
        }
        assert run_for_json("users", "list", "--team", "Other") == []
        assert_refused(run("users", "list", "--team", "Nobody"), "Nobody")


class TestReset:
    def test_makes_a_code_for_a_new_password(self, installation: Path) -> None:
        join(installation, "ada@example.com")
        shown = run_for_json("users", "reset", "ADA@example.com")
        assert shown["address"] == "https://status.example.com/app/join"
        inside(installation, accept_invitation(shown["code"], "", "another long password"))
        assert inside(installation, authenticate("ada@example.com", PASSWORD)) is None
        assert inside(installation, authenticate("ada@example.com", "another long password"))


class TestRemove:
    def test_ends_the_sessions_of_who_is_removed(self, installation: Path) -> None:
        for email in ("ada@example.com", "bob@example.com"):
            join(installation, email)
        bob = inside(installation, authenticate("bob@example.com", PASSWORD))
        token = inside(installation, begin_session(bob, "Firefox"))
        assert run_for_json("users", "remove", "bob@example.com")["team"] == "Acme"
        assert inside(installation, find_session(token)) is None
        assert [row["email"] for row in run_for_json("users", "list")] == ["ada@example.com"]

    def test_of_the_last_owner_is_refused(self, installation: Path) -> None:
        join(installation, "ada@example.com")
        assert_refused(run("users", "remove", "ada@example.com"), SENTENCES["last_owner"])


@pytest.mark.parametrize("command", ["reset", "remove"])
class TestUserThatThereIsNot:
    def test_is_told_so(self, command: str) -> None:
        assert_refused(run("users", command, "nobody@example.com"), "nobody@example.com")

    def test_and_could_not_be_is_told_so(self, command: str) -> None:
        assert_refused(run("users", command, "nobody"), SENTENCES["email_invalid"])


class TestAuditLog:
    def test_names_the_command_line(self, installation: Path) -> None:
        run_for_json("teams", "create", "Other")
        client_id = run_for_json("keys", "create", "Acme", "--name", "Shop")["client_id"]
        for _ in range(2):
            run_for_json("keys", "revoke", client_id)
        join(installation, "ada@example.com")
        run_for_json("users", "reset", "ada@example.com")
        entries = inside(installation, read_entries())
        assert entries == [
            ("command line", "team.created", "Acme"),
            ("command line", "team.created", "Other"),
            ("command line", "key.created", "Shop"),
            ("command line", "key.revoked", "Shop"),
            ("command line", "member.invited", "ada@example.com (owner)"),
            ("ada@example.com", "member.joined", "owner"),
            ("command line", "member.reset_code_made", "ada@example.com"),
        ]

    def test_is_what_the_list_of_keys_says_too(self) -> None:
        run_for_json("keys", "create", "Acme")
        assert [key["created_by"] for key in run_for_json("keys", "list", "--team", "Acme")] == [
            "command line"
        ]
        assert_refused(run("keys", "list", "--team", "Nobody"), "Nobody")


class TestKeys:
    @pytest.mark.parametrize(
        ("options", "scopes"),
        [
            ([], ["monitors:read", "monitors:write"]),
            (["--scope", "articles:read"], ["articles:read"]),
        ],
    )
    def test_read_articles_only_if_it_is_asked_for(self, options: list[str], scopes: list[str]) -> None:
        assert run_for_json("keys", "create", "Acme", *options)["scopes"] == scopes


async def read_entries() -> list[tuple[str, str, str]]:
    entries = await AuditEntry.all().order_by("id")
    return [(entry.actor, entry.action, entry.subject) for entry in entries]
