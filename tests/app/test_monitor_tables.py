"""Response times and checks as CSV: what the page shows, for spreadsheets."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import TYPE_CHECKING, Never
from unicodedata import lookup
from uuid import UUID, uuid4

import httpx
import pytest

from history.diary import make_result, write_down
from monitoring.app.csv_files import write_rows
from monitoring.app.monitors import downloads as monitor_tables
from monitoring.app.monitors.downloads import ROWS_AT_ONCE
from monitoring.backends.errors import DatabaseUnavailable
from monitors.conversations import create

if TYPE_CHECKING:
    from app.visitor import Visitor
    from cast import Player
    from running_service import RunningService

MINUTE = timedelta(minutes=1)
FILES = ("response-times.csv", "checks.csv")


class TestCells:
    @pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
    def test_are_never_formulas(self, text: str) -> None:
        assert next(csv.reader(StringIO(write_rows([[text]]), newline=""))) == [f"'{text}"]

    @pytest.mark.parametrize("name", ["EQUALS SIGN", "PLUS SIGN", "HYPHEN-MINUS", "COMMERCIAL AT"])
    def test_are_no_formulas_in_full_width_either(self, name: str) -> None:
        text = lookup(f"FULLWIDTH {name}") + "SUM(A1)"
        assert next(csv.reader(StringIO(write_rows([[text]]), newline=""))) == [f"'{text}"]

    def test_are_numbers_moments_or_empty(self) -> None:
        moment = datetime(2026, 11, 1, 13, 5, 59, tzinfo=UTC)
        assert write_rows([[moment, -5, None, 'a "b", c']]) == (
            '2026-11-01T13:05:59.000000Z,-5,,"a ""b"", c"\r\n'
        )


class TestChecks:
    def test_are_all_those_of_the_range_newest_first(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor, now = create(alice), datetime.now(UTC)
        monitor_id = UUID(monitor["id"])
        count = ROWS_AT_ONCE + 5
        moments = [now - timedelta(days=2) - n * MINUTE for n in range(count)]
        failure = make_result(monitor_id, now - MINUTE, "down", None, error="timeout", error_message="=cmd")
        service.run(write_down([failure, *(make_result(monitor_id, moment) for moment in moments)]))
        page = owner.open(f"/monitors/{monitor_id}/checks.csv?range=7d")
        assert page.headers["content-type"] == "text/csv; charset=utf-8"
        assert page.headers["content-disposition"].startswith('attachment; filename="checks-')
        rows = list(csv.DictReader(StringIO(page.text)))
        assert [datetime.fromisoformat(row["checked_at"]) for row in rows[1:]] == moments
        assert (rows[0]["outcome"], rows[0]["error_message"]) == ("down", "'=cmd")
        assert len(owner.open(f"/monitors/{monitor_id}/checks.csv").text.splitlines()) == 2

    def test_end_in_the_middle_when_the_database_goes_away(
        self, owner: Visitor, alice: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def fail(*_: object, **__: object) -> Never:
            raise DatabaseUnavailable("the database is away")

        monitor = create(alice)
        monkeypatch.setattr(monitor_tables, "list_results", fail)
        with pytest.raises(httpx.RemoteProtocolError):
            owner.open(f"/monitors/{monitor['id']}/checks.csv")

    @pytest.mark.parametrize(
        ("phases", "transfer_ms"),
        [
            ({"dns_ms": 1, "connect_ms": 2, "tls_ms": 3, "first_byte_ms": 4}, "5"),
            ({"dns_ms": None, "connect_ms": 2, "tls_ms": None, "first_byte_ms": 14}, "0"),
            ({"dns_ms": 1, "connect_ms": None, "tls_ms": None, "first_byte_ms": None}, ""),
        ],
    )
    def test_tell_each_phase_in_its_order(
        self,
        service: RunningService,
        owner: Visitor,
        alice: Player,
        phases: dict[str, int | None],
        transfer_ms: str,
    ) -> None:
        monitor_id = UUID(create(alice)["id"])
        service.run(write_down([make_result(monitor_id, datetime.now(UTC) - MINUTE, "up", 15, **phases)]))
        page = owner.open(f"/monitors/{monitor_id}/checks.csv")
        [row] = csv.DictReader(StringIO(page.text))
        assert list(row)[3:9] == ["response_time_ms", *phases, "transfer_ms"]
        assert row["transfer_ms"] == transfer_ms


class TestResponseTimes:
    def test_are_those_of_the_table(self, service: RunningService, owner: Visitor, alice: Player) -> None:
        monitor, now = create(alice), datetime.now(UTC)
        phases = {"dns_ms": 1, "connect_ms": 2, "tls_ms": 3, "first_byte_ms": 4}
        service.run(write_down([make_result(UUID(monitor["id"]), now - MINUTE, "up", 15, **phases)]))
        page = owner.open(f"/monitors/{monitor['id']}/response-times.csv?range=90d")
        rows = [row for row in csv.DictReader(StringIO(page.text)) if row["checks"] == "1"]
        assert [(row["p50_ms"], row["dns_ms"], row["first_byte_ms"], row["transfer_ms"]) for row in rows] == [
            ("15", "1.0", "4.0", "5.0")
        ]


@pytest.mark.parametrize("file", FILES)
def test_another_team_and_strangers_get_nothing(
    file: str, stranger: Visitor, outsider: Visitor, owner: Visitor, alice: Player
) -> None:
    path = f"/monitors/{create(alice)['id']}/{file}"
    assert owner.open(path).status_code == 200
    assert outsider.open(path).status_code == 404
    assert owner.open(f"/monitors/{uuid4()}/{file}").status_code == 404
    assert stranger.open(path).url.path == "/app/sign-in"
