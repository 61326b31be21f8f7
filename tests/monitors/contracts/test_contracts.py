"""Contracts of monitors: what is refused, stored, shown, asked, judged and read again."""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from backends.dump import dump_database
from cast import Player, form_team
from monitoring.backends.encryption import MASK
from monitoring.checks.claims import claim_due
from monitoring.checks.prober import open_prober
from monitoring.contract.document import published_document
from monitoring.monitors.models import CheckState, Monitor
from monitors.contracts.promises import DOCUMENT, promise
from monitors.conversations import MONITORS, create, is_problem, list_ids, path_of, read
from running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.checks.probes.protocol import Finding
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

FINE = {"id": 1, "total": 1}


class Shop(ThreadingHTTPServer):
    """Serves orders, and the document that promises them, until told otherwise."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.document: Any = DOCUMENT
        self.order: Any = FINE
        self.tag: str | None = None
        self.not_modified_count = 0
        self.asked: list[tuple[str, str | None]] = []


class _Answers(BaseHTTPRequestHandler):
    server: Shop

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["Authorization"]))
        is_document = self.path == "/openapi.json"
        if is_document and self.server.tag and self.headers["If-None-Match"] == self.server.tag:
            self.server.not_modified_count += 1
            self.send_response(304)
            self.end_headers()
            return
        shown = self.server.document if is_document else self.server.order
        body = json.dumps(shown).encode()
        self.send_response(200 if shown else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Page", "1")
        if is_document and self.server.tag:
            self.send_header("ETag", self.server.tag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def shop() -> Iterator[Shop]:
    with Shop() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def open_service(tmp_path: Path) -> Iterator[RunningService]:
    """Run a service whose monitors may ask this machine."""
    with running_service(tmp_path, allowed_networks="127.0.0.0/8") as running:
        yield running


@pytest.fixture
def ana(open_service: RunningService) -> Iterator[Player]:
    with Player(open_service, form_team(open_service)) as player:
        yield player


@contextmanager
def checks_long_ago(service: RunningService, monitor: dict[str, Any]) -> Iterator[None]:
    """Pretend that the document was read a day ago."""

    async def pretend() -> None:
        read_at = datetime.now(UTC) - timedelta(days=1)
        await Monitor.filter(id=monitor["id"]).update(contract_read_at=read_at)

    service.run(pretend())
    yield


def check(service: RunningService, monitor: dict[str, Any]) -> Finding:
    """Check a monitor as a checker does."""

    async def probe() -> Finding:
        now = datetime.now(UTC)
        await CheckState.filter(monitor_id=monitor["id"]).update(due_at=now, claim=None)
        claimed = await claim_due(now + timedelta(seconds=1), 100)
        [ours] = [each for each in claimed if str(each.monitor_id) == monitor["id"]]
        async with open_prober(service.settings) as prober:
            return await prober.probe(ours)

    return service.run(probe())


def watch(player: Player, shop: Shop, **contract: Any) -> dict[str, Any]:
    """Create a monitor of an order, by default with the document that the shop serves."""
    given = {"operation_id": "get_order", **contract}
    if "document" not in given:
        given["document_url"] = f"{shop.url}/openapi.json"
    return create(player, url=f"{shop.url}/orders/7", contract=given)


class TestKeeping:
    def test_shows_the_settings_and_neither_document_nor_credential(
        self, open_service: RunningService, ana: Player, shop: Shop
    ) -> None:
        monitor = watch(ana, shop, document_authorization="Bearer a-secret-of-this-test")
        contract = read(ana, monitor)["contract"]
        assert contract.pop("document_read_at")
        assert contract == {
            "document_url": f"{shop.url}/openapi.json",
            "document_authorization": MASK,
            "operation_id": "get_order",
            "parameters": None,
            "refresh_interval_seconds": 3600,
            "violation": "down",
            "document_problem": None,
        }
        assert shop.asked == [("/openapi.json", "Bearer a-secret-of-this-test")]
        assert "a-secret-of-this-test" not in open_service.run(dump_database())

    def test_a_patch_is_merged_and_a_mask_keeps_the_credential(
        self, ana: Player, shop: Shop, catalogue: Catalogue
    ) -> None:
        monitor = watch(ana, shop, document_authorization="Bearer a-secret-of-this-test")
        patch = {"violation": "degraded", "document_authorization": MASK}
        contract = ana.patch(path_of(monitor), json={"contract": patch}).json()["contract"]
        assert (contract["violation"], contract["document_authorization"]) == ("degraded", MASK)
        assert shop.asked[-1] == ("/openapi.json", "Bearer a-secret-of-this-test")
        unchanging: list[dict[str, Any]] = [{"name": "Orders"}, {"contract": {}}]
        for nothing in unchanging:
            assert ana.patch(path_of(monitor), json=nothing).json()["contract"] == contract
        assert ana.patch(path_of(monitor), json={"contract": None}).json()["contract"] is None
        answer = ana.patch(path_of(monitor), json={"contract": {"violation": "down"}})
        assert is_problem(answer, catalogue, "contract_incomplete", field="operation_id")

    def test_a_document_that_was_sent_serves_until_another_operation_is_chosen(
        self, ana: Player, shop: Shop, catalogue: Catalogue
    ) -> None:
        monitor = watch(ana, shop, document=DOCUMENT)
        patch = {"contract": {"parameters": {"order_id": 8}}}
        assert ana.patch(path_of(monitor), json=patch).json()["contract"]["parameters"] == {"order_id": 8}
        answer = ana.patch(path_of(monitor), json={"contract": {"operation_id": "list_orders"}})
        assert is_problem(answer, catalogue, "contract_incomplete", field="document")
        assert shop.asked == []

    def test_a_contract_that_is_put_again_keeps_its_credential_and_changes_nothing(
        self, ana: Player, shop: Shop
    ) -> None:
        contract = {"document_url": f"{shop.url}/openapi.json", "operation_id": "get_order"}
        given: dict[str, Any] = {"url": f"{shop.url}/orders/7", "contract": contract}
        secret = {"document_authorization": "Bearer a-secret-of-this-test"}
        path = f"{MONITORS}/by-key/orders"
        assert ana.put(path, json={**given, "contract": {**contract, **secret}}).status_code == 201
        again = ana.put(path, json=given).json()
        assert again["changed_fields"] == []
        assert again["monitor"]["contract"]["document_authorization"] == MASK
        assert shop.asked[-1] == ("/openapi.json", "Bearer a-secret-of-this-test")
        shop.document = promise({"type": "object"})  # which is read again at its own interval
        assert ana.put(path, json=given).json()["changed_fields"] == []
        changed = ana.put(path, json={**given, "contract": {**contract, "violation": "degraded"}})
        assert changed.json()["changed_fields"] == ["contract.violation"]
        assert ana.put(path, json={"url": shop.url}).json()["monitor"]["contract"] is None


class TestRefusing:
    def test_a_document_that_cannot_be_fetched_is_refused_before_anything_is_stored(
        self, ana: Player, shop: Shop, catalogue: Catalogue
    ) -> None:
        shop.document = None
        contract = {"document_url": f"{shop.url}/openapi.json", "operation_id": "get_order"}
        answer = ana.post(MONITORS, json={"url": shop.url, "contract": contract})
        reason = "The server answered 404 instead of 200"
        assert is_problem(answer, catalogue, "contract_document_not_fetched", reason=reason)
        assert list_ids(ana) == []

    def test_a_document_in_a_network_that_is_closed_is_not_asked_for(
        self, alice: Player, shop: Shop, catalogue: Catalogue
    ) -> None:
        contract = {"document_url": f"{shop.url}/openapi.json", "operation_id": "get_order"}
        answer = alice.post(MONITORS, json={"url": shop.url, "contract": contract})
        reason = "The address is not one that may be reached from here"
        assert is_problem(answer, catalogue, "contract_document_not_fetched", reason=reason)
        assert shop.asked == []

    def test_a_document_that_is_empty_is_none(self, alice: Player, catalogue: Catalogue) -> None:
        contract = {"document": {}, "operation_id": "get_order"}
        answer = alice.post(MONITORS, json={"url": "https://a.example/", "contract": contract})
        assert is_problem(answer, catalogue, "contract_unreadable")

    @pytest.mark.parametrize(
        ("contract", "field"),
        [
            ({"operation_id": "get_order"}, "contract.document"),
            ({"document": DOCUMENT}, "contract.operation_id"),
            (
                {"document": {}, "document_url": "https://a.example/", "operation_id": "a"},
                "contract.document",
            ),
        ],
    )
    def test_a_contract_has_one_document_and_one_operation(
        self, alice: Player, contract: dict[str, Any], field: str
    ) -> None:
        answer = alice.post(MONITORS, json={"url": "https://a.example/", "contract": contract})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{field}: ")

    def test_what_was_read_can_be_sent_back(self, ana: Player, shop: Shop) -> None:
        monitor = watch(ana, shop)
        changed = ana.patch(path_of(monitor), json={**monitor, "name": "Orders"})
        assert changed.status_code == 200
        after = changed.json()
        assert (after["name"], after["contract"]) == ("Orders", monitor["contract"])
        assert [path for path, _ in shop.asked] == ["/openapi.json"]

    @pytest.mark.parametrize("sent", [{}, {"document": DOCUMENT}])
    def test_what_changes_nothing_is_no_change(self, ana: Player, shop: Shop, sent: dict[str, Any]) -> None:
        monitor = watch(ana, shop, **sent)
        shown = ana.get(path_of(monitor))
        contract = {**shown.json()["contract"], **sent}
        again = ana.patch(path_of(monitor), json={"contract": contract})
        assert (again.status_code, again.headers["etag"]) == (200, shown.headers["etag"])
        assert again.json()["updated_at"] == shown.json()["updated_at"]

    def test_what_changes_nothing_after_a_change_is_no_change_either(self, ana: Player, shop: Shop) -> None:
        monitor = watch(ana, shop)
        changed = ana.patch(path_of(monitor), json={"contract": {"violation": "degraded"}})
        fetched = len(shop.asked)
        again = ana.patch(path_of(monitor), json={"contract": changed.json()["contract"]})
        assert (again.status_code, again.headers["etag"]) == (200, changed.headers["etag"])
        assert len(shop.asked) == fetched

    def test_nothing_is_fetched_for_a_monitor_that_can_have_none(
        self, ana: Player, shop: Shop, catalogue: Catalogue
    ) -> None:
        monitor = create(ana, type="tcp", url="tcp://db.example.com:5432")
        contract = {"document_url": f"{shop.url}/openapi.json", "operation_id": "get_order"}
        answer = ana.patch(path_of(monitor), json={"contract": contract})
        problem = "is only for monitors of type http"
        assert is_problem(answer, catalogue, "monitor_contradicted", field="contract", problem=problem)
        assert shop.asked == []


class TestJudging:
    def test_an_answer_that_keeps_its_promise_is_up(
        self, open_service: RunningService, ana: Player, shop: Shop
    ) -> None:
        assert check(open_service, watch(ana, shop)).outcome == "up"

    @pytest.mark.parametrize("violation", ["down", "degraded"])
    def test_a_violation_is_what_the_user_chose_and_quotes_no_value(
        self, open_service: RunningService, ana: Player, shop: Shop, violation: str
    ) -> None:
        shop.order = {"id": "a-secret", "total": 1}
        finding = check(open_service, watch(ana, shop, violation=violation))
        assert (finding.outcome, finding.error) == (violation, "contract_violated")
        assert finding.message == 'The answer breaks its contract at /id: value is not of type "integer"'

    def test_with_parameters_the_path_of_the_operation_is_asked(
        self, open_service: RunningService, ana: Player, shop: Shop
    ) -> None:
        monitor = watch(ana, shop, parameters={"order_id": "a/b", "expand": True})
        ana.patch(path_of(monitor), json={"url": shop.url})
        assert check(open_service, monitor).outcome == "up"
        assert shop.asked[-1][0] == "/orders/a%2Fb?expand=true"


class TestReadingAgain:
    def test_follows_a_document_that_changes(
        self, open_service: RunningService, ana: Player, shop: Shop
    ) -> None:
        monitor = watch(ana, shop)
        shop.document = promise({"required": ["currency"]})
        assert check(open_service, monitor).outcome == "up"
        with checks_long_ago(open_service, monitor):
            assert check(open_service, monitor).error == "contract_violated"
        assert check(open_service, monitor).error == "contract_violated"
        assert [path for path, _ in shop.asked].count("/openapi.json") == 2

    def test_is_told_by_its_server_that_it_has_not_changed(
        self, open_service: RunningService, ana: Player, shop: Shop
    ) -> None:
        shop.tag = '"one"'
        monitor = watch(ana, shop)
        for _ in range(2):
            with checks_long_ago(open_service, monitor):
                assert check(open_service, monitor).outcome == "up"
        assert shop.not_modified_count == 2
        shop.tag, shop.document = '"two"', promise({"required": ["currency"]})
        with checks_long_ago(open_service, monitor):
            assert check(open_service, monitor).error == "contract_violated"
        assert shop.not_modified_count == 2

    def test_keeps_the_last_document_and_is_degraded_while_it_has_disappeared(
        self, open_service: RunningService, ana: Player, shop: Shop
    ) -> None:
        monitor = watch(ana, shop)
        shop.document = None
        with checks_long_ago(open_service, monitor):
            finding = check(open_service, monitor)
        assert (finding.outcome, finding.error) == ("degraded", "contract_unavailable")
        problem = "The server answered 404 instead of 200"
        assert finding.message == f"The document of the contract could not be read again: {problem}"
        assert read(ana, monitor)["contract"]["document_problem"] == problem
        shop.order = {"id": "a", "total": 1}
        assert check(open_service, monitor).error == "contract_violated"
        shop.order, shop.document = FINE, DOCUMENT
        assert check(open_service, monitor).outcome == "up"
        assert read(ana, monitor)["contract"]["document_problem"] is None


class TestOurOwnDocument:
    def test_a_running_service_is_held_to_it(self, open_service: RunningService, ana: Player) -> None:
        for operation_id in ("get_health", "get_jwks", "get_oauth_metadata", "get_entrance"):
            operation = published_document().operations[operation_id]
            monitor = create(
                ana,
                url=f"{open_service.base_url}{operation.path}",
                contract={
                    "document_url": f"{open_service.base_url}/openapi.yaml",
                    "operation_id": operation_id,
                },
            )
            finding = check(open_service, monitor)
            assert (finding.outcome, finding.message) == ("up", None)

    def test_what_asks_for_a_token_is_held_to_it_too(self, open_service: RunningService, ana: Player) -> None:
        create(ana)
        monitor = create(
            ana,
            url=open_service.base_url,
            request_headers={"Authorization": ana.headers["Authorization"]},
            contract={
                "document_url": f"{open_service.base_url}/openapi.json",
                "operation_id": "list_monitors",
                "parameters": {"limit": 1},
            },
        )
        finding = check(open_service, monitor)
        assert (finding.outcome, finding.message) == ("up", None)
