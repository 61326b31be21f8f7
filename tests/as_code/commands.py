"""Runs the commands of monitors as code against a service, as a pipeline does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from typer.testing import CliRunner

from monitoring.cli import app

if TYPE_CHECKING:
    from pathlib import Path

    from cast import Player


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


class Pipeline:
    """A folder with a file, and the environment of a pipeline."""

    def __init__(self, folder: Path, player: Player) -> None:
        self.file = folder / "monitors.yaml"
        self.url = str(player.base_url)
        self.credentials = (player.client_id, player.client_secret)
        self.environment = {"MONITORING_URL": self.url, "MONITORING_API_KEY": ":".join(self.credentials)}

    def run(self, *arguments: str, **environment: str) -> Ended:
        result = CliRunner().invoke(app, arguments, env={**self.environment, **environment})
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ended(result.exit_code, result.stdout, result.stderr)

    def export(self) -> str:
        """Export, and keep the file."""
        ended = self.run("export")
        assert ended.status == 0, ended.err
        self.file.write_text(ended.out)
        return ended.out

    def apply(self, text: str | None = None, *options: str, **environment: str) -> Ended:
        """Apply the file, after writing a text into it."""
        if text is not None:
            self.file.write_text(text)
        return self.run("apply", str(self.file), *options, **environment)
