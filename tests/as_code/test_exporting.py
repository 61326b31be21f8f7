from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
import yaml

from as_code.commands import Pipeline
from cast import Player, form_team
from monitors.configurations import CLIENT_CERTIFICATE
from monitors.conversations import MONITORS, create
from notifications.conversations import CHANNELS

if TYPE_CHECKING:
    from pathlib import Path

    from running_service import RunningService

WINDOWS = "/api/maintenance-windows"
AUTHORIZATION = "Bearer a-secret-of-this-test"
SLACK = "https://hooks.slack.com/services/T0000/B0000/a-secret-of-this-test"
KEY = "secret-of-this-test"
VARIABLES = {
    "MONITOR_CHECKOUT_AUTHORIZATION": AUTHORIZATION,
    "MONITOR_CHECKOUT_CLIENT_CERTIFICATE": CLIENT_CERTIFICATE,
    "NOTIFICATION_CHANNEL_OPS_URL": SLACK,
    "NOTIFICATION_CHANNEL_TICKETS_URL": "https://api.example.com/tickets",
    "NOTIFICATION_CHANNEL_TICKETS_X_KEY": KEY,
}


def _furnish(player: Player) -> None:
    """Create one of each type, as people do: without keys, and some under one name."""
    checkout = create(
        player,
        name="Checkout",
        method="POST",
        request_headers={"Accept": "text/html", "Authorization": AUTHORIZATION},
        request_body="${not_a_variable}",
        client_certificate=CLIENT_CERTIFICATE,
        assertions=[{"source": "json", "path": "$.status", "comparison": "equals", "value": "ok"}],
    )
    create(player, name="Checkout", paused=True, tags=["shop"], expected_status_codes=["200-204", "404"])
    for kind, url, settings in (
        ("tcp", "tcp://cache.example.com:6379", {"send": "PING\r\n", "expect": "+PONG"}),
        ("dns", "dns://example.com", {"record_type": "MX", "expected": ["10 mail.example.com."]}),
        ("certificate", "tls://mail.example.com:25", {"starttls": "smtp"}),
        ("ping", "ping://example.com", {}),
    ):
        create(player, name=f"A {kind}", type=kind, url=url, **{kind: settings})
    heartbeat = {"cron": "0 3 * * *", "time_zone": "Europe/Berlin"}
    player.post(
        MONITORS, json={"type": "heartbeat", "name": "Backup", "heartbeat": heartbeat}
    ).raise_for_status()
    hours = {"starts_at": "22:00", "ends_at": "07:00", "time_zone": "Europe/Berlin"}
    for channel in (
        {"type": "slack", "name": "Ops", "url": SLACK, "routing": {"quiet_hours": hours}},
        {
            "type": "webhook",
            "url": "https://pager.example.com/",
            "routing": {"monitor_ids": [checkout["id"]]},
        },
        {
            "type": "custom",
            "name": "Tickets",
            "url": VARIABLES["NOTIFICATION_CHANNEL_TICKETS_URL"],
            "headers": [{"name": "X-Key", "value": KEY}],
            "body": {"summary": "{{title}}", "labels": ["a"]},
        },
    ):
        player.post(CHANNELS, json=channel).raise_for_status()
    window: dict[str, Any] = {"name": "Nightly", "duration_seconds": 3600, "recurrence": "FREQ=DAILY"}
    window |= {"starts_at": "2029-11-01T01:30:00Z", "monitor_ids": [checkout["id"]], "tags": ["shop"]}
    player.post(WINDOWS, json=window).raise_for_status()
    player.post(f"{WINDOWS}", json={"duration_seconds": 600, "name": "Over"}).raise_for_status()
    [over] = [each for each in player.get(WINDOWS).json()["maintenance_windows"] if each["name"] == "Over"]
    player.post(f"{WINDOWS}/{over['id']}/end").raise_for_status()


class TestExport:
    def test_shows_no_secret_and_no_default(self, alice: Player, pipeline: Pipeline) -> None:
        _furnish(alice)
        text = pipeline.export()
        assert not [secret for secret in VARIABLES.values() if secret in text]
        file = yaml.safe_load(text)
        checkout = file["monitors"]["checkout"]
        checkout.pop("id")
        assert checkout == {
            "name": "Checkout",
            "url": "https://shop.example.com/health",
            "method": "POST",
            "request_headers": {"Accept": "text/html", "Authorization": "${MONITOR_CHECKOUT_AUTHORIZATION}"},
            "request_body": "$${not_a_variable}",
            "assertions": [{"source": "json", "path": "$.status", "comparison": "equals", "value": "ok"}],
            "client_certificate": "${MONITOR_CHECKOUT_CLIENT_CERTIFICATE}",
        }
        assert set(file["monitors"]) == {
            *("a-certificate", "a-dns", "a-ping", "a-tcp", "backup", "checkout", "checkout-2")
        }
        assert file["notification_channels"]["pager-example-com"]["routing"] == {"monitor_keys": ["checkout"]}
        assert list(file["maintenance_windows"]) == ["nightly"]

    def test_applied_again_gives_keys_and_changes_nothing_else(
        self, alice: Player, pipeline: Pipeline
    ) -> None:
        _furnish(alice)
        pipeline.export()
        ended = pipeline.apply(**VARIABLES)
        assert ended.status == 0, ended.err
        assert [
            line for line in ended.out.splitlines() if line.startswith("    ") and "key: null" not in line
        ] == []
        text = pipeline.export()
        assert "id:" not in text
        assert pipeline.apply(None, "--dry-run", **VARIABLES).out.startswith("Plan: 0 to create, 0 to change")

    def test_furnishes_another_team_alike(
        self, service: RunningService, alice: Player, pipeline: Pipeline, tmp_path: Path
    ) -> None:
        _furnish(alice)
        pipeline.export()
        pipeline.apply(**VARIABLES)
        text = pipeline.export()
        with Player(service, form_team(service)) as diana:
            other = Pipeline(tmp_path, diana)
            ended = other.apply(text, "--secrets-file", str(tmp_path / "secrets"), **VARIABLES)
            assert ended.status == 0, ended.err
            assert other.export() == text

    def test_fits_the_schema_for_editors(self, alice: Player, pipeline: Pipeline) -> None:
        _furnish(alice)
        schema = json.loads(pipeline.run("schema").out)
        validator = jsonschema_rs.Draft202012Validator(schema)
        file = yaml.safe_load(pipeline.export())
        assert [error.message for error in validator.iter_errors(file)] == []
        file["monitors"]["checkout"]["intervall_seconds"] = 60
        assert not validator.is_valid(file)


@pytest.mark.night("2,000 writes; the others show the same of a few")
@pytest.mark.long(seconds=60)
def test_a_thousand_monitors_go_round(service: RunningService, pipeline: Pipeline, tmp_path: Path) -> None:
    monitors = {
        f"shop-{number:04}": {"url": f"https://shop-{number}.example.com/", "interval_seconds": 301 + number}
        for number in range(1000)
    }
    assert pipeline.apply(yaml.safe_dump({"monitors": monitors})).status == 0
    text = pipeline.export()
    assert yaml.safe_load(text) == {"monitors": monitors}
    assert pipeline.apply(text, "--dry-run").status == 0
    with Player(service, form_team(service)) as diana:
        other = Pipeline(tmp_path, diana)
        assert other.apply(text).out.endswith("Applied: 1000 created, 0 changed, 0 deleted.\n")
        assert other.export() == text
        emptied = other.apply("monitors: {}", "--prune", "--prune-limit", "1000")
        assert emptied.out.endswith("Applied: 0 created, 0 changed, 1000 deleted.\n")
