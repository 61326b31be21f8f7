from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.outbound import reachability
from monitoring.outbound.reachability import may_be_reached
from temporary_backends import make_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from monitoring.settings import Settings
    from outbound.name_server import NameServer

    SettingsOf = Callable[..., Settings]

pytestmark = pytest.mark.anyio

PUBLIC, PRIVATE = "93.184.216.34", "10.1.2.3"


@pytest.fixture
def settings_of(tmp_path: Path, names: NameServer) -> SettingsOf:
    return lambda *networks: make_settings(tmp_path, allowed_networks=networks, dns_servers=(names.address,))


class TestAddresses:
    @pytest.mark.parametrize(
        "host",
        ["127.0.0.1", "10.0.0.1:8080", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]", "[fd00:ec2::254]"],
    )
    async def test_of_private_networks_may_not_be_reached(self, settings_of: SettingsOf, host: str) -> None:
        assert not await may_be_reached(f"http://{host}/hooks", settings_of())

    async def test_that_are_public_may(self, settings_of: SettingsOf) -> None:
        assert await may_be_reached(f"https://{PUBLIC}/hooks", settings_of())

    async def test_that_the_operator_allows_may_but_never_those_of_clouds(
        self, settings_of: SettingsOf
    ) -> None:
        everywhere = settings_of("0.0.0.0/0", "::/0")
        assert await may_be_reached("http://127.0.0.1/hooks", everywhere)
        assert not await may_be_reached("http://169.254.169.254/", everywhere)

    async def test_that_are_disguised_may_not(self, settings_of: SettingsOf) -> None:
        assert not await may_be_reached("http://0x7f.1/", settings_of())


class TestNames:
    async def test_of_this_machine_may_not_be_reached(self, settings_of: SettingsOf) -> None:
        assert not await may_be_reached("http://localhost/hooks", settings_of())

    async def test_with_a_private_address_beside_a_public_one_may_not(
        self, settings_of: SettingsOf, names: NameServer
    ) -> None:
        names.know("public.example.com", [PUBLIC])
        names.know("mixed.example.com", [PUBLIC, PRIVATE])
        assert await may_be_reached("https://public.example.com/", settings_of())
        assert not await may_be_reached("https://mixed.example.com/", settings_of())
        assert await may_be_reached("https://mixed.example.com/", settings_of("10.0.0.0/8"))

    async def test_that_do_not_exist_yet_pass(self, settings_of: SettingsOf) -> None:
        assert await may_be_reached("https://nobody.example.com/", settings_of())

    async def test_that_nobody_resolves_in_time_pass(
        self, settings_of: SettingsOf, names: NameServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reachability, "RESOLVING_SECONDS", 0.05)
        names.answers["silent.example.com"] = None
        assert await may_be_reached("https://silent.example.com/", settings_of())
