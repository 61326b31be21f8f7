"""Settings, plan: how much of it is used, which limits hold, and how long data is kept."""

from __future__ import annotations

from starlette.responses import Response

from monitoring.app.routing import for_members
from monitoring.app.visits import Visit


async def show_plan(visit: Visit) -> Response:
    """Show the plan of the team, and the limits that hold for every team."""
    settings = visit.settings
    return visit.render(
        "account/plan.html",
        used=visit.team.monitors_count,
        allowed=visit.team.max_monitors,
        limits=[
            ("Calls of one API key, and pages of one person", settings.rate_limit_api),
            ("Extra checks your team requests", settings.rate_limit_check_now),
            ("Test notifications and redeliveries your team requests", settings.rate_limit_notifications),
        ],
        retention=[
            ("Each check", settings.check_retention_days),
            ("Response times by hour", settings.hourly_retention_days),
            ("Response times by day", settings.daily_retention_days),
        ],
        larger_plans=[
            (name, max_monitors)
            for name, max_monitors in settings.plans.items()
            if max_monitors > visit.team.max_monitors
        ],
    )


ROUTES = (for_members("/settings/plan", get=show_plan),)
