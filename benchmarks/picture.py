"""Draws a bar chart of each program's cost as an SVG, for light and dark pages."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from rounds import cost
from targets import SERVICE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rounds import Scenario

WIDTH, NAMES, BARS = 860, 270, 460
ROW, GAP = 20, 34

STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #57606a }
  .title { font-weight: 600; fill: #24292f }
  .ours { fill: #0969da } .theirs { fill: #afb8c1 } .backends { fill: #d8dee4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 } .title { fill: #f0f6fc }
    .ours { fill: #4493f8 } .theirs { fill: #656c76 } .backends { fill: #3d444d }
  }
"""


def draw_bars(scenarios: Sequence[Scenario]) -> str:
    """Draw a group of bars for each scenario, with its own scale. The light part of a bar is PostgreSQL."""
    parts, top = [], 30
    for scenario in scenarios:
        parts += list(_draw_scenario(scenario, top))
        top += GAP + ROW * len(scenario.samples)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img">',
            "<title>CPU an operation costs: the service and its peers</title>",
            f"<style>{STYLE}</style>",
            *parts,
            "</svg>",
            "",
        ]
    )


def _draw_scenario(scenario: Scenario, top: int) -> Iterator[str]:
    figures = {
        name: (cost(samples, "application_us").median, cost(samples, "postgres_us").median)
        for name, samples in scenario.samples.items()
    }
    scale = BARS / max(sum(both) for both in figures.values())
    yield f'<text class="title" x="0" y="{top - 8}">{escape(scenario.title)}</text>'
    for number, (name, (application, postgres)) in enumerate(figures.items()):
        y = top + ROW * number
        kind = "ours" if name == SERVICE else "theirs"
        length, backends = application * scale, postgres * scale
        yield f'<text x="0" y="{y + 13}">{escape(name)}</text>'
        yield f'<rect class="{kind}" x="{NAMES}" y="{y + 2}" width="{length:.1f}" height="{ROW - 5}"/>'
        if backends >= 1:
            x = NAMES + length
            place = f'x="{x:.1f}" y="{y + 2}" width="{backends:.1f}" height="{ROW - 5}"'
            yield f'<rect class="backends" {place}/>'
        x = NAMES + length + backends + 8
        yield f'<text x="{x:.1f}" y="{y + 13}">{_tell(application, postgres)}</text>'


def _tell(application: float, postgres: float) -> str:
    return f"{application:,.0f} µs" + (f" + {postgres:,.0f}" if postgres >= 1 else "")
