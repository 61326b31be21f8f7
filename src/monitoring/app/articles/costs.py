"""What translating costs: what engines were asked in a month, the budget, and what waits for it."""

from __future__ import annotations

import re
from datetime import date

from starlette.responses import Response

from monitoring.app.articles.pages import demand_articles
from monitoring.app.live.following import live
from monitoring.app.live.marks import EVERYWHERE, Shown, Source
from monitoring.app.routing import for_members
from monitoring.app.visits import Visit
from monitoring.articles.usage import count_waiting_for_budget, list_usage, this_month

_MONTH = re.compile(r"20[0-9]{2}-(0[1-9]|1[0-2])")


async def show_costs(visit: Visit) -> Response:
    """Show the month of the query, or this one."""
    demand_articles(visit)
    current, asked = this_month(), visit.query.get("month", "")
    month = asked if _MONTH.fullmatch(asked) and asked <= current else current
    rows = await list_usage(month)
    used = sum(row.characters for row in rows)
    budget = visit.settings.translation_monthly_characters
    return visit.render(
        "articles/costs.html",
        rows=rows,
        used=used,
        requests=sum(row.requests for row in rows),
        budget=budget,
        month_words=f"{date.fromisoformat(f'{month}-01'):%B %Y}",
        before=_month_before(month),
        is_current=month == current,
        waiting=await count_waiting_for_budget() if budget and month == current else 0,
    )


def _month_before(month: str) -> str:
    year, number = map(int, month.split("-"))
    return f"{year - (number == 1)}-{12 if number == 1 else number - 1:02}"


async def _name_sources(_: Visit) -> list[Shown]:
    return [Shown(Source.USAGE, EVERYWHERE)]


ROUTES = (for_members("/articles/costs", get=live(_name_sources, show_costs)),)
