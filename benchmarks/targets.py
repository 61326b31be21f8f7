"""Compares the results with the promised targets: ratios of CPU time within a run, and memory at rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rounds import Scenario, Spread, cost, ratio

SERVICE = "service"
FASTAPI = "FastAPI + SQLAlchemy"
STARLETTE = "Starlette + asyncpg, key cached"
ROW_BY_ROW = "FastAPI + SQLAlchemy, row by row"


@dataclass(frozen=True)
class Target:
    """The promised ratio of the costs of this service and a peer.

    The cost is the CPU time of the application, PostgreSQL and Redis together. `at_least` is the minimum
    ratio of the peer's cost to ours. `at_most` is the maximum ratio of our cost to the peer's.
    """

    scenario: str
    peer: str
    at_least: float | None = None
    at_most: float | None = None
    ours: str = SERVICE


@dataclass(frozen=True)
class MemoryLimit:
    """The maximum memory of one of the service's processes at rest."""

    scenario: str
    process: str
    at_most_mib: float


@dataclass(frozen=True)
class Verdict:
    """A promise, and what was measured."""

    title: str
    promise: str
    measured: Spread
    is_met: bool
    words: str


TARGETS = (
    *(
        Target(f"{operation}{connections}", peer, at_least=at_least, at_most=at_most)
        for operation, by_hand in (("list", 1.5), ("create", 1.25), ("get", 1.25))
        for connections in ("", "_one_connection")
        for peer, at_least, at_most in ((FASTAPI, 3.5, None), (STARLETTE, None, by_hand))
    ),
    Target("ingest_postgresql", ROW_BY_ROW, at_least=4),
    Target("ingest_postgresql_one_connection", ROW_BY_ROW, at_least=4),
    Target("ingest_sqlite", ROW_BY_ROW, at_least=4),
    Target("ingest_sqlite_one_connection", ROW_BY_ROW, at_least=4),
    Target("check_http", "blackbox_exporter", at_least=2.5),
    Target("check_http", "httpx loop + SQLAlchemy", at_least=4),
    Target("check_uptime_kuma", "Uptime Kuma", at_least=12),
    Target("check_https", "blackbox_exporter", at_least=1.2),
    Target("pages", "first page", at_most=1.1, ours="far page"),  # equal: less than 10 % is noise
    Target("start", FASTAPI, at_most=1.7),
)

MEMORY_LIMITS = (
    MemoryLimit("start", SERVICE, 115),
    MemoryLimit("start_commands", "worker", 85),
    MemoryLimit("start_commands", "checker", 85),
)


def judge(scenarios: Mapping[str, Scenario]) -> list[Verdict]:
    """Return a verdict on every target whose scenario was measured with its peer, in the targets' order."""
    ratios = [
        judge_target(target, scenarios[target.scenario])
        for target in TARGETS
        if target.scenario in scenarios and target.peer in scenarios[target.scenario].samples
    ]
    memory = [
        judge_memory(limit, scenarios[limit.scenario])
        for limit in MEMORY_LIMITS
        if limit.scenario in scenarios
    ]
    return ratios + memory


def left_out(scenarios: Mapping[str, Scenario]) -> list[str]:
    """Return a sentence for each scenario in which the peer of a target was not measured."""
    return [
        f"{scenarios[target.scenario].title}: {target.peer} takes no part"
        for target in TARGETS
        if target.scenario in scenarios and target.peer not in scenarios[target.scenario].samples
    ]


def judge_target(target: Target, scenario: Scenario) -> Verdict:
    """Return the verdict on one target, by the median of the rounds."""
    ours, theirs = scenario.samples[target.ours], scenario.samples[target.peer]
    if target.at_least is not None:
        measured = ratio(theirs, ours)
        promise = f"{target.peer} costs at least {target.at_least:g} times as much"
        missed_by = 1 - measured.median / target.at_least
    else:
        assert target.at_most is not None  # noqa: S101 - one of the two is given
        measured = ratio(ours, theirs)
        subject = "costs" if target.ours == SERVICE else f"{target.ours} costs"
        promise = f"{subject} at most {target.at_most:g} times as much as {target.peer}"
        missed_by = measured.median / target.at_most - 1
    return Verdict(scenario.title, promise, measured, missed_by <= 0, _spell(missed_by))


def judge_memory(limit: MemoryLimit, scenario: Scenario) -> Verdict:
    """Return the verdict on the memory of one process, by the median of its starts."""
    measured = cost(scenario.samples[limit.process], "memory_mib")
    missed_by = measured.median / limit.at_most_mib - 1
    promise = f"{limit.process} takes at most {limit.at_most_mib:g} MiB at rest"
    return Verdict(scenario.title, promise, measured, missed_by <= 0, _spell(missed_by))


def _spell(missed_by: float) -> str:
    if missed_by <= 0:
        return "met"
    return f"missed by {missed_by:.0%}" if missed_by >= 0.01 else "missed by less than 1%"
