"""What leaves the service: replies checked against the document, problems by name, headers on everything."""

import logging
from collections.abc import AsyncIterator

import httpx
import pytest

from bakery.loaves.handlers import KNOWN_LOAF_ID
from bakery.service import bakery_document, build_bakery
from monitoring.contract.publishing import publish
from monitoring.logs import RequestIdFilter
from monitoring.web.replies import Reply

ALICE = {"Authorization": "Bearer alice"}
MILLER = {"X-Delivery-Secret": "flour"}

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def bakery() -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=build_bakery(), raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://bakery") as client:
        yield client


class TestReplies:
    @pytest.mark.parametrize("how", ["well", "as_bytes"])
    async def test_that_keep_the_documents_promise_are_sent(
        self, bakery: httpx.AsyncClient, how: str
    ) -> None:
        answer = await bakery.get(f"/burnt/{how}")
        assert (answer.status_code, answer.json(), answer.headers["smell"]) == (200, {"size": 1}, "smoke")

    @pytest.mark.parametrize(
        ("how", "reason"),
        [
            ("extra_field", "Additional properties"),
            ("not_json", "body"),
            ("wrong_bytes", "body size"),
            ("no_header", "header missing: Smell"),
            ("wrong_status", "status 201"),
            ("wrong_type", "media type 'text/plain'"),
            ("no_body", "media type ''"),
        ],
    )
    async def test_that_break_it_are_logged_and_never_sent(
        self, bakery: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, how: str, reason: str
    ) -> None:
        answer = await bakery.get(f"/burnt/{how}")
        assert (answer.status_code, answer.json()) == (500, {"error": "Burnt"})
        assert reason in caplog.text
        assert "serve_burnt" in caplog.text

    async def test_without_a_body_have_no_content_type(self, bakery: httpx.AsyncClient) -> None:
        answer = await bakery.delete(f"/loaves/{KNOWN_LOAF_ID}", headers=ALICE)
        assert (answer.status_code, answer.content) == (204, b"")
        assert "content-type" not in answer.headers
        assert "content-length" not in answer.headers

    async def test_carry_headers_added_on_the_way(self, bakery: httpx.AsyncClient) -> None:
        answer = await bakery.get("/loaves", headers=ALICE)
        assert answer.headers["baked-for"] == "alice"


class TestProblems:
    async def test_have_the_documents_status_sentence_and_headers(self, bakery: httpx.AsyncClient) -> None:
        answer = await bakery.get("/loaves")
        assert (answer.status_code, answer.json()) == (401, {"error": "Stranger"})
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.headers["hint"] == "ask the baker"

    async def test_fill_in_their_values(self, bakery: httpx.AsyncClient) -> None:
        answer = await bakery.post("/deliveries", headers={**MILLER, "Oven-Is-Cold": "yes"})
        assert answer.status_code == 503
        assert answer.json() == {"error": "Oven 7 is cold", "retry_after_seconds": 12}
        assert answer.headers["retry-after"] == "12"
        assert answer.headers["oven"] == "number 7"

    async def test_that_lack_a_value_are_internal_errors(self, bakery: httpx.AsyncClient) -> None:
        answer = await bakery.post("/deliveries", headers={"X-Delivery-Secret": "shortage"})
        assert (answer.status_code, answer.json()) == (500, {"error": "Burnt"})

    async def test_unknown_exceptions_tell_the_log_and_not_the_client(
        self, bakery: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
    ) -> None:
        answer = await bakery.get("/burnt/crash")
        assert (answer.status_code, answer.json()) == (500, {"error": "Burnt"})
        assert "the secret recipe" in caplog.text


class TestPreconditions:
    async def test_come_after_security(self, bakery: httpx.AsyncClient) -> None:
        assert (await bakery.post("/deliveries", headers={"Oven-Is-Cold": "yes"})).status_code == 401

    async def test_come_before_the_body_is_judged(self, bakery: httpx.AsyncClient) -> None:
        answer = await bakery.post("/deliveries", headers={**MILLER, "Oven-Is-Cold": "yes"}, content=b"{")
        assert answer.status_code == 503

    async def test_that_hold_change_nothing(self, bakery: httpx.AsyncClient) -> None:
        answer = await bakery.post("/deliveries", headers=MILLER, json={"flour": {"kept": [1.0]}})
        assert (answer.status_code, answer.json()) == (202, {"flour": {"kept": [1.0]}})


class TestRequestIds:
    async def test_of_the_caller_come_back_if_they_are_sane(self, bakery: httpx.AsyncClient) -> None:
        answer = await bakery.get("/nowhere", headers={"X-Request-Id": "order-66.a_b"})
        assert answer.headers["x-request-id"] == "order-66.a_b"

    @pytest.mark.parametrize("insane", ["", "a b", "x" * 129, "ä", "<script>"])
    async def test_are_replaced_otherwise(self, bakery: httpx.AsyncClient, insane: str) -> None:
        answer = await bakery.get("/health", headers={b"X-Request-Id": insane.encode()})
        assert len(answer.headers["x-request-id"]) == 32

    async def test_stand_in_the_log(
        self, bakery: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.ERROR):
            caplog.handler.addFilter(request_ids := RequestIdFilter())
            await bakery.get("/burnt/crash", headers={"X-Request-Id": "order-67"})
            caplog.handler.removeFilter(request_ids)
        assert vars(caplog.records[-1])["request_id"] == "order-67"


class TestTheServiceAboutItself:
    async def test_serves_the_document_publish_to_ourselves(self, bakery: httpx.AsyncClient) -> None:
        assert (await bakery.get("/openapi.yaml")).content == bakery_document().published_yaml
        assert (await bakery.get("/openapi.json")).json() == publish(bakery_document().root)

    async def test_serves_a_page_that_fetches_nothing(self, bakery: httpx.AsyncClient) -> None:
        answer = await bakery.get("/docs")
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert all(operation_id in answer.text for operation_id in bakery_document().operations)
        assert " src=" not in answer.text
        assert "<link" not in answer.text

    async def test_is_ready_as_its_builder_says(self) -> None:
        async def judge() -> Reply:
            return Reply({"status": "kneading"})

        transport = httpx.ASGITransport(app=build_bakery(readiness=judge))
        async with httpx.AsyncClient(transport=transport, base_url="http://bakery") as client:
            assert (await client.get("/ready")).json() == {"status": "kneading"}
