"""The log of every service that a test starts holds no traceback, unless the test says why it does.

A test that lets a service meet what no code foresees is marked `traceback_expected("why")`. The log of a
service in this process is what its threads log. That of one in a process of its own is read when it ends.
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
MAIL_SERVERS_LOG = "mail.log"  # of aiosmtpd, a server of the tests
_BEGINNING = "Traceback (most recent call last)"


class Watch(logging.Handler):
    """Collects the tracebacks that services in this process log, whose threads are not that of the tests."""

    def __init__(self) -> None:
        super().__init__()
        self._tracebacks: list[str] = []
        self._tests_thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record if it has a traceback."""
        is_of_a_service = record.thread != self._tests_thread and record.name != MAIL_SERVERS_LOG
        if record.exc_info and record.exc_info[0] and is_of_a_service:
            self._tracebacks.append(logging.Formatter().format(record))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Note whether the test expects tracebacks, until the next one: services end between them."""
        global _is_expected  # noqa: PLW0603 - services that end ask, whoever started them
        _is_expected = item.get_closest_marker(MARK) is not None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        """Fail the test during which a service logged a traceback."""
        yield
        found, self._tracebacks = self._tracebacks, []
        if found and not _is_expected:
            pytest.fail("A service logged:\n" + "\n".join(found), pytrace=False)


_is_expected = False


def watch(config: pytest.Config) -> None:
    """Look at what services in this process log, from now on."""
    collector = Watch()
    config.pluginmanager.register(collector)
    logging.getLogger().addHandler(collector)


def demand_no_traceback(log: Path) -> None:
    """Read the log of a service in a process of its own, which has ended."""
    text = log.read_text(errors="replace")
    if find_traceback(text) and not _is_expected:
        pytest.fail(f"A service logged:\n{text}", pytrace=False)


def find_traceback(text: str) -> str:
    """Return the first traceback of a log, with all that follows, or nothing."""
    _, beginning, rest = text.partition(_BEGINNING)
    return beginning + rest
