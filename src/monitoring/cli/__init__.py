"""The command `monitoring`: start the service, and do on a terminal what the app's settings pages do."""

from __future__ import annotations

import sys

import typer

from monitoring.cli.loading import loading
from monitoring.cli.open_files import raise_limit_of_open_files

with loading():
    from monitoring.cli import articles, encryption_keys, keys, serving, signing_keys, teams, users
    from monitoring.settings import SettingsError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
app.command()(serving.dev)
app.command()(serving.serve)
app.command()(serving.worker)
app.command()(serving.checker)
app.command()(serving.migrate)
app.add_typer(teams.app, name="teams")
app.add_typer(users.app, name="users")
app.add_typer(keys.app, name="keys")
app.add_typer(signing_keys.app, name="signing-keys")
app.add_typer(encryption_keys.app, name="encryption-keys")
app.add_typer(articles.app, name="articles")


def main() -> None:
    """Run the command; wrong settings end it with status 2, one line a problem."""
    raise_limit_of_open_files()
    try:
        app()
    except SettingsError as error:
        print(f"The service cannot start:\n{error}", file=sys.stderr)  # noqa: T201 - this is a terminal
        sys.exit(2)
