"""`monitoring teams`: teams and their plans."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from tortoise.exceptions import IntegrityError

from monitoring.auth import service
from monitoring.auth.models import Team
from monitoring.cli.commands import (
    AsJson,
    check_name,
    represent_moment,
    run_command,
    show_row,
    show_rows,
)
from monitoring.cli.failing import fail
from monitoring.settings import read_settings

app = typer.Typer(no_args_is_help=True, help=__doc__)


@app.command("create")
def create_team(
    name: Annotated[str, typer.Argument(callback=check_name, help="The team's name, unique.")],
    plan: Annotated[
        str | None, typer.Option(help="One of the plans in PLANS; the first one if left out.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Create a team on a plan; the plan says how many monitors it can have."""
    plan = plan or next(iter(read_settings().plans))
    try:
        team = run_command(service.create_team(name, plan, _read_max_monitors(plan)))
    except IntegrityError:
        fail(f"There is a team {name} already")
    show_row(_represent_team(team), as_json=as_json)


@app.command("change-plan")
def change_plan(
    name: Annotated[str, typer.Argument(help="The team's name.")],
    plan: Annotated[str, typer.Argument(help="One of the plans in PLANS.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Move a team to a plan, or apply its plan's present limit. Monitors beyond the limit stay."""
    team = run_command(service.change_plan(name, plan, _read_max_monitors(plan)))
    if team is None:
        fail(f"There is no team {name}")
    show_row(_represent_team(team), as_json=as_json)


@app.command("list")
def list_teams(*, as_json: AsJson = False) -> None:
    """List all teams."""
    show_rows([_represent_team(team) for team in run_command(service.list_teams())], as_json=as_json)


def _read_max_monitors(plan: str) -> int:
    plans = read_settings().plans
    if plan not in plans:
        fail(f"There is no plan {plan}; PLANS has {', '.join(plans)}")
    return plans[plan]


def _represent_team(team: Team) -> dict[str, Any]:
    return {
        "id": str(team.id),
        "name": team.name,
        "plan": team.plan,
        "max_monitors": team.max_monitors,
        "created_at": represent_moment(team.created_at),
    }
