"""Code that the commands share: runs a coroutine with the backends open, and prints rows."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from typing import Annotated, Any, TypeVar

import orjson
import typer
from tortoise.exceptions import IntegrityError, OperationalError

from monitoring.auth.names import MAX_NAME_CHARACTERS, is_name
from monitoring.backends.assembly import open_backends
from monitoring.backends.errors import BackendUnavailable
from monitoring.cli.failing import fail
from monitoring.settings import read_settings

Result = TypeVar("Result")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


def run_command(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine with the configured backends open. If one is unavailable, exit with status 1.

    Raises `IntegrityError` if a constraint of the database fails, for example because a name is taken.
    """

    async def run() -> Result:
        async with open_backends(read_settings()) as backends:
            with backends.activate():
                await backends.clock.read()
                return await work

    try:
        with closing(work):  # invalid settings end the command before `work` is awaited
            return asyncio.run(run())
    except IntegrityError:  # a subclass of OperationalError, but the caller handles it
        raise
    except BackendUnavailable as error:
        fail(f"{type(error).__name__}: {error}")
    except OperationalError as error:
        fail(
            f"The database returned an error: {error}. If its schema is not the newest, run `monitoring "
            "migrate`."
        )


def check_name(name: str) -> str:
    """Return the name if `is_name` accepts it. Raises `typer.BadParameter` otherwise."""
    if not is_name(name):
        raise typer.BadParameter(f"must be 1 to {MAX_NAME_CHARACTERS} visible characters")
    return name


def represent_moment(moment: datetime | None) -> str | None:
    """Render a time in ISO 8601 format, to the second. None stays None."""
    return moment.isoformat(timespec="seconds") if moment else None


def show_row(row: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a row, one field per line, or as JSON."""
    if as_json:
        _show_json(row)
        return
    width = max(map(len, row))
    for name, value in row.items():
        typer.echo(f"{name:<{width}}  {_as_text(value)}")


def show_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print rows as a table, or as JSON. Each row is one line, even if longer than the terminal's width."""
    if as_json:
        _show_json(rows)
        return
    lines = [[name.upper() for name in row] for row in rows[:1]]
    lines += [[_as_text(value) for value in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


def _show_json(value: Any) -> None:  # noqa: ANN401
    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def _as_text(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return "-" if value is None else str(value)
