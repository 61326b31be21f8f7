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


PlanArgument = Annotated[str | None, typer.Argument(metavar="PLAN", help="One of the plans in PLANS.")]
PlanOption = Annotated[
    str | None, typer.Option("--plan", help="The plan, as an option instead of an argument.")
]


@app.command("create")
def create_team(
    name: Annotated[str, typer.Argument(callback=check_name, help="The team's name, which must be unique.")],
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Create a team on a plan, which limits its number of monitors. The default is the first of PLANS."""
    plan = _chosen(plan, plan_option) or next(iter(read_settings().plans))
    try:
        team = run_command(service.create_team(name, plan, _read_max_monitors(plan)))
    except IntegrityError:
        fail(f"There is a team {name} already")
    show_row(_represent_team(team), as_json=as_json)


@app.command("change-plan")
def change_plan(
    name: Annotated[str, typer.Argument(help="The team's name.")],
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Move a team to a plan, or apply its plan's current limit. Monitors beyond the limit are kept."""
    plan = _chosen(plan, plan_option)
    if plan is None:
        fail("No plan is given: name one of those in PLANS")
    team = run_command(service.change_plan(name, plan, _read_max_monitors(plan)))
    if team is None:
        fail(f"There is no team {name}")
    show_row(_represent_team(team), as_json=as_json)


@app.command("list")
def list_teams(*, as_json: AsJson = False) -> None:
    """List all teams."""
    show_rows([_represent_team(team) for team in run_command(service.list_teams())], as_json=as_json)


def _chosen(argument: str | None, option: str | None) -> str | None:
    if argument and option and argument != option:
        fail(f"Two plans are given, {argument} and {option}: name only one")
    return argument or option


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
