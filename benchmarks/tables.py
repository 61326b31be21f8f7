"""Renders the figures as tables, for the terminal and for docs/performance.md, between two markers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rounds import Scenario, cost, ratio
from targets import SERVICE, Verdict, judge

BEGIN, END = "<!-- figures: written by make bench -->", "<!-- end of figures -->"

EXPLANATION = """\
CPU microseconds per operation, of application, PostgreSQL and Redis together and of each alone: the median of
the rounds with its quartiles. The ratio says how many times as much a candidate costs in all as the service
(or as the first row): the median of the ratios within each round."""

SHOWN = ("application_us", "postgres_us", "redis_us", "per_second")


def write_block(command: str, machine: str, scenarios: Mapping[str, Scenario], facts: Sequence[str]) -> str:
    """Return the block for docs/performance.md: machine, targets, figures, and facts as sentences."""
    return "\n".join(
        [
            f"`{command}` on {machine}.",
            "",
            *_verdict_rows(judge(scenarios)),
            EXPLANATION,
            "",
            *_figure_rows(scenarios),
            "",
            *(f"- {fact}" for fact in facts),
        ]
    )


def put_block(page: Path, block: str) -> None:
    """Replace the text between the markers of a page."""
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{block}\n\n{END}{after}")


def _verdict_rows(verdicts: Sequence[Verdict]) -> Iterator[str]:
    if not verdicts:
        return
    yield "| | promise | measured | |"
    yield "|---|---|---|---|"
    for verdict in verdicts:
        measured = verdict.measured
        told = f"{measured.median:.2f} ({measured.low:.2f} to {measured.high:.2f})"
        yield f"| {verdict.title} | {verdict.promise} | {told} | {verdict.words} |"
    yield ""


def _figure_rows(scenarios: Mapping[str, Scenario]) -> Iterator[str]:
    yield "| | | in all | ratio | application | PostgreSQL | Redis | per second | median ms | p99 ms | MiB |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for scenario in scenarios.values():
        base = scenario.samples.get(SERVICE) or next(iter(scenario.samples.values()))
        for number, (name, samples) in enumerate(scenario.samples.items()):
            own, times = cost(samples), ratio(samples, base)
            columns = [
                "" if number else scenario.title,
                name,
                f"{own.median:,.0f} ({own.low:,.0f} to {own.high:,.0f})",
                f"{times.median:.2f}",
                *(_whole(cost(samples, field).median) for field in SHOWN),
                *(_tenths(cost(samples, field).median) for field in ("median_ms", "p99_ms")),
                _whole(cost(samples, "memory_mib").median),
            ]
            yield f"| {' | '.join(columns)} |"


def _tenths(figure: float) -> str:
    return f"{figure:,.1f}" if figure else ""


def _whole(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 1 else ""
