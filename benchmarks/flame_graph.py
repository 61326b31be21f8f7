"""A flame graph as a static SVG: width is time, and a called function stands above its caller."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

WIDTH, ROW, MARGIN = 1200, 16, 24
LEAST_SHARE = 0.004  # narrower ones are left out
CHARACTER_WIDTH = 6.3
STYLE = """<style>
  text { font: 10.5px monospace; fill: #1f1300 } rect { stroke: #fff; stroke-width: .5 }
  .title { font: 600 13px system-ui, sans-serif; fill: #8a6d3b }
</style>"""
COLOURS = ("#e8a33d", "#e08a3c", "#d9713b", "#e6b655", "#dd9a4a", "#cf6a45")


@dataclass
class _Frame:
    count: int = 0
    callees: dict[str, _Frame] = field(default_factory=dict)


def draw_flames(title: str, stacks: Counter[tuple[str, ...]]) -> str:
    """Draw stacks, outermost frame at the bottom. The pointer shows a frame's whole name."""
    root = _Frame(stacks.total())
    for stack, count in stacks.items():
        frame = root
        for name in stack:
            frame = frame.callees.setdefault(_shorten(name), _Frame())
            frame.count += count
    boxes = list(_place(root, 0.0, 0, root.count))
    height = MARGIN + ROW * (max((level for level, *_ in boxes), default=0) + 2)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">',
            STYLE,
            f'<text class="title" x="4" y="15">{escape(title)}</text>',
            *(_draw(*box, height=height) for box in boxes),
            "</svg>",
            "",
        ]
    )


def _place(frame: _Frame, x: float, level: int, total: int) -> Iterator[tuple[int, float, float, str]]:
    """Yield level, position, width and name of every frame that is wide enough."""
    for name, callee in sorted(frame.callees.items()):
        width = callee.count / total * WIDTH
        if callee.count / total >= LEAST_SHARE:
            yield level, x, width, f"{name} {callee.count / total:.1%}"
            yield from _place(callee, x, level + 1, total)
        x += width


def _draw(level: int, x: float, width: float, name: str, *, height: int) -> str:
    y = height - ROW * (level + 2)
    shown = name[: max(0, int(width / CHARACTER_WIDTH) - 1)]
    colour = COLOURS[crc32(name.partition(" ")[0].encode()) % len(COLOURS)]
    label = f'<text x="{x + 3:.1f}" y="{y + 11}">{escape(shown)}</text>' if len(shown) > 3 else ""
    box = f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW}" fill="{colour}"/>'
    return f"<g><title>{escape(name)}</title>{box}{label}</g>"


def _shorten(name: str) -> str:
    """Name a frame by function and the end of its file's path, without the line."""
    function, _, place = name.partition(" (")
    path = re.sub(r":\d+\)$|\)$", "", place)
    return f"{function} {'/'.join(path.split('/')[-2:])}".strip()
