"""Tests that each process requires and gets only the secrets that it uses."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from monitoring.backends.encryption import generate_encryption_key
from monitoring.settings import (
    CheckerSettings,
    MigrationSettings,
    Settings,
    SettingsError,
    WorkerSettings,
    read_settings,
)
from test_deployment import BASE, ROOT, read_compose, read_unit

STORAGE = {"BLOG_STORAGE_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
OF_PUBLISHERS = {"WEBHOOK_SECRETS", "WEBHOOK_TEST_SECRETS", "GHOST_WEBHOOK_SECRETS", "OUTRANK_ACCESS_TOKENS"}
SECRETS = {
    "api": {"DATABASE_URL", "REDIS_URL", "ENCRYPTION_KEYS", *STORAGE, "SIGNING_KEYS", *OF_PUBLISHERS},
    "worker": {"DATABASE_URL", "REDIS_URL", "ENCRYPTION_KEYS", *STORAGE, "TRANSLATOR_API_KEY", "SMTP_URL"},
    "checker": {"DATABASE_URL", "REDIS_URL", "ENCRYPTION_KEYS"},
    "migrate": {"DATABASE_URL"},
}
ALL = set.union(*SECRETS.values())
FILES_OF_UNITS = {
    "environment": {"DATABASE_URL", "REDIS_URL", "ENCRYPTION_KEYS"},
    "blog-storage.environment": STORAGE,
    "api.environment": {"SIGNING_KEYS", *OF_PUBLISHERS},
    "worker.environment": {"TRANSLATOR_API_KEY", "SMTP_URL"},
    "checker.environment": set(),
}
KINDS = {"api": Settings, "worker": WorkerSettings, "checker": CheckerSettings, "migrate": MigrationSettings}
VALUES = {
    "DATABASE_URL": "postgresql://db/monitoring",
    "REDIS_URL": "redis://redis",
    "ENCRYPTION_KEYS": generate_encryption_key(),
    "BLOG_STORAGE_URL": "s3://blog",
    "SIGNING_KEYS": "a signing key of forty characters.......",
    "WEBHOOK_SECRETS": "a-webhook-secret-of-the-tests",
    "WEBHOOK_TEST_SECRETS": "a-test-secret-of-the-tests",
    "GHOST_WEBHOOK_SECRETS": "a-secret-of-ghosts-webhook",
    "OUTRANK_ACCESS_TOKENS": "an-access-token-of-outrank",
    "TRANSLATOR_API_KEY": "a-key-of-an-engine",
    "SMTP_URL": "smtps://user:a-password@mail.example.com",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ALL:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EMAIL_FROM", "monitoring@example.com")
    return monkeypatch


@pytest.mark.parametrize("process", SECRETS)
class TestWhatIsGiven:
    def test_compose_gives_a_process_its_own(self, process: str) -> None:
        service = read_compose()["services"][process]
        assert set(service["environment"]) & ALL == SECRETS[process]
        assert [file["path"] for file in service["env_file"]] == ["settings.env"]

    def test_kubernetes_gives_a_process_its_own(self, process: str) -> None:
        name = "migration" if process == "migrate" else process
        manifest = next(yaml.safe_load_all((BASE / f"{name}.yaml").read_text()))
        (container,) = manifest["spec"]["template"]["spec"]["containers"]
        assert {variable["name"] for variable in container["env"]} & ALL == SECRETS[process]
        assert [list(source) for source in container["envFrom"]] == [["configMapRef"]]


@pytest.mark.parametrize("process", ["api", "worker", "checker"])
def test_a_unit_reads_the_files_with_its_own(process: str) -> None:
    lines = (ROOT / "deploy" / "systemd" / f"monitoring-{process}.service").read_text().splitlines()
    files = [line.rpartition("/")[2] for line in lines if line.startswith("EnvironmentFile=")]
    assert set.union(*(FILES_OF_UNITS[file] for file in files)) == SECRETS[process]
    assert read_unit(process)["Service"]["User"] == "monitoring"


def held_by(process: str) -> set[str]:
    settings: Any = read_settings(KINDS[process])
    return {name for name in VALUES if getattr(settings, name.lower())} - {"DATABASE_URL", "REDIS_URL"}


@pytest.mark.parametrize("process", SECRETS)
class TestWhatIsHeld:
    def test_a_process_starts_with_its_own(self, process: str, environment: pytest.MonkeyPatch) -> None:
        for name in SECRETS[process] & VALUES.keys():
            environment.setenv(name, VALUES[name])
        assert held_by(process) == SECRETS[process] & VALUES.keys() - {"DATABASE_URL", "REDIS_URL"}

    def test_it_keeps_none_of_the_others(self, process: str, environment: pytest.MonkeyPatch) -> None:
        for name, value in VALUES.items():
            environment.setenv(name, value)
        of_embedded_ones = {"TRANSLATOR_API_KEY", "SMTP_URL"} if process == "api" else set()
        assert held_by(process) <= SECRETS[process] | of_embedded_ones


def test_only_the_api_demands_signing_keys(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("ENCRYPTION_KEYS", VALUES["ENCRYPTION_KEYS"])
    with pytest.raises(SettingsError, match="SIGNING_KEYS"):
        read_settings()
    assert read_settings(WorkerSettings).signing_keys == ()
    assert read_settings(CheckerSettings).signing_keys == ()
