from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree as ET

import pytest

from flame_graph import draw_flames
from picture import BARS, draw_bars
from rounds import Sample, Scenario

SVG = "{http://www.w3.org/2000/svg}"


def read(svg: str) -> ET.Element:
    root = ET.fromstring(svg)  # noqa: S314 - of our own making
    assert root.tag == f"{SVG}svg"
    return root


def texts(root: ET.Element) -> list[str | None]:
    return [element.text for element in root.iter(f"{SVG}text")]


class TestBars:
    def test_are_an_svg_that_names_everybody_and_what_they_cost(self) -> None:
        samples = {"service": [Sample(500.0, postgres_us=250.0)], "<peer> & others": [Sample(2000.0)]}
        root = read(draw_bars([Scenario("list", "List of 50", samples)]))
        assert texts(root) == ["List of 50", "service", "500 µs + 250", "<peer> & others", "2,000 µs"]

    def test_are_as_long_as_what_they_stand_for_and_none_leaves_the_picture(self) -> None:
        samples = {"service": [Sample(500.0, postgres_us=250.0)], "peer": [Sample(2000.0)]}
        root = read(draw_bars([Scenario("list", "List of 50", samples)]))
        bars = [(bar.get("class"), float(bar.get("width", ""))) for bar in root.iter(f"{SVG}rect")]
        assert bars == [("ours", BARS / 4), ("backends", BARS / 8), ("theirs", BARS)]
        height = float(root.get("viewBox", "").split()[3])
        assert all(
            float(bar.get("y", "")) + float(bar.get("height", "")) <= height
            for bar in root.iter(f"{SVG}rect")
        )

    def test_of_no_scenario_are_an_empty_picture(self) -> None:
        assert texts(read(draw_bars([]))) == []


class TestFlames:
    def test_are_an_svg_in_which_callees_stand_above_their_caller(self) -> None:
        stacks = Counter({("run (loop.py:1)", "<lambda> (app.py:2)"): 3, ("run (loop.py:1)",): 1})
        root = read(draw_flames("H1 & more", stacks))
        boxes = {
            group.findtext(f"{SVG}title"): group.find(f"{SVG}rect").attrib  # type: ignore[union-attr]
            for group in root.iter(f"{SVG}g")
        }
        caller, callee = boxes["run loop.py 100.0%"], boxes["<lambda> app.py 75.0%"]
        assert float(callee["y"]) < float(caller["y"])
        assert float(callee["width"]) == pytest.approx(float(caller["width"]) * 0.75)

    def test_of_nothing_are_an_empty_picture(self) -> None:
        assert texts(read(draw_flames("H1", Counter()))) == ["H1"]
