from __future__ import annotations

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import orjson
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from cast import Player, form_team
from monitoring.backends.current import current_backends
from monitoring.notifications.channels.sender import open_sender
from monitoring.notifications.exams import queue_exam
from monitoring.notifications.models import ReceiverExam
from monitoring.notifications.tasks import examine_receiver
from monitoring.outbound.failures import blocked
from monitors.conversations import is_problem
from notifications.addressee import register as register_channel
from notifications.conversations import list_deliveries, path_of, register
from running_service import running_service
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.backends.assembly import Backends
    from monitoring.contract.catalogue import Catalogue
    from notifications.addressee import Addressee
    from running_service import RunningService

ORDER = ["good", "wrong_signature", "old_timestamp", "repeated", "later", "earlier", "large"]
REFUSED = {"wrong_signature", "old_timestamp"}


class Receiver(ThreadingHTTPServer):
    """A receiver by the book, whose faults a test names: what it does not verify, or does not accept."""

    daemon_threads = True

    def __init__(self, *faults: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/hooks"
        self.faults = set(faults)
        self.secret = ""
        self.seen: dict[str, str] = {}
        self.newest = ""
        self.has_ended = Event()

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.has_ended.set()
        self.shutdown()
        self.server_close()

    def judge(self, headers: dict[str, str], body: bytes) -> int:
        try:
            Webhook(self.secret).verify(body, headers)
        except WebhookVerificationError as error:
            fault = "timestamps" if "too old" in str(error) else "signatures"
            if fault not in self.faults:
                return 500 if "crashes" in self.faults else 401
        happened_at = orjson.loads(body)["timestamp"]
        if headers["webhook-id"] in self.seen and "duplicates" in self.faults:
            return 409
        if happened_at < self.newest and headers["webhook-id"] not in self.seen and "order" in self.faults:
            return 422
        if len(body) > 10_000 and "size" in self.faults:
            return 413
        self.seen[headers["webhook-id"]] = happened_at
        self.newest = max(self.newest, happened_at)
        return 204


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if "silent" in self.server.faults and len(body) > 10_000:
            self.server.has_ended.wait(30)
        self.send_response(self.server.judge({k.lower(): v for k, v in self.headers.items()}, body))
        self.send_header("X-Secret-Of-The-Receiver", "4711")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Be silent."""


@pytest.fixture(scope="module")
def reaching_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Run a service that may reach this machine."""
    with running_service(tmp_path_factory.mktemp("reaching"), allowed_networks="127.0.0.0/8") as running:
        yield running


@pytest.fixture
def wanda(reaching_service: RunningService) -> Iterator[Player]:
    with Player(reaching_service, form_team(reaching_service)) as player:
        yield player


async def work(exam: ReceiverExam) -> None:
    """Do what a worker does when it gets the exam's message."""
    async with open_sender(current_backends().settings):
        await examine_receiver.function(str(exam.id))


def examine(player: Player, receiver: Receiver, **headers: str) -> dict[str, Any]:
    webhook = register(player, url=receiver.url)
    receiver.secret = webhook["secret"]
    answer = player.post(f"{path_of(webhook)}/exam", headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    assert "4711" not in answer.text
    report: dict[str, Any] = answer.json()
    assert [result["message"] for result in report["results"]] == ORDER
    assert {each["message"] for each in report["results"] if each["expected"] == "refused"} == REFUSED
    return report


class TestReport:
    def test_a_receiver_by_the_book_passes(self, wanda: Player) -> None:
        with Receiver() as receiver:
            report = examine(wanda, receiver)
        assert (report["status"], report["passed"]) == ("finished", True)
        statuses = [(each["status_code"], each["sentence"]) for each in report["results"]]
        assert statuses == [
            (401, "Answered 401.") if name in REFUSED else (204, "Answered 204.") for name in ORDER
        ]
        assert len(receiver.seen) == 4  # the good one came twice, and two were forged

    @pytest.mark.parametrize(
        ("fault", "failing", "status_code"),
        [
            ("signatures", ["wrong_signature"], 204),
            ("timestamps", ["old_timestamp"], 204),
            ("crashes", ["wrong_signature", "old_timestamp"], 500),
            ("duplicates", ["repeated"], 409),
            ("order", ["earlier"], 422),
            ("size", ["large"], 413),
            ("silent", ["large"], None),
        ],
    )
    def test_each_fault_is_found_and_what_to_do_is_said(
        self, wanda: Player, fault: str, failing: list[str], status_code: int | None
    ) -> None:
        with Receiver(fault) as receiver:
            report = examine(wanda, receiver)
        wrong = [each for each in report["results"] if each["verdict"] == "wrong"]
        assert report["passed"] is False
        assert [each["message"] for each in wrong] == failing
        assert {each["status_code"] for each in wrong} == {status_code}
        said = f"Answered {status_code}. " if status_code else "No answer within 4 seconds"
        assert all(each["sentence"].startswith(said) for each in wrong)
        assert all(len(each["sentence"]) > len(said) + 20 for each in wrong)

    def test_a_receiver_that_refuses_everything_has_refused_nothing_rightly(self, wanda: Player) -> None:
        with Receiver() as receiver:
            webhook = register(wanda, url=receiver.url)
            receiver.secret = register(wanda, url=receiver.url)["secret"]
            report = wanda.post(f"{path_of(webhook)}/exam").json()
        assert [each["verdict"] for each in report["results"]] == ["wrong", *["not_sent"] * 6]
        assert report["results"][0]["status_code"] == 401
        assert receiver.seen == {}

    def test_nobody_there_is_a_finding(self, wanda: Player) -> None:
        with Receiver() as receiver:
            webhook = register(wanda, url=receiver.url)
        report = wanda.post(f"{path_of(webhook)}/exam").json()
        assert (report["passed"], report["results"][0]["status_code"]) == (False, None)
        assert [each["verdict"] for each in report["results"]] == ["wrong", *["not_sent"] * 6]

    def test_an_exam_is_no_delivery_and_disables_nothing(self, wanda: Player) -> None:
        with Receiver() as receiver:
            receiver.judge = lambda *_: HTTPStatus.GONE  # type: ignore[method-assign]
            webhook = register(wanda, url=receiver.url)
            wanda.post(f"{path_of(webhook)}/exam").raise_for_status()
        assert wanda.get(path_of(webhook)).json()["enabled"] is True
        assert list_deliveries(wanda, webhook) == []


class TestRequest:
    def test_the_same_key_gets_the_report_of_the_first_request(self, wanda: Player) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        with Receiver() as receiver:
            report = examine(wanda, receiver, **key)
            seen = dict(receiver.seen)
            (channel,) = wanda.get("/api/notification-channels").json()["notification_channels"]
            again = wanda.post(f"{path_of(channel)}/exam", headers=key)
            assert (again.json(), receiver.seen) == (report, seen)

    def test_only_a_webhook_is_examined(self, alice: Player, catalogue: Catalogue) -> None:
        slack = register(alice, type="slack", url="https://hooks.slack.com/services/T/B/x")
        answer = alice.post(f"{path_of(slack)}/exam")
        assert is_problem(answer, catalogue, "notification_channel_not_examinable")

    def test_a_disabled_webhook_is_not_examined(self, alice: Player, catalogue: Catalogue) -> None:
        answer = alice.post(f"{path_of(register(alice, enabled=False))}/exam")
        assert is_problem(answer, catalogue, "notification_channel_disabled")

    @pytest.mark.parametrize("channel_id", ["theirs", "019a9c4a-77d0-7e4e-b2f8-0c6a1d9e5f21", "none"])
    def test_what_is_not_the_teams_is_not_found(
        self, alice: Player, charlie: Player, catalogue: Catalogue, channel_id: str
    ) -> None:
        theirs = register(charlie)["id"] if channel_id == "theirs" else channel_id
        answer = alice.post(f"/api/notification-channels/{theirs}/exam")
        assert is_problem(answer, catalogue, "notification_channel_not_found")

    def test_who_may_only_read_examines_nothing(
        self, alice: Player, bob: Player, catalogue: Catalogue
    ) -> None:
        answer = bob.post(f"{path_of(register(alice))}/exam")
        assert is_problem(answer, catalogue, "insufficient_permissions", scope="monitors:write")

    def test_exams_share_the_limit_of_tests(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        folder = tmp_path_factory.mktemp("tight")
        with (
            running_service(folder, rate_limit_notifications="1/3600") as service,
            Player(service, form_team(service)) as player,
        ):
            webhook = register(player)
            assert player.post(f"{path_of(webhook)}/test").status_code == 200
            assert player.post(f"{path_of(webhook)}/exam").status_code == 429


@pytest.mark.anyio
class TestRow:
    async def test_a_second_message_examines_nothing(self, backends: Backends, addressee: Addressee) -> None:
        with backends.activate():
            channel = await register_channel(addressee.url)
            exam = await queue_exam(channel.team_id, channel.id)
            await work(exam)
            received = len(addressee.received)
            await work(exam)
            assert len(addressee.received) == received > 0

    async def test_a_private_address_stays_unreached(self, tmp_path: Path, addressee: Addressee) -> None:
        async with temporary_backends(tmp_path) as backends:
            with backends.activate():
                channel = await register_channel(addressee.url)
                exam = await queue_exam(channel.team_id, channel.id)
                await work(exam)
                results = (await ReceiverExam.get(id=exam.id)).results
        assert results
        assert results[0]["sentence"].startswith(blocked().failure.message)
        assert addressee.received == []

    async def test_a_channel_keeps_its_last_exam_alone(
        self, backends: Backends, addressee: Addressee
    ) -> None:
        with backends.activate():
            channel = await register_channel(addressee.url)
            await queue_exam(channel.team_id, channel.id)
            last = await queue_exam(channel.team_id, channel.id)
            assert await ReceiverExam.filter(channel_id=channel.id).values_list("id", flat=True) == [last.id]
            await channel.delete()
            assert await ReceiverExam.filter(channel_id=channel.id).count() == 0
