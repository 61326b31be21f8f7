"""What was promised, as ratios of CPU within one run, and whether it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rounds import ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rounds import Scenario, Spread

SERVICE = "service"

# What is compared, if it is not the CPU of all three.
COMPARED = {"postgres_us": " (PostgreSQL's CPU)", "per_second": " (per second)"}


@dataclass(frozen=True)
class Target:
    """`at_least`: how many times as much the peer costs. `at_most`: how many times as much we cost.

    `field` is what is compared, by default the CPU of application, PostgreSQL and Redis together. With
    `per_second`, `at_least` says how many times as many operations we do.
    """

    scenario: str
    peer: str
    at_least: float | None = None
    at_most: float | None = None
    ours: str = SERVICE
    field: str = "total_us"


@dataclass(frozen=True)
class Verdict:
    """A target and what was measured. `application` is the same ratio, if only the application counted."""

    title: str
    promise: str
    measured: Spread
    application: Spread | None
    is_met: bool
    words: str


TARGETS = (
    Target("list", "FastAPI + SQLAlchemy", at_least=5),
    Target("list", "FastAPI + SQLAlchemy, key cached", at_least=4),
    Target("list", "Starlette + asyncpg, key cached", at_most=1),
    Target("list", "Go, key cached", at_most=1.6),
    Target("list_healthchecks", "Healthchecks under uwsgi", at_least=12),
    Target("create", "FastAPI + SQLAlchemy", at_least=3.5),
    Target("create", "Starlette + asyncpg, key cached", at_most=1),
    Target("create", "Go, key cached", at_most=1.6),
    Target("get", "Starlette + asyncpg, key cached", at_most=0.8),
    Target("get", "Go, key cached", at_most=2),
    Target("create_healthchecks", "Healthchecks under uwsgi", at_least=8),
    Target("framework_get", "bare Starlette", at_most=1.3),
    Target("framework_post", "bare Starlette", at_most=1.3),
    Target("ingest_postgresql", "FastAPI + SQLAlchemy, row by row", at_least=8),
    Target("ingest_sqlite", "FastAPI + SQLAlchemy, row by row", at_least=15),
    Target("ingest_sqlite", "FastAPI + SQLAlchemy, row by row", at_least=25, field="per_second"),
    Target("check_http", "blackbox_exporter", at_least=4),
    Target("check_https", "blackbox_exporter", at_least=1.4),
    Target("check_https", "Go's client, without storing", at_most=1.2),
    Target("check_uptime_kuma", "Uptime Kuma", at_least=18),
    Target("pages", "first page", at_most=1.2, ours="far page"),
    Target("pages", "first page", at_most=1.2, ours="far page", field="postgres_us"),
)

# Of peers that take part only if a checkout of theirs is named: docs/performance.md has recipes.
BY_RECIPE = {
    "list_healthchecks": "List of 50: Healthchecks under uwsgi costs at least 12 times as much",
    "create_healthchecks": "Create one: Healthchecks under uwsgi costs at least 8 times as much",
    "check_uptime_kuma": "One check, http: Uptime Kuma costs at least 18 times as much",
}


def judge(scenarios: Mapping[str, Scenario]) -> list[Verdict]:
    """Judge every target whose scenario was measured with its peer, in the order of the promises."""
    return [
        judge_target(target, scenarios[target.scenario])
        for target in TARGETS
        if target.scenario in scenarios and target.peer in scenarios[target.scenario].samples
    ]


def left_out(scenarios: Mapping[str, Scenario]) -> list[str]:
    """Name each scenario that was measured without a peer of its targets, with that peer."""
    return [
        f"{scenarios[target.scenario].title}: {target.peer} takes no part"
        for target in TARGETS
        if target.scenario in scenarios and target.peer not in scenarios[target.scenario].samples
    ]


def judge_target(target: Target, scenario: Scenario) -> Verdict:
    """Judge one target by the median of the rounds."""
    ours, theirs = scenario.samples[target.ours], scenario.samples[target.peer]
    title = f"{scenario.title}{COMPARED.get(target.field, '')}"
    if target.at_least is not None:
        is_speed = target.field == "per_second"
        measured = ratio(ours, theirs, target.field) if is_speed else ratio(theirs, ours, target.field)
        is_met, wanted = measured.median >= target.at_least, target.at_least
        promise = (
            f"at least {wanted:g} times as many as {target.peer}"
            if is_speed
            else f"{target.peer} costs at least {wanted:g} times as much"
        )
        missed_by = 1 - measured.median / wanted
    else:
        assert target.at_most is not None  # noqa: S101 - one of the two is given
        measured = ratio(ours, theirs, target.field)
        is_met, wanted = measured.median <= target.at_most, target.at_most
        subject = "costs" if target.ours == SERVICE else f"{target.ours} costs"
        promise = f"{subject} at most {wanted:g} times as much as {target.peer}"
        missed_by = measured.median / wanted - 1
    pair = (theirs, ours) if target.at_least is not None else (ours, theirs)
    application = ratio(*pair, "application_us") if target.field == "total_us" else None
    words = "met" if is_met else f"missed by {_spell_share(missed_by)}"
    return Verdict(title, promise, measured, application, is_met, words)


def _spell_share(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "less than 1%"
