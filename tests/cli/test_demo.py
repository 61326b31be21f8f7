from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest

from moments import a_second_ago
from monitoring.auth.service import find_team, list_keys
from monitoring.auth.signing_keys import read_signing_keys
from monitoring.cli.demo import (
    DEMO_EMAIL,
    DEMO_TEAM,
    Demo,
    ensure_demo,
    prepare_environment,
    warn_of_exposure,
    write_guide,
)
from monitoring.members.invitations import accept_invitation
from monitoring.members.models import Invitation
from monitoring.settings import Settings, read_settings
from monitoring.settings.description import describe_settings
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Set nothing but the folder."""
    monkeypatch.setattr(os, "environ", os.environ.copy())
    for row in describe_settings():
        os.environ.pop(row.name, None)
    os.environ["DATA_DIR"] = str(tmp_path)
    return monkeypatch


def start(folder: Path, before: Callable[[], Awaitable[Any]] | None = None) -> tuple[Settings, Demo]:
    """Start the demo, after running `before`."""
    prepare_environment()
    settings = read_settings()

    async def run() -> Demo:
        async with temporary_backends(folder):
            if before:
                await before()
            return await ensure_demo(settings)

    return settings, asyncio.run(run())


class TestTheWarning:
    @pytest.mark.parametrize(
        ("host", "networks", "is_warned"),
        [
            ("0.0.0.0", "", True),  # noqa: S104 - what is warned of
            ("::", "", True),
            ("127.0.0.1", "", False),
            ("localhost", "", False),
            ("0.0.0.0", "10.0.0.0/8", False),  # noqa: S104
        ],
    )
    def test_is_given_where_others_can_have_loopback_checked(
        self, own_log: pytest.LogCaptureFixture, *, host: str, networks: str, is_warned: bool
    ) -> None:
        os.environ |= {"HOST": host, "ALLOWED_NETWORKS": networks}
        prepare_environment()
        warn_of_exposure(read_settings())
        assert any("ALLOWED_NETWORKS" in message for message in own_log.messages) == is_warned


class TestPreparation:
    def test_lets_the_app_be_used_at_http(self) -> None:
        prepare_environment()
        settings = read_settings()
        assert (settings.session_cookie_secure, settings.article_teams) == (False, (DEMO_TEAM,))

    def test_makes_a_folder_that_is_yours_alone(self, tmp_path: Path) -> None:
        os.environ["DATA_DIR"] = str(tmp_path / "data")
        prepare_environment()
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700

    def test_leaves_what_is_set(self) -> None:
        os.environ.update({"SESSION_COOKIE_SECURE": "true", "ARTICLE_TEAMS": "Writers, Readers"})
        prepare_environment()
        settings = read_settings()
        assert (settings.session_cookie_secure, settings.article_teams) == (True, ("Writers", "Readers"))


class TestSigningKey:
    def test_is_private_and_made_once(self, tmp_path: Path) -> None:
        prepare_environment()
        [key] = read_signing_keys(read_settings().signing_keys).values()
        assert key.algorithm == "RS256"
        assert (tmp_path / "signing_key").stat().st_mode & 0o777 == 0o600
        del os.environ["SIGNING_KEYS"]
        prepare_environment()
        assert list(read_signing_keys(read_settings().signing_keys)) == [key.key_id]

    def test_of_an_earlier_version_still_verifies(self, tmp_path: Path) -> None:
        secret = "a secret that an earlier version made"
        (tmp_path / "signing_key").write_text(secret)
        for _ in range(2):
            prepare_environment()
            keys = list(read_signing_keys(read_settings().signing_keys).values())
            assert [key.algorithm for key in keys] == ["RS256", "HS256"]
            assert keys[-1].verifying == secret
            del os.environ["SIGNING_KEYS"]


class TestEncryptionKey:
    def test_is_private_and_made_once(self, tmp_path: Path) -> None:
        keys = []
        for _ in range(2):
            prepare_environment()
            keys.append(read_settings().encryption_keys)
            del os.environ["ENCRYPTION_KEYS"]
        assert keys[0] == keys[1]
        assert (tmp_path / "encryption_key").stat().st_mode & 0o777 == 0o600


class TestInvitation:
    def test_is_kept_for_you_alone_until_somebody_has_joined(self, tmp_path: Path) -> None:
        settings, first = start(tmp_path)
        kept = tmp_path / "invitation"
        assert kept.stat().st_mode & 0o777 == 0o600
        assert kept.read_text().strip() == first.invitation_code
        guide = write_guide(settings, "http://127.0.0.1:8000", first)
        assert guide.index("http://127.0.0.1:8000/app\n") < guide.index(f"    {first.invitation_code}\n")
        assert f"To join as {DEMO_EMAIL}: open http://127.0.0.1:8000/app/join and enter" in guide

        _, second = start(tmp_path)
        assert second == first

        async def join() -> None:
            assert first.invitation_code
            user = await accept_invitation(first.invitation_code, "Newcomer", "correct horse battery")
            assert (user.role, user.email) == ("owner", DEMO_EMAIL)

        settings, third = start(tmp_path, join)
        assert third == Demo(first.client_id, first.client_secret, None)
        assert not kept.exists()
        assert "To join" not in write_guide(settings, "http://127.0.0.1:8000", third)

    def test_that_expired_is_made_anew(self, tmp_path: Path) -> None:
        _, first = start(tmp_path)

        async def expire() -> None:
            await Invitation.all().update(expires_at=a_second_ago())

        _, second = start(tmp_path, expire)
        assert second.invitation_code != first.invitation_code
        assert (tmp_path / "invitation").read_text().strip() == second.invitation_code
        assert (tmp_path / "invitation").stat().st_mode & 0o777 == 0o600

    def test_makes_no_second_team_or_key(self, tmp_path: Path) -> None:
        start(tmp_path)

        async def count() -> None:
            team = await find_team(DEMO_TEAM)
            assert team
            assert len(await list_keys(team.id)) == 1

        start(tmp_path, count)
