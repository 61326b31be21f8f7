"""`monitoring import`: print a file of monitors as code, made from the configuration of another program.

Anything that could not be imported is reported on standard error, and in the note of its monitor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import httpx2
import typer

from monitoring.as_code.importers import IMPORTERS, openapi
from monitoring.as_code.importers.drafts import Draft, UnreadableImportError
from monitoring.as_code.importing import write_drafts
from monitoring.cli.failing import fail

app = typer.Typer(no_args_is_help=True, help=__doc__)

_TIMEOUT_SECONDS = 30

Files = Annotated[list[Path], typer.Argument(help="The files that were exported or saved from it.")]


@app.command("uptime-kuma")
def import_uptime_kuma(files: Files) -> None:
    """Read Uptime Kuma's backup (JSON) or its database (kuma.db)."""
    _import("uptime-kuma", files)


@app.command("gatus")
def import_gatus(files: Files) -> None:
    """Read Gatus's config.yaml."""
    _import("gatus", files)


@app.command("blackbox")
def import_blackbox(files: Files) -> None:
    """Read prometheus.yml and the blackbox.yml of blackbox_exporter, in this order."""
    _import("blackbox", files)


@app.command("healthchecks")
def import_healthchecks(files: Files) -> None:
    """Read the response of Healthchecks' GET /api/v3/checks/."""
    _import("healthchecks", files)


@app.command("uptime-robot")
def import_uptime_robot(files: Files) -> None:
    """Read the responses of UptimeRobot's POST /v2/getMonitors."""
    _import("uptime-robot", files)


@app.command("better-stack")
def import_better_stack(files: Files) -> None:
    """Read the responses of Better Stack's GET /api/v2/monitors and /api/v2/heartbeats."""
    _import("better-stack", files)


@app.command("openapi")
def import_openapi(url: Annotated[str, typer.Argument(help="The URL of the OpenAPI document.")]) -> None:
    """Propose a contract monitor for each operation that can safely be called."""
    try:
        answer = httpx2.get(url, timeout=_TIMEOUT_SECONDS, follow_redirects=True).raise_for_status()
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        fail(f"{url}: {error}")
    _write(lambda: openapi.read(answer.content, url))


def _import(name: str, files: list[Path]) -> None:
    try:
        texts = [file.read_bytes() for file in files]
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    _write(lambda: IMPORTERS[name](texts))


def _write(read: Callable[[], Iterable[Draft]]) -> None:
    try:
        imported = write_drafts(read())
    except UnreadableImportError as error:
        fail(str(error))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        fail(f"The file is not as expected: {type(error).__name__}: {error}")
    typer.echo(imported.text, nl=False)
    for loss in imported.losses:
        typer.echo(loss, err=True)
