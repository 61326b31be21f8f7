"""The workflow in examples/github-actions. Its steps are run as GitHub runs them: `bash -eo pipefail`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from as_code.commands import Pipeline
    from cast import Player

WORKFLOW = Path(__file__).parents[2] / "examples" / "github-actions" / "monitors.yml"
FILE = "monitors: {shop: {url: 'https://shop.example.com/'}}"


def run_step(pipeline: Pipeline, name: str) -> subprocess.CompletedProcess[str]:
    """Run the commands of a step where the file is."""
    [step] = [
        each
        for each in yaml.safe_load(WORKFLOW.read_text())["jobs"]["apply"]["steps"]
        if each.get("name") == name
    ]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=pipeline.file.parent,
        env={**os.environ, **pipeline.environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_pull_request_shows_the_plan_and_main_carries_it_out(alice: Player, pipeline: Pipeline) -> None:
    pipeline.file.write_text(FILE)
    shown = run_step(pipeline, "Show the plan")
    assert shown.returncode == 0, shown.stderr
    assert "shop" in shown.stdout
    assert alice.get("/api/monitors").json()["monitors"] == []
    applied = run_step(pipeline, "Apply the file")
    assert applied.returncode == 0, applied.stderr
    assert applied.stdout.endswith("Applied: 1 created, 0 changed, 0 deleted.\n")


def test_a_file_that_is_wrong_fails_the_pull_request(pipeline: Pipeline) -> None:
    pipeline.file.write_text("monitors: {shop: {adress: a}}")
    shown = run_step(pipeline, "Show the plan")
    assert shown.returncode == 1
    assert "monitors.shop" in shown.stderr
