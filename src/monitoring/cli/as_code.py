"""Monitors as code: `monitoring export` and `apply` call the API, and `schema` needs no service at all."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import orjson
import typer

from monitoring.as_code.applying import apply_plan
from monitoring.as_code.client import Client, RefusedError
from monitoring.as_code.exporting import export
from monitoring.as_code.file_schema import make_schema
from monitoring.as_code.files import FileProblemsError, read_file
from monitoring.as_code.plans import make_plan
from monitoring.as_code.showing import show_plan
from monitoring.cli.failing import fail
from monitoring.cli.reaching import read_key, read_url

app = typer.Typer(no_args_is_help=True, help=__doc__)

PENDING = 2  # the exit status with --dry-run if something would change

FileArgument = Annotated[
    Path, typer.Argument(help="The file; - reads it from standard input.", allow_dash=True)
]


@app.command("export")
def export_file() -> None:
    """Print the team's monitors, channels and maintenance windows as a file. Variables replace secrets."""
    with _reporting():
        typer.echo(export(Client(read_url(), read_key())), nl=False)


@app.command("apply")
def apply_file(
    path: FileArgument,
    *,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show the plan, and end with status 2 if something would change."),
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete each resource whose key is not in the file.")
    ] = False,
    prune_limit: Annotated[
        int, typer.Option(min=0, help="Refuse a plan that deletes more resources than this.")
    ] = 10,
    secrets_file: Annotated[
        Path | None, typer.Option(help="The file to which the secrets of new webhooks are appended.")
    ] = None,
) -> None:
    """Create and change the team's monitors, channels and maintenance windows to match the file.

    Ends with status 0 if everything matches the file, and with 1 if something failed. After a failure, apply
    the file again to finish.
    """
    with _reporting():
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
        wanted = read_file(text, str(path), needs_variables=not dry_run)
        client = Client(read_url(), read_key())
        plan = make_plan(client, wanted, prune=prune)
        for line in show_plan(plan):
            typer.echo(line)
        deletions = sum(step.sign == "-" for step in plan.steps)
        if deletions > prune_limit:
            fail(f"The plan deletes {deletions}, and --prune-limit allows {prune_limit}. Nothing was done.")
        new_webhooks = [step.key for step in plan.steps if step.shows_secret]
        if new_webhooks and not dry_run and secrets_file is None:
            fail(
                "The secret of a new webhook is shown only once: name a file for the secret of "
                f"{', '.join(new_webhooks)} with --secrets-file. Nothing was done."
            )
        if dry_run:
            raise typer.Exit(PENDING if plan.changes else 0)
        done: Counter[str] = Counter()
        for outcome in apply_plan(client, plan):
            done[outcome.done] += 1
            if outcome.secret and secrets_file:
                _keep_secret(secrets_file, outcome.step.key, outcome.secret)
            if outcome.problem:
                typer.echo(outcome.problem, err=True)
        if plan.steps:
            typer.echo(
                f"Applied: {done['created']} created, {done['changed']} changed, {done['deleted']} deleted."
            )
        if done[""]:
            fail(f"{done['']} failed. Apply the file again to finish.")


def _keep_secret(path: Path, key: str, secret: str) -> None:
    """Append a secret to a file that only its owner may read."""
    path.touch(mode=0o600, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{key}: {secret}\n")


@app.command("schema")
def show_schema() -> None:
    """Print the JSON Schema of the file, for editors."""
    typer.echo(orjson.dumps(make_schema(), option=orjson.OPT_INDENT_2).decode())


@contextmanager
def _reporting() -> Iterator[None]:
    try:
        yield
    except (RefusedError, FileProblemsError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    except UnicodeDecodeError:
        fail("The file is not UTF-8")
