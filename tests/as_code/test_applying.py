from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from as_code.commands import Pipeline
from monitoring.as_code.applying import apply_plan
from monitoring.as_code.client import Client
from monitoring.as_code.files import read_file
from monitoring.as_code.plans import make_plan
from monitors.conversations import MONITORS, create, path_of
from notifications.conversations import CHANNELS

if TYPE_CHECKING:
    from pathlib import Path

    from cast import Player

WINDOWS = "/api/maintenance-windows"

FILE = """
monitors:
  storefront:
    name: Storefront
    url: https://shop.example.com/health
    interval_seconds: 60
    tags: [shop]
  cache:
    type: tcp
    url: tcp://cache.example.com:6379
    tcp: {expect: +PONG}
  backup:
    type: heartbeat
    heartbeat: {cron: 0 3 * * *, time_zone: Europe/Berlin}
notification_channels:
  ops:
    type: slack
    url: ${OPS_URL}
    routing: {monitor_keys: [storefront], delay_seconds: 300}
maintenance_windows:
  nightly:
    starts_at: 2029-11-01T01:30:00Z
    duration_seconds: 3600
    recurrence: FREQ=DAILY
    monitor_keys: [cache]
"""
OPS_URL = "https://hooks.slack.com/services/T0000/B0000/a-very-secret-token"


def _things(player: Player) -> dict[str, dict[str, Any]]:
    paths = {"monitors": MONITORS, "notification_channels": CHANNELS, "maintenance_windows": WINDOWS}
    return {
        row["key"]: row
        for name, path in paths.items()
        for row in player.get(path).raise_for_status().json()[name]
    }


class TestApply:
    def test_makes_everything_as_the_file_says_and_then_has_nothing_to_do(
        self, alice: Player, pipeline: Pipeline
    ) -> None:
        first = pipeline.apply(FILE, OPS_URL=OPS_URL)
        assert first.status == 0, first.err
        assert first.out.splitlines() == [
            "+ monitor storefront",
            "+ monitor cache",
            "+ monitor backup",
            "+ notification channel ops",
            "+ maintenance window nightly",
            "Plan: 5 to create, 0 to change, 0 to delete, 0 unchanged.",
            "Applied: 5 created, 0 changed, 0 deleted.",
        ]
        things = _things(alice)
        assert things["cache"]["tcp"]["expect"] == "+PONG"
        assert things["ops"]["routing"]["monitor_ids"] == [things["storefront"]["id"]]
        assert things["nightly"]["monitor_ids"] == [things["cache"]["id"]]
        again = pipeline.apply(OPS_URL=OPS_URL)
        assert again.status == 0
        assert "0 to create, 0 to change, 0 to delete" in again.out
        assert _things(alice) == things

    def test_shows_what_it_changes_field_by_field(self, alice: Player, pipeline: Pipeline) -> None:
        pipeline.apply(FILE, OPS_URL=OPS_URL)
        changed = FILE.replace("interval_seconds: 60", "interval_seconds: 30").replace(
            "expect: +PONG", "expect: OK"
        )
        ended = pipeline.apply(changed, OPS_URL=OPS_URL)
        assert ended.out.splitlines()[:4] == [
            "~ monitor storefront",
            "    interval_seconds: 60 → 30",
            "~ monitor cache",
            '    tcp.expect: "+PONG" → "OK"',
        ]
        assert _things(alice)["storefront"]["interval_seconds"] == 30

    def test_sends_secrets_that_changed_although_no_plan_can_show_it(
        self, alice: Player, pipeline: Pipeline
    ) -> None:
        pipeline.apply(FILE, OPS_URL=OPS_URL)
        before = _things(alice)["ops"]["updated_at"]
        assert "Applied: 0 created, 0 changed" in pipeline.apply(OPS_URL=OPS_URL).out
        assert _things(alice)["ops"]["updated_at"] == before
        assert "Applied: 0 created, 1 changed" in pipeline.apply(OPS_URL=f"{OPS_URL}-2").out

    def test_shows_no_value_of_a_variable(self, alice: Player, pipeline: Pipeline) -> None:
        monitor = create(alice, name="Shop", request_headers={"X-Kept": "hunter2"})
        alice.patch(path_of(monitor), json={"key": "shop"}).raise_for_status()
        written = """
monitors:
  shop:
    url: https://shop.example.com/?key=${WORD}
    request_body: '{"password": "${WORD}"}'
    method: POST
    request_headers: {Authorization: "Bearer ${WORD}", X-Kept: "${WORD}"}
"""
        for options in ("--dry-run",), ():
            ended = pipeline.apply(written, *options, WORD="hunter2")
            assert "hunter2" not in ended.out + ended.err
            assert '→ "https://shop.example.com/?key=${WORD}"' in ended.out
            assert 'Authorization: null → "Bearer ${WORD}"' in ended.out
        assert alice.get(path_of(monitor)).json()["url"].endswith("?key=hunter2")

    def test_gives_what_was_made_in_the_app_its_key(self, alice: Player, pipeline: Pipeline) -> None:
        monitor = create(alice, name="Shop")
        pipeline.export()
        ended = pipeline.apply()
        assert ended.out.splitlines()[:2] == ["~ monitor shop", '    key: null → "shop"']
        assert alice.get(path_of(monitor)).json()["key"] == "shop"
        assert pipeline.apply("\n".join(pipeline.export().splitlines()), "--dry-run").status == 0


