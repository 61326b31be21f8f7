"""Answers that our protocol writes itself are byte for byte what uvicorn would write."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest
from uvicorn import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
from uvicorn.server import ServerState

from contract.stopped_loop import StoppedLoop
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import published_document
from monitoring.contract.uvicorn_bridge import WholeAnswers, protocol_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Receive, Scope, Send

    from monitoring.contract.uvicorn_bridge import ContractProtocol

pytestmark = pytest.mark.anyio

LENGTH = (b"content-length", b"2")
KEEP_ALIVE_SECONDS = 5


class Transport(asyncio.Transport):
    """Keeps each piece that is written."""

    def __init__(self) -> None:
        super().__init__(extra={"peername": ("127.0.0.1", 50_000), "sockname": ("127.0.0.1", 8000)})
        self.pieces: list[bytes] = []
        self.is_closed = False

    def write(self, data: Any) -> None:
        self.pieces.append(bytes(data))

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def write(
    kind: type[RequestResponseCycle],
    headers: Sequence[tuple[bytes, bytes]],
    *bodies: bytes,
    status: int = 200,
    method: str = "GET",
    keep_alive: bool = True,
) -> Transport:
    log, transport = logging.getLogger("uvicorn.error"), Transport()
    cycle = kind(
        scope={"type": "http", "method": method},  # type: ignore[typeddict-item]
        transport=transport,
        flow=FlowControl(transport),
        logger=log,
        access_logger=log,
        access_log=False,
        default_headers=[(b"date", b"Wed, 25 Nov 2026 11:00:00 GMT")],
        message_event=asyncio.Event(),
        expect_100_continue=False,
        keep_alive=keep_alive,
        on_response=lambda: None,
    )
    await cycle.send({"type": "http.response.start", "status": status, "headers": list(headers)})
    for number, body in enumerate(bodies, start=1):
        more = number < len(bodies)
        await cycle.send({"type": "http.response.body", "body": body, "more_body": more})
    assert cycle.response_complete
    return transport


class TestAnAnswer:
    @pytest.mark.parametrize(
        "answer",
        [
            {"headers": [LENGTH, (b"etag", b'"1"')], "bodies": [b"ok"]},
            {"headers": [LENGTH], "bodies": [b"ok"], "method": "POST", "status": 201},
            {"headers": [LENGTH], "bodies": [b""], "method": "HEAD"},
            {"headers": [LENGTH], "bodies": [b"ok"], "method": "HEAD"},
            {"headers": [], "bodies": [b""], "status": 204},
            {"headers": [(b"etag", b'"1"')], "bodies": [b""], "status": 304},
            {"headers": [(b"content-length", b"0")], "bodies": [b""], "status": 303},
            {"headers": [], "bodies": [b"ok"]},
            {"headers": [LENGTH], "bodies": [b"o", b"k"]},
            {"headers": [], "bodies": [b"o", b"", b"k"]},
            {"headers": [LENGTH], "bodies": [b"ok"], "keep_alive": False},
            {"headers": [LENGTH, (b"connection", b"close")], "bodies": [b"ok"]},
            {"headers": [(b"transfer-encoding", b"chunked")], "bodies": [b"ok"]},
            {"headers": [LENGTH, (b"x-tab", b"a\tb"), (b"x-latin", b"\xe9")], "bodies": [b"ok"]},
        ],
    )
    async def test_is_what_uvicorn_would_write(self, answer: dict[str, Any]) -> None:
        headers, bodies = answer.pop("headers"), answer.pop("bodies")
        ours = await write(WholeAnswers, headers, *bodies, **answer)
        theirs = await write(RequestResponseCycle, headers, *bodies, **answer)
        assert b"".join(ours.pieces) == b"".join(theirs.pieces)
        assert ours.is_closed == theirs.is_closed

    async def test_that_is_whole_is_written_at_once(self) -> None:
        transport = await write(WholeAnswers, [LENGTH], b"ok")
        assert len(transport.pieces) == 1

    @pytest.mark.parametrize("character", [b"\r", b"\n", b"\0", b"\x0b", b"\x7f"])
    async def test_with_a_control_character_in_a_header_is_refused(self, character: bytes) -> None:
        with pytest.raises(RuntimeError):
            await write(WholeAnswers, [LENGTH, (b"x-sent", b"a" + character + b"b")], b"ok")

    @pytest.mark.parametrize("length", [b"1", b"3"])
    async def test_of_another_length_than_it_declares_is_refused(self, length: bytes) -> None:
        with pytest.raises(RuntimeError):
            await write(WholeAnswers, [(b"content-length", length)], b"ok")


class TestAnIdleConnection:
    @pytest.fixture
    async def loop(self) -> StoppedLoop:
        return StoppedLoop()

    @pytest.fixture
    async def protocol(self, loop: StoppedLoop) -> ContractProtocol:
        async def say_nothing(scope: Scope, receive: Receive, send: Send) -> None: ...

        kind = protocol_for(Catalogue(published_document()))
        config = Config(say_nothing, lifespan="off", log_config=None, timeout_keep_alive=KEEP_ALIVE_SECONDS)
        protocol = kind(config, ServerState(), {}, loop)  # type: ignore[arg-type]  # it has what is called
        protocol.connection_made(Transport())
        return protocol

    async def test_is_closed_when_its_time_is_over(
        self, loop: StoppedLoop, protocol: ContractProtocol
    ) -> None:
        protocol.on_response_complete()
        loop.pass_until(4.9)
        assert not protocol.transport.is_closing()
        loop.pass_until(5)
        assert protocol.transport.is_closing()

    async def test_has_its_whole_time_after_each_answer(
        self, loop: StoppedLoop, protocol: ContractProtocol
    ) -> None:
        for moment in (0, 3, 7):
            loop.pass_until(moment)
            protocol.on_response_complete()
        loop.pass_until(11.9)
        assert not protocol.transport.is_closing()
        loop.pass_until(12)
        assert protocol.transport.is_closing()

    async def test_stays_while_a_request_arrives(self, loop: StoppedLoop, protocol: ContractProtocol) -> None:
        protocol.on_response_complete()
        loop.pass_until(4)
        protocol.data_received(b"GET / HTTP/1.1\r\n")
        loop.pass_until(12)
        assert not protocol.transport.is_closing()
        protocol.on_response_complete()
        loop.pass_until(17)
        assert protocol.transport.is_closing()

    async def test_needs_one_timer_for_many_requests(
        self, loop: StoppedLoop, protocol: ContractProtocol
    ) -> None:
        protocol.on_response_complete()
        timers = len(loop.timers)
        for _ in range(100):
            protocol.data_received(b"")
            protocol.on_response_complete()
        assert len(loop.timers) == timers
