from __future__ import annotations

import pytest
from typer.testing import CliRunner

from monitoring.auth.signing_keys import Algorithm, read_signing_keys
from monitoring.cli import app
from monitoring.settings import read_settings
from temporary_backends import ENCRYPTION_KEY


class TestCreate:
    @pytest.mark.parametrize("algorithm", [None, *Algorithm])
    def test_prints_what_the_setting_takes(
        self, algorithm: Algorithm | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        options = ["--algorithm", algorithm] if algorithm else []
        printed = CliRunner().invoke(app, ["signing-keys", "create", *options])
        assert (printed.exit_code, printed.stdout.count("\n")) == (0, 1)
        monkeypatch.setenv("SIGNING_KEYS", printed.stdout.strip())
        monkeypatch.setenv("ENCRYPTION_KEYS", ENCRYPTION_KEY)
        [key] = read_signing_keys(read_settings().signing_keys).values()
        assert key.algorithm == (algorithm or "RS256")

    def test_needs_no_settings_and_never_makes_the_same_twice(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PORT", "none")
        printed = {CliRunner().invoke(app, ["signing-keys", "create"]).stdout for _ in range(2)}
        assert len(printed) == 2
