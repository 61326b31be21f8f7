"""`monitoring exam publisher`, met by publishers over real connections."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import published_document
from service_process import MONITORING, TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

ERRORS = Catalogue(published_document())
TITLES = ["unavailable", "silent", "accepted", "refused"]


class Exam:
    """A running exam, and the client of a publisher."""

    def __init__(self, command: subprocess.Popen[str]) -> None:
        self.command = command
        assert command.stdout
        self.url, self.secret, _ = (command.stdout.readline().split()[-1] for _ in range(3))
        self.headers = {"X-Webhook-Secret": self.secret}

    def post(self, title: str, **options: Any) -> httpx.Response:
        sent = {"article": {"id": title, "title": title, "content": "Some text."}}
        return httpx.post(self.url, json=sent, **{"headers": self.headers, "timeout": 30, **options})

    def end(self) -> tuple[int, list[str]]:
        """Wait for the end. Return the status and the report's lines."""
        printed, _ = self.command.communicate(timeout=TIMEOUT_SECONDS)
        return self.command.returncode, printed.splitlines()


@contextmanager
def sitting(patience_seconds: int) -> Iterator[Exam]:
    command = subprocess.Popen(
        [*MONITORING, "exam", "publisher", "--patience", str(patience_seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Exam(command)
    finally:
        command.kill()
        _, said = command.communicate(timeout=TIMEOUT_SECONDS)
    assert "Traceback" not in said


@pytest.mark.long(seconds=10)
def test_a_publisher_by_the_book_passes() -> None:
    with sitting(patience_seconds=1) as exam:
        unavailable = exam.post("unavailable")
        assert (unavailable.status_code, unavailable.json()) == (
            503,
            ERRORS.respond("service_unavailable").body,
        )
        time.sleep(int(unavailable.headers["Retry-After"]))  # what the publisher is examined for
        assert exam.post("unavailable").json()["status"] == "accepted"
        with pytest.raises(httpx.ReadTimeout):
            exam.post("silent", timeout=0.5)
        assert exam.post("silent").status_code == 202
        assert exam.post("accepted").status_code == 202
        assert exam.post("refused").status_code == 400
        status, report = exam.end()
    assert [re.split(r"  |: ", line)[0] for line in report] == ["right"] * 4
    assert status == 0


def test_a_careless_publisher_is_told_each_fault() -> None:
    with sitting(patience_seconds=1) as exam:
        for title in TITLES:
            options = {"timeout": 0.5} if title == "silent" else {}
            try:
                exam.post(title, **options)
            except httpx.ReadTimeout:
                continue
            if title != "silent":
                exam.post(title)
        status, report = exam.end()
    assert status == 1
    assert [line.split()[0] for line in report] == ["WRONG"] * 4
    assert "Wait as long as Retry-After says" in report[0]
    assert "Not sent again" in report[1]


def test_what_the_service_would_refuse_is_refused_in_its_words_and_teaches_nothing() -> None:
    with sitting(patience_seconds=1) as exam:
        strange = exam.post("unavailable", headers={"X-Webhook-Secret": "another"})
        assert (strange.status_code, strange.json()) == (401, ERRORS.respond("webhook_secret_invalid").body)
        for content, status in (
            (b"{", 400),
            (b"[]", 400),
            (b'{"article": 7}', 400),
            (b"\xff", 400),
            (b"", 400),
        ):
            headers = {**exam.headers, "Content-Type": "application/json"}
            assert httpx.post(exam.url, content=content, headers=headers).status_code == status
        assert httpx.post(exam.url, content=b"a=b", headers=exam.headers).status_code == 415
        tested = httpx.post(exam.url, json={"event": "test"}, headers=exam.headers)
        assert tested.json()["status"] == "ignored"
        assert exam.post("unavailable").status_code == 503
        exam.command.send_signal(signal.SIGINT)
        status, report = exam.end()
    assert status == 1
    assert [line.split(": ")[1] for line in report[1:]] == ["No article came for this."] * 3
