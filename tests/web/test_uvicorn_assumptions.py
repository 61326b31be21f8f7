"""What `uvicorn_bridge` takes for granted about uvicorn 0.54, undocumented: an upgrade fails here first."""

from __future__ import annotations

import asyncio
import inspect
import logging
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import Server, ServerState, logger

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send
    from uvicorn._types import ASGISendEvent

pytestmark = pytest.mark.anyio


class Transport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.is_closed = False

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def write(self, data: Any) -> None:
        self.written += data

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed


async def say_nothing(scope: Scope, receive: Receive, send: Send) -> None: ...


def new_protocol(transport: Transport) -> HttpToolsProtocol:
    protocol = HttpToolsProtocol(Config(say_nothing, lifespan="off", log_config=None), ServerState(), {})
    protocol.connection_made(transport)
    return protocol


def new_cycle(transport: Transport) -> RequestResponseCycle:
    log = logging.getLogger("uvicorn.error")
    return RequestResponseCycle(
        scope={"type": "http", "method": "GET"},  # type: ignore[typeddict-item]
        transport=transport,
        flow=FlowControl(transport),
        logger=log,
        access_logger=log,
        access_log=False,
        default_headers=[],
        message_event=asyncio.Event(),
        expect_100_continue=False,
        keep_alive=True,
        on_response=lambda: None,
    )


def start(*headers: tuple[bytes, bytes]) -> ASGISendEvent:
    return {"type": "http.response.start", "status": 200, "headers": list(headers)}


def test_the_version_is_the_one_these_assumptions_were_read_from() -> None:
    assert version("uvicorn").startswith("0.54.")


class TestProtocol:
    async def test_collects_a_request_in_these_attributes(self) -> None:
        protocol = new_protocol(transport := Transport())
        protocol.on_message_begin()
        protocol.on_url(b"/monitors")
        protocol.on_header(b"Accept", b"*/*")
        assert protocol.url == b"/monitors"
        assert protocol.headers == [(b"accept", b"*/*")]
        assert protocol.scope["headers"] is protocol.headers
        assert protocol.transport is transport
        assert hasattr(protocol.parser, "get_method")
        assert isinstance(protocol.logger, logging.Logger)

    @pytest.mark.parametrize("callback", ["on_headers_complete", "on_body", "on_message_complete"])
    def test_asks_whether_to_upgrade_before_it_serves(self, callback: str) -> None:
        source = inspect.getsource(getattr(HttpToolsProtocol, callback))
        assert "self.parser.should_upgrade() and self._should_upgrade()" in source

    async def test_keeps_requests_that_come_while_another_is_answered_in_its_pipeline(self) -> None:
        protocol = new_protocol(Transport())
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 3)
        assert len(protocol.pipeline) == 2
        assert protocol.flow.read_paused
        assert not protocol.cycle.response_complete
        assert not protocol.cycle.more_body
        assert protocol.cycle.on_response == protocol.on_response_complete
        assert protocol.loop is asyncio.get_running_loop()
        assert hasattr(protocol, "client")

    async def test_tells_only_the_request_that_came_last_that_the_connection_is_lost(self) -> None:
        protocol = new_protocol(Transport())
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        answered = protocol.cycle
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        protocol.connection_lost(None)
        assert protocol.cycle.disconnected
        assert not answered.disconnected

    async def test_keeps_a_connection_open_by_a_timer_that_the_next_request_stops(self) -> None:
        protocol = new_protocol(Transport())
        protocol.timeout_keep_alive_task = asyncio.get_running_loop().call_later(60, lambda: None)
        protocol._unset_keepalive_if_required()  # noqa: SLF001
        assert protocol.timeout_keep_alive_task is None
        assert "self._unset_keepalive_if_required()" in inspect.getsource(HttpToolsProtocol.connection_lost)

    async def test_counts_an_answer_and_waits_for_the_next_request(self) -> None:
        protocol = new_protocol(transport := Transport())
        protocol.on_response_complete()
        assert protocol.server_state.total_requests == 1
        assert isinstance(protocol.timeout_keep_alive_task, asyncio.TimerHandle)
        assert protocol.timeout_keep_alive == 5
        protocol.timeout_keep_alive_handler()
        assert transport.is_closed

    async def test_is_told_that_the_server_stops(self) -> None:
        protocol = new_protocol(transport := Transport())
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        protocol.shutdown()
        assert not protocol.cycle.keep_alive
        assert not transport.is_closed
        assert "connection.shutdown()" in inspect.getsource(Server.shutdown)


class TestCycle:
    async def test_closes_the_connection_after_the_answer_if_it_is_not_to_be_kept(self) -> None:
        cycle = new_cycle(transport := Transport())
        cycle.keep_alive = False
        await cycle.send(start((b"content-length", b"0")))
        assert b"connection: close" in transport.written
        await cycle.send({"type": "http.response.body", "body": b""})
        assert transport.is_closed


class TestServer:
    def test_serves_between_its_own_startup_and_a_tick_that_says_stop(self) -> None:
        assert "with self.capture_signals():" in inspect.getsource(Server.serve)
        assert "await self.startup(sockets=sockets)" in inspect.getsource(Server._serve)  # noqa: SLF001
        assert "should_exit = await self.on_tick(counter)" in inspect.getsource(Server.main_loop)
        assert list(inspect.signature(Server.startup).parameters) == ["self", "sockets"]
        assert list(inspect.signature(Server.on_tick).parameters) == ["self", "counter"]

    async def test_has_started_when_its_sockets_are_known(self) -> None:
        config = Config(say_nothing, host="127.0.0.1", port=0, lifespan="off", log_config=None)
        config.load()
        server = Server(config)
        server.lifespan = config.lifespan_class(config)
        assert not server.started
        await server.startup()
        assert server.started
        assert server.servers[0].sockets[0].getsockname()[1]
        await server.shutdown()

    def test_logs_what_it_cuts_off_under_this_name(self) -> None:
        assert logger.name == "uvicorn.error"
