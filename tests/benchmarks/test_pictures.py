from __future__ import annotations

from xml.etree import ElementTree as ET

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
