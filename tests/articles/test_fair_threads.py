"""Threads for work of many owners, who take turns."""

from __future__ import annotations

import threading
from concurrent.futures import wait
from functools import partial
from typing import TYPE_CHECKING

import pytest

from monitoring.articles.fair_threads import FairThreads

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def threads() -> Iterator[FairThreads]:
    threads = FairThreads(1, "test")
    yield threads
    threads.close()


@pytest.fixture
def gate(threads: FairThreads) -> threading.Event:
    """Hold the only thread."""
    gate = threading.Event()
    threads.submit("holder", lambda: gate.wait(30))
    return gate


def test_an_owner_does_not_wait_until_all_work_of_another_is_done(
    threads: FairThreads, gate: threading.Event
) -> None:
    done: list[str] = []
    names = ("a1", "a2", "a3", "b1", "b2")
    works = [threads.submit(name[0], partial(done.append, name)) for name in names]
    gate.set()
    for work in works:
        work.result(30)
    assert done == ["a1", "b1", "a2", "b2", "a3"]


def test_work_that_raises_leaves_the_thread_to_others(threads: FairThreads) -> None:
    failing = threads.submit("a", lambda: 1 // 0)
    assert threads.submit("a", lambda: "done").result(30) == "done"
    assert isinstance(failing.exception(30), ZeroDivisionError)


def test_cancelled_work_never_begins(threads: FairThreads, gate: threading.Event) -> None:
    done: list[str] = []
    threads.submit("a", lambda: done.append("cancelled")).cancel()
    last = threads.submit("a", lambda: done.append("last"))
    gate.set()
    last.result(30)
    assert done == ["last"]


def test_closing_leaves_nobody_waiting(threads: FairThreads, gate: threading.Event) -> None:
    waiting = [threads.submit(owner, lambda: None) for owner in ("a", "a", "b")]
    threads.close()
    waiting.append(threads.submit("b", lambda: None))
    gate.set()
    assert wait(waiting, 30).not_done == set()
    assert all(work.cancelled() for work in waiting)
