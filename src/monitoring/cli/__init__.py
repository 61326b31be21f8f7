"""The command `monitoring` starts the service, and does on a terminal what the app's settings pages do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

from monitoring.cli.loading import loading

with loading():
    import typer
    from typer.core import TyperGroup

    from monitoring.cli.failing import reporting_wrong_settings
    from monitoring.cli.open_files import raise_limit_of_open_files

# The module of each command. Only the called command's module is loaded, because loading is most of the work
# of a short command, and a long-running process would keep all modules in memory.
_MODULES = {
    **dict.fromkeys(("dev", "serve", "worker", "checker", "migrate"), "processes"),
    "teams": "teams",
    "users": "users",
    "keys": "keys",
    "signing-keys": "signing_keys",
    "encryption-keys": "encryption_keys",
    "articles": "articles",
    "doctor": "doctor",
    "mcp": "mcp",
    "exam": "exam",
    **dict.fromkeys(("export", "apply", "schema"), "as_code"),
    "import": "importing",
}


class _Commands(Mapping[str, Any]):
    """All commands by name. Each is loaded when it is looked up."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - Typer does not export its base class
        with loading():
            module = import_module(f"monitoring.cli.{_MODULES[name]}")
        group = typer.main.get_group(module.app)
        command = group.commands.get(name, group)
        command.name = name
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


class _Group(TyperGroup):
    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - Typer's own
        super().__init__(**settings)
        self.commands = _Commands()  # type: ignore[assignment]  # nothing changes the mapping


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_asked: bool) -> None:  # noqa: FBT001 - Typer calls it so
    if is_asked:
        from importlib.metadata import version  # noqa: PLC0415 - commands do without it

        typer.echo(f"monitoring {version('monitoring-service')}")
        raise typer.Exit


@app.callback(help=__doc__)
def _monitoring(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Do nothing before a command."""


def main() -> None:
    """Run the command. For invalid settings, print a line for each problem, and exit with status 2."""
    raise_limit_of_open_files()
    with reporting_wrong_settings():
        app()
