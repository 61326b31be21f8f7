"""What a command says that cannot begin, and what it says of itself."""

from __future__ import annotations

import subprocess
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from monitoring.cli import app
from running_command import running_command
from service_process import MONITORING, Installation

if TYPE_CHECKING:
    from pathlib import Path


def test_the_version_is_that_of_the_package() -> None:
    shown = CliRunner().invoke(app, ["--version"])
    assert (shown.exit_code, shown.stdout) == (0, f"monitoring {version('monitoring-service')}\n")


@pytest.mark.parametrize("command", [(), ("teams",), ("teams", "create"), ("serve",)], ids=" ".join)
def test_h_shows_the_help_of_each_command(command: tuple[str, ...]) -> None:
    short, long = (CliRunner().invoke(app, [*command, option]) for option in ("-h", "--help"))
    assert short.exit_code == 0
    assert short.stdout == long.stdout


@pytest.mark.parametrize(
    "arguments",
    [("teams", "list"), ("users", "list"), ("keys", "list"), ("articles", "list"), ("doctor",)],
    ids=" ".join,
)
def test_a_command_without_settings_names_those_that_are_missing_and_says_no_more(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    ended = subprocess.run(
        [*MONITORING, *arguments],
        env={"DATA_DIR": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    first, *problems = ended.stderr.splitlines()
    assert first == "The service cannot start:"
    assert {problem.partition(":")[0] for problem in problems} == {"SIGNING_KEYS", "ENCRYPTION_KEYS"}


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.make_tables()
    with running_command(installation, "serve") as first:
        port = str(first.address[1])
        with running_command(installation, "serve", PORT=port) as second:
            assert second.wait() == 1
            (line,) = [line for line in second.lines if "REFERENCE_URLS" not in line]
            assert line == (
                f"Cannot listen on 127.0.0.1, port {port}: Address already in use."
                " Choose another with HOST= or PORT="
            )
