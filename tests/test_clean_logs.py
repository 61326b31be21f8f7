"""Tests that a traceback in a service's log fails the test, in whichever process the service runs."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import pytest

from clean_logs import Watch, demand_no_traceback

if TYPE_CHECKING:
    from pathlib import Path

log = logging.getLogger("of a service")
log.propagate = False


def break_down() -> None:
    try:
        int("nobody foresaw this")
    except ValueError:
        log.exception("it broke")


def end_test(watch: Watch) -> None:
    teardown = watch.pytest_runtest_teardown()
    next(teardown)
    next(teardown, None)


@pytest.fixture
def watch() -> Watch:
    collector = Watch()
    log.handlers = [collector]
    return collector


class TestAServiceInThisProcess:
    def test_fails_the_test_by_a_traceback_once(self, watch: Watch) -> None:
        service = threading.Thread(target=break_down)
        service.start()
        service.join()
        with pytest.raises(pytest.fail.Exception, match="nobody foresaw this"):
            end_test(watch)
        end_test(watch)

    def test_may_log_errors_without_one(self, watch: Watch) -> None:
        service = threading.Thread(target=log.error, args=["the database is away"])
        service.start()
        service.join()
        end_test(watch)

    def test_is_not_the_test_itself(self, watch: Watch) -> None:
        break_down()
        end_test(watch)


class TestAServiceInAProcessOfItsOwn:
    @pytest.mark.parametrize("indent", ["", "    ", '{"exc_info": "'])
    def test_fails_the_test_by_a_traceback_in_its_log(self, tmp_path: Path, indent: str) -> None:
        path = tmp_path / "log"
        path.write_text(f"INFO it began\n{indent}Traceback (most recent call last)\n")
        with pytest.raises(pytest.fail.Exception, match="it began"):
            demand_no_traceback(path)

    def test_may_say_anything_else(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        path.write_bytes(b"ERROR it broke\n\xff")
        demand_no_traceback(path)
