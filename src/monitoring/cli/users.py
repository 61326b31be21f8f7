"""`monitoring users`: the users who may sign in to the app, which lists them under Settings, Members."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Annotated, Any, TypeVar

import typer

from monitoring.audit.actors import COMMAND_LINE
from monitoring.auth.service import find_team
from monitoring.cli.commands import AsJson, represent_moment, run_command, show_row, show_rows
from monitoring.cli.failing import fail
from monitoring.members import service
from monitoring.members.invitations import Invited, invite, make_reset_code
from monitoring.members.models import Role, User
from monitoring.members.refusals import Refused
from monitoring.settings import read_settings

Result = TypeVar("Result")

app = typer.Typer(no_args_is_help=True, help=__doc__)

Email = Annotated[str, typer.Argument(help="The person's email; case does not matter.")]


@app.command("invite")
def invite_user(
    email: Email,
    team_name: Annotated[str, typer.Option("--team", help="The team to join.")],
    role: Annotated[
        Role | None,
        typer.Option(
            help="The person's role. By default, owner if the team has no owner, and member otherwise."
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Create a code to join a team, and show it once."""
    invited = _run(_invite(email, team_name, role), email)
    if invited is None:
        fail(f"There is no team {team_name}")
    _show_code(invited, as_json=as_json)


@app.command("list")
def list_users(
    team_name: Annotated[str | None, typer.Option("--team", help="Only this team's members.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the users who may sign in."""
    users = run_command(_list_users(team_name))
    if users is None:
        fail(f"There is no team {team_name}")
    show_rows([_represent_user(user) for user in users], as_json=as_json)


@app.command("reset")
def reset_password(email: Email, *, as_json: AsJson = False) -> None:
    """Create a code to set a new password. The old password stays valid until then."""
    invited = _run(_make_reset_code(email), email)
    if invited is None:
        fail(f"There is no user {email}")
    _show_code(invited, as_json=as_json)


@app.command("remove")
def remove_user(email: Email, *, as_json: AsJson = False) -> None:
    """Remove a user and end their sessions. What they created stays."""
    user = _run(_remove_user(email), email)
    if user is None:
        fail(f"There is no user {email}")
    show_row(_represent_user(user), as_json=as_json)


async def _invite(email: str, team_name: str, role: Role | None) -> Invited | None:
    team = await find_team(team_name)
    if team is None:
        return None
    has_owner = any(user.role == Role.OWNER for user in await service.list_members(team.id))
    return await invite(team.id, email, role or (Role.MEMBER if has_owner else Role.OWNER), by=COMMAND_LINE)


async def _list_users(team_name: str | None) -> list[User] | None:
    if team_name is None:
        return await service.list_members()
    team = await find_team(team_name)
    return await service.list_members(team.id) if team else None


async def _make_reset_code(email: str) -> Invited | None:
    user = await service.find_user(email)
    return await make_reset_code(user.team_id, user.id, by=COMMAND_LINE) if user else None


async def _remove_user(email: str) -> User | None:
    user = await service.find_user(email)
    if user:
        await service.remove_member(user.team_id, user.id, by=COMMAND_LINE)
    return user


def _run(work: Coroutine[Any, Any, Result], email: str) -> Result:
    """Run a coroutine. If it raises `Refused`, print the reason, and end the command with status 1."""
    try:
        return run_command(work)
    except Refused as refused:
        fail(f"{email}: {refused.sentence}")


def _show_code(invited: Invited, *, as_json: bool) -> None:
    invitation = invited.invitation
    shown = {
        "email": invitation.email,
        "role": invitation.role,
        "address": f"{read_settings().base_url}/app/join",
        "code": invited.code,
        "expires_at": represent_moment(invitation.expires_at),
    }
    show_row(shown, as_json=as_json)
    typer.echo(
        "Give the person the address and the code. The code is not stored and cannot be shown again.",
        err=True,
    )


def _represent_user(user: User) -> dict[str, Any]:
    return {
        "email": user.email,
        "name": user.name,
        "team": user.team.name,
        "role": user.role,
        "created_at": represent_moment(user.created_at),
        "last_signed_in_at": represent_moment(user.last_signed_in_at),
    }
