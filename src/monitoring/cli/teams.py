"""`monitoring teams`: who owns monitors, on which plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from tortoise.exceptions import IntegrityError

from monitoring.auth import service
from monitoring.cli.commands import AsJson, check_name, fail, run_command, show_row, show_rows
from monitoring.settings import read_settings

if TYPE_CHECKING:
    from monitoring.auth.models import Team

app = typer.Typer(no_args_is_help=True, help=__doc__)


@app.command("create")
def create_team(
    name: Annotated[str, typer.Argument(callback=check_name, help="The team's name, unique.")],
    plan: Annotated[str, typer.Option(help="One of the plans in PLANS.")] = "free",
    *,
    as_json: AsJson = False,
) -> None:
    """Create a team on a plan; the plan says how many monitors it can have."""
    plans = read_settings().plans
    if plan not in plans:
        fail(f"There is no plan {plan}; PLANS has {', '.join(plans)}")
    try:
        team = run_command(service.create_team(name, plan, plans[plan]))
    except IntegrityError:
        fail(f"There is a team {name} already")
    show_row(_represent_team(team), as_json=as_json)


@app.command("list")
def list_teams(*, as_json: AsJson = False) -> None:
    """List all teams."""
    show_rows([_represent_team(team) for team in run_command(service.list_teams())], as_json=as_json)


def _represent_team(team: Team) -> dict[str, Any]:
    return {
        "id": str(team.id),
        "name": team.name,
        "plan": team.plan,
        "max_monitors": team.max_monitors,
        "created_at": team.created_at.isoformat(timespec="seconds"),
    }