class TestDryRun:
    def test_changes_nothing_and_ends_with_2_if_something_would(
        self, alice: Player, pipeline: Pipeline
    ) -> None:
        ended = pipeline.apply(FILE, "--dry-run")  # no secret is needed
        assert (ended.status, _things(alice)) == (2, {})

    def test_ends_with_0_if_nothing_would(self, pipeline: Pipeline) -> None:
        pipeline.apply(FILE, OPS_URL=OPS_URL)
        ended = pipeline.apply(FILE, "--dry-run")
        assert ended.status == 0
        assert (
            "May also change, because the service compares secrets only when the file is applied: 1."
            in ended.out
        )


class TestPrune:
    def test_deletes_only_what_has_a_key_that_the_file_lacks(self, alice: Player, pipeline: Pipeline) -> None:
        by_hand = create(alice)
        pipeline.apply(FILE, OPS_URL=OPS_URL)
        shorter = "monitors:\n  cache: {type: tcp, url: 'tcp://cache.example.com:6379'}\n"
        kept = pipeline.apply(shorter)
        assert "Not in the file, and kept without --prune" in kept.out
        assert len(_things(alice)) == 6
        ended = pipeline.apply(shorter, "--prune")
        assert ended.status == 0, ended.err
        assert "- maintenance window nightly" in ended.out.splitlines()
        assert _things(alice).keys() == {None, "cache"}
        assert alice.get(path_of(by_hand)).status_code == 200

    def test_deletes_nothing_beyond_its_limit(self, alice: Player, pipeline: Pipeline) -> None:
        pipeline.apply(FILE, OPS_URL=OPS_URL)
        before = _things(alice)
        ended = pipeline.apply("monitors: {}", "--prune", "--prune-limit", "4")
        assert ended.status == 1
        assert ended.err == "The plan deletes 5, and --prune-limit allows 4. Nothing was done.\n"
        assert _things(alice) == before


class TestTwoAtOnce:
    @pytest.mark.parametrize("text", ["interval_seconds: 30", "interval_seconds: 90"])
    def test_the_second_is_told_which_row_somebody_else_has_changed(
        self, alice: Player, pipeline: Pipeline, text: str
    ) -> None:
        pipeline.apply(FILE, OPS_URL=OPS_URL)
        client = Client(pipeline.url, pipeline.credentials)
        changed = FILE.replace("interval_seconds: 60", text).replace("url: ${OPS_URL}", f"url: {OPS_URL}")
        plan = make_plan(client, read_file(changed, "monitors.yaml"), prune=False)
        monitor = _things(alice)["storefront"]
        alice.patch(path_of(monitor), json={"name": "Somebody else's"}).raise_for_status()
        problems = [outcome.problem for outcome in apply_plan(client, plan) if outcome.problem]
        assert problems == ["monitors.storefront: Monitor has changed; apply the file again"]
        assert _things(alice)["storefront"]["name"] == "Somebody else's"
        assert pipeline.apply(changed).status == 0
        assert _things(alice)["storefront"]["interval_seconds"] == int(text.split()[1])

    def test_the_second_creates_nothing_twice(self, pipeline: Pipeline, alice: Player) -> None:
        client = Client(pipeline.url, pipeline.credentials)
        wanted = read_file("monitors: {a: {url: https://a.example/}}", "monitors.yaml")
        first, second = (make_plan(client, wanted, prune=False) for _ in range(2))
        assert [outcome.done for outcome in apply_plan(client, first)] == ["created"]
        assert [outcome.problem for outcome in apply_plan(client, second)] == [
            "monitors.a: Monitor exists already; apply the file again"
        ]
        assert len(_things(alice)) == 1


class TestFailing:
    def test_tells_what_failed_and_does_the_rest(self, alice: Player, pipeline: Pipeline) -> None:
        broken = """
monitors:
  good: {url: https://a.example/}
  bad: {url: https://b.example/, assertions: [{source: json, path: $., comparison: exists}]}
notification_channels:
  ops: {type: slack, url: https://hooks.slack.com/services/a, routing: {monitor_keys: [bad]}}
"""
        ended = pipeline.apply(broken)
        assert ended.status == 1
        problems = ended.err.splitlines()
        assert problems[0].startswith("monitors.bad: assertions.0.path: must be a JSONPath")
        assert problems[1:] == [
            "notification_channels.ops: the monitor bad does not exist",
            "2 failed. Apply the file again to finish.",
        ]
        mended = pipeline.apply(broken.replace("$.,", "$.a,"))
        assert mended.status == 0
        assert _things(alice).keys() == {"good", "bad", "ops"}

    def test_creates_no_webhook_whose_secret_would_be_lost(
        self, alice: Player, pipeline: Pipeline, tmp_path: Path
    ) -> None:
        text = "notification_channels: {pager: {type: webhook, url: https://pager.example.com/hooks}}"
        refused = pipeline.apply(text)
        assert (refused.status, _things(alice)) == (1, {})
        assert "--secrets-file" in refused.err
        secrets = tmp_path / "secrets.yaml"
        ended = pipeline.apply(text, "--secrets-file", str(secrets))
        assert ended.status == 0, ended.err
        assert secrets.read_text().startswith("pager: whsec_")
        assert secrets.stat().st_mode & 0o077 == 0
        assert "whsec_" not in ended.out + ended.err

    @pytest.mark.parametrize(
        ("environment", "sentence"),
        [
            ({"MONITORING_URL": ""}, "Set MONITORING_URL"),
            ({"MONITORING_API_KEY": ""}, "Set MONITORING_API_KEY"),
            ({"MONITORING_API_KEY": "mon_live_nobody:a"}, "MONITORING_API_KEY is not a key of this service"),
        ],
    )
    def test_says_what_the_environment_lacks(
        self, pipeline: Pipeline, environment: dict[str, str], sentence: str
    ) -> None:
        ended = pipeline.apply("monitors: {}", **environment)
        assert ended.status == 1
        assert ended.err.startswith(sentence)
