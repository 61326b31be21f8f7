"""Ends commands that fail."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from monitoring.settings import SettingsError


def fail(sentence: str) -> NoReturn:
    """Print a sentence on standard error, and end the command with status 1."""
    typer.echo(sentence, err=True)
    raise typer.Exit(1)


@contextmanager
def reporting_wrong_settings() -> Iterator[None]:
    """End the process with status 2 if the block raises `SettingsError`, and print one line per problem."""
    try:
        yield
    except SettingsError as error:
        print(f"The service cannot start:\n{error}", file=sys.stderr)  # noqa: T201 - this is a terminal
        sys.exit(2)
