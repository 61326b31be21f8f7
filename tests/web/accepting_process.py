"""The work of a process that shares a listening socket with others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import uvloop
from uvicorn import Config

from monitoring.cli.stopping import Stop, run_until_stopped, say_ready
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import published_document
from monitoring.web.uvicorn_bridge import WebServer, protocol_for

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from socket import socket

    from starlette.types import Receive, Scope, Send


def answer_process_id(lifeline: Connection, listener: socket) -> None:
    """Answer every request with the id of this process, until the parent stops it."""

    async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"10")]})
        await send({"type": "http.response.body", "body": b"%010d" % os.getpid()})

    async def work(stop: Stop) -> None:
        protocol = protocol_for(Catalogue(published_document()))
        config = Config(answer, http=protocol, lifespan="off", log_config=None)
        await WebServer(config, stop.is_set, lambda _: say_ready(lifeline)).serve_until_stopped(listener)

    run_until_stopped(work, 5, lifeline=lifeline, loop_factory=uvloop.new_event_loop)
