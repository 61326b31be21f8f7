from __future__ import annotations

from pathlib import Path

from rounds import Sample, Scenario
from tables import BEGIN, END, put_block, write_block
from targets import FASTAPI, STARLETTE

SCENARIOS = {
    "list": Scenario(
        "list",
        "List of 50",
        {
            "service": [Sample(1000.0, postgres_us=400.0, per_second=500.4, median_ms=9.04, p99_ms=9.5)] * 3,
            FASTAPI: [Sample(6000.0), Sample(3000.0), Sample(4200.0)],
            STARLETTE: [Sample(1400.0)] * 3,
        },
    ),
    "start_commands": Scenario(
        "start_commands",
        "Start",
        {"worker": [Sample(200.0, memory_mib=70.0)], "checker": [Sample(250.0, memory_mib=90.0)]},
    ),
    "by_locales": Scenario("by_locales", "By locales", {"5": [Sample(200.0)], "20": [Sample(250.0)]}),
}


def test_a_table_has_a_verdict_for_each_promise_and_a_row_for_each_candidate() -> None:
    block = write_block("make bench", "2 cores", SCENARIOS, ["A fact."])
    lines = block.splitlines()
    assert lines[0] == "`make bench` on 2 cores."
    assert [line for line in lines if line.endswith(("| met |", "% |"))] == [
        f"| List of 50 | {FASTAPI} costs at least 3.5 times as much | 3.00 (2.57 to 3.64) | missed by 14% |",
        f"| List of 50 | costs at most 1.5 times as much as {STARLETTE} | 1.00 (1.00 to 1.00) | met |",
        "| Start | worker takes at most 85 MiB at rest | 70.00 (70.00 to 70.00) | met |",
        "| Start | checker takes at most 85 MiB at rest | 90.00 (90.00 to 90.00) | missed by 6% |",
    ]
    assert (
        "| List of 50 | service | 1,400 (1,400 to 1,400) | 1.00 | 1,000 | 400 |  | 500 | 9.0 | 9.5 |  |"
        in lines
    )
    assert "|  | FastAPI + SQLAlchemy | 4,200 (3,600 to 5,100) | 3.00 | 4,200 |  |  |  |  |  |  |" in lines
    assert "| Start | worker | 200 (200 to 200) | 1.00 | 200 |  |  |  |  |  | 70 |" in lines
    assert lines[-1] == "- A fact."


def test_what_the_service_has_no_part_in_is_compared_with_the_first_row() -> None:
    assert "|  | 20 | 250 (250 to 250) | 1.25 | 250 |  |  |  |  |  |  |" in write_block("", "", SCENARIOS, [])


def test_where_nothing_is_promised_there_is_no_table_of_promises() -> None:
    block = write_block("", "", {"by_locales": SCENARIOS["by_locales"]}, [])
    assert "promise" not in block
    assert block.count("|---|") == 1


def test_every_row_of_a_table_has_as_many_columns_as_its_head() -> None:
    tables = [
        block.splitlines() for block in write_block("", "", SCENARIOS, []).split("\n\n") if "|" in block
    ]
    assert [{line.count("|") for line in table} for table in tables] == [{5}, {12}]


def test_only_what_stands_between_the_marks_of_a_page_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text(f"# Before\n\n{BEGIN}\nold\n{END}\n\n# After\n")
    for _ in range(2):
        put_block(page, "new")
    assert page.read_text() == f"# Before\n\n{BEGIN}\n\nnew\n\n{END}\n\n# After\n"
