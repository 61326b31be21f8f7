"""Checks that no service that a test starts logs a traceback, unless the test expects one.

A test that provokes errors that no code handles is marked `traceback_expected("why")`. The log of a service
in this process consists of the records from its threads. The log of a service in a separate process is read
when it ends.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MARK = "traceback_expected"
MAIL_SERVERS_LOG = "mail.log"  # the log of aiosmtpd, which only tests use
_BEGINNING = "Traceback (most recent call last)"


class Watch(logging.Handler):
    """Collects the tracebacks that services in this process log. They run in other threads than the tests."""

    def __init__(self) -> None:
        super().__init__()
        self._tracebacks: list[str] = []
        self._tests_thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record if it has a traceback."""
        is_of_a_service = record.thread != self._tests_thread and record.name != MAIL_SERVERS_LOG
        if record.exc_info and record.exc_info[0] and is_of_a_service:
            self._tracebacks.append(logging.Formatter().format(record))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Store whether the test expects tracebacks.

        This stays valid until the next test, as services may end between tests.
        """
        global _is_expected  # noqa: PLW0603 - services that end ask, whoever started them
        _is_expected = item.get_closest_marker(MARK) is not None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        """Fail a test during which a service logged a traceback."""
        yield
        found, self._tracebacks = self._tracebacks, []
        if found and not _is_expected:
            pytest.fail("A service logged:\n" + "\n".join(found), pytrace=False)


_is_expected = False


def watch(config: pytest.Config) -> None:
    """Watch the logs of services in this process from now on."""
    collector = Watch()
    config.pluginmanager.register(collector)
    logging.getLogger().addHandler(collector)


def demand_no_traceback(log: Path) -> None:
    """Fail the test if the log of a service in a separate process, which has ended, contains a traceback."""
    text = log.read_text(errors="replace")
    if find_traceback(text) and not _is_expected:
        pytest.fail(f"A service logged:\n{text}", pytrace=False)


def find_traceback(text: str) -> str:
    """Return the first traceback in a log and all text after it, or ""."""
    _, beginning, rest = text.partition(_BEGINNING)
    return beginning + rest
