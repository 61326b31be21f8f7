"""`monitoring keys`: API keys, which the app shows under Settings, API Keys."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from monitoring.auth import service
from monitoring.auth.models import ApiKey
from monitoring.auth.sandboxes import open_sandbox
from monitoring.auth.scopes import DEFAULT_SCOPES, SCOPES
from monitoring.cli.commands import (
    AsJson,
    check_name,
    represent_moment,
    run_command,
    show_row,
    show_rows,
)
from monitoring.cli.failing import fail

app = typer.Typer(no_args_is_help=True, help=__doc__)


@app.command("create")
def create_key(
    team_name: Annotated[str, typer.Argument(help="The team the key belongs to.")],
    name: Annotated[str, typer.Option(callback=check_name, help="The key's name.")] = "API key",
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A scope of the key. Repeat the option for several. By default, "
                f"{' and '.join(DEFAULT_SCOPES)}."
            )
        ),
    ] = None,
    *,
    is_test: Annotated[bool, typer.Option("--test", help="A key to the team's sandbox, for tests.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create a key and show its secret, which cannot be shown again."""
    if unknown := set(scope or ()) - set(SCOPES):
        fail(f"There is no scope {', '.join(sorted(unknown))}; choose from {', '.join(SCOPES)}")
    created = run_command(_create_key(team_name, name, scope or list(DEFAULT_SCOPES), is_test=is_test))
    if created is None:
        fail(f"There is no team {team_name}")
    key, secret = created.key, created.client_secret
    shown = {"client_id": key.client_id, "client_secret": secret, "name": key.name, "scopes": key.scopes}
    show_row(shown, as_json=as_json)
    typer.echo("Keep the secret now: it is not stored and cannot be shown again.", err=True)


@app.command("list")
def list_keys(
    team_name: Annotated[str | None, typer.Option("--team", help="Only this team's keys.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List keys, including revoked ones, without secrets. The last use is accurate to a minute."""
    keys = run_command(_list_keys(team_name))
    if keys is None:
        fail(f"There is no team {team_name}")
    show_rows([_represent_key(key) for key in keys], as_json=as_json)


@app.command("revoke")
def revoke_key(
    client_id: Annotated[str, typer.Argument(help="The key's client_id.")], *, as_json: AsJson = False
) -> None:
    """Revoke a key. Its tokens are refused from the next request on."""
    key = run_command(service.revoke_key(client_id))
    if key is None:
        fail(f"There is no key {client_id}")
    show_row(_represent_key(key), as_json=as_json)


async def _create_key(
    team_name: str, name: str, scopes: list[str], *, is_test: bool
) -> service.CreatedKey | None:
    team = await service.find_team(team_name)
    if team is None:
        return None
    return await service.create_key(await open_sandbox(team.id) if is_test else team, name, scopes)


async def _list_keys(team_name: str | None) -> list[ApiKey] | None:
    if team_name is None:
        return await service.list_keys()
    team = await service.find_team(team_name)
    return await service.list_keys(team.id, of_both_worlds=True) if team else None


def _represent_key(key: ApiKey) -> dict[str, Any]:
    return {
        "client_id": key.client_id,
        "name": key.name,
        "team": key.team.name,
        "scopes": key.scopes,
        "created_at": represent_moment(key.created_at),
        "created_by": key.created_by,
        "last_used_at": represent_moment(key.last_used_at),
        "revoked_at": represent_moment(key.revoked_at),
    }
