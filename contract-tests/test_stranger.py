"""Fuzzes the service as an outsider would: without configuration, or as the guide explains.

The outsider has a token and a webhook secret. The hooks of quick_fuzzing.py only speed up these runs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from cast import Player, form_team
from fuzzing import IS_WHOLE, MANY, QUICKLY, TIMEOUT_SECONDS, fuzzed_service
from running_service import WEBHOOK_SECRET
from tools_table import note

if TYPE_CHECKING:
    from running_service import RunningService

pytestmark = [
    pytest.mark.night("the full key of test_fuzzing.py makes the same kinds of requests"),
    pytest.mark.embedded("the full key of test_fuzzing.py reaches the other backends"),
    pytest.mark.long(seconds=100),
]

GUIDE = Path(__file__).parent.parent / "docs" / "guides" / "fuzz-it-in-your-ci.md"
EXAMPLES = "50"
SAMPLE = "--phases examples,fuzzing,stateful --max-examples 12"

FINDING = re.compile(r"^- (ST\d+) (?=.*?^\[(\d{3})\] )", re.MULTILINE | re.DOTALL)
SCHEMA_VALID_REQUEST_REJECTED, CREATED_RESOURCE_NOT_FOUND = "ST202", "ST302"
TOLD_BY_THE_GUIDE = {
    (SCHEMA_VALID_REQUEST_REJECTED, "400"),
    (SCHEMA_VALID_REQUEST_REJECTED, "412"),
    (SCHEMA_VALID_REQUEST_REJECTED, "422"),
    (CREATED_RESOURCE_NOT_FOUND, "404"),
}


@pytest.mark.parametrize("offset", range(2))
def test_by_default_finds_nothing_but_what_the_guide_says(offset: int, tmp_path: Path) -> None:
    """Run twice without a configuration: first completely, then only the phases that depend on the seed."""
    seed = (int(os.environ["FUZZING_SEED"]) + offset) % 2**32
    phases = " --phases fuzzing,stateful" if offset else ""
    with fuzzed_service(tmp_path, allowed_networks=()) as service:
        run = _run(
            f"st run {service.base_url}/openapi.yaml -n {EXAMPLES} --seed {seed}{phases} --no-color"
            ' -H "Authorization: Bearer $MONITORING_TOKEN" -H "X-Webhook-Secret: $MONITORING_WEBHOOK_SECRET"',
            service,
        )
    assert "Tested: " in run.stdout, run.stdout + run.stderr
    assert set(FINDING.findall(run.stdout)) <= TOLD_BY_THE_GUIDE, run.stdout
    note(
        "Schemathesis",
        version("schemathesis"),
        "`st run` without configuration: no finding but the 400, 412, 422 and 404 of the guide",
    )


def test_the_lines_of_the_guide_find_nothing(tmp_path: Path) -> None:
    """Sends only a sample.

    In test_fuzzing.py, the full key sends everything with the guide's configuration.
    """
    github, gitlab = (
        yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    )
    lines = [step["run"] for step in github["steps"]]
    assert lines == gitlab["fuzz"]["script"]
    *lines_before, fuzzing = lines
    sample = "" if IS_WHOLE else SAMPLE
    with fuzzed_service(tmp_path, allowed_networks=()) as service:
        for line in [*lines_before, f"{fuzzing} {sample}"]:
            run = _run(line, service)
            assert run.returncode == 0, run.stdout + run.stderr


def _run(line: str, service: RunningService) -> subprocess.CompletedProcess[str]:
    """Run a command of a CI pipeline as its runner would, with the programs of this environment."""
    with Player(service, form_team(service, MANY)) as player:
        credentials = {"MONITORING_TOKEN": player.fetch_token(), "MONITORING_WEBHOOK_SECRET": WEBHOOK_SECRET}
    commands = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-c", line],
        env=os.environ | credentials | QUICKLY | {"PATH": commands, "MONITORING_URL": service.base_url},
        cwd=service.settings.data_dir,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
