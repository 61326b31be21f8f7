"""The framework alone: routing, parsing and validation, with nothing behind them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from alone.monitor import LOCATION
from load import Load, write_request
from monitors_api import call
from rounds import Scenario, take_turns
from seeds import NEW_MONITOR
from servers import BENCHMARKS, SERVICE_PYTHON, Program, peer, running

if TYPE_CHECKING:
    from bench import Bench
    from rounds import Sample

BARE = "bare Starlette"


def measure_framework(bench: Bench) -> list[Scenario]:
    """Measure reading and creating a monitor that handlers have in memory. Starlette validates nothing."""
    programs = {
        "service": Program("framework", (str(SERVICE_PYTHON), str(BENCHMARKS / "alone" / "serve.py"))),
        BARE: peer("Starlette alone", "starlette_alone"),
        "stock Connexion": peer("Connexion alone", "connexion_alone"),
    }
    with ExitStack() as stack:
        servers = {name: stack.enter_context(running(program)) for name, program in programs.items()}

        def measure(key: str, title: str, request: str) -> Scenario:
            head, _, body = request.partition("\r\n\r\n")
            method, path, *_ = head.split(" ")

            def run(name: str) -> Sample:
                port = servers[name].port
                length = len(call(port, method, path, {}, body))
                load = Load([port], [request], (length, length), seconds=bench.effort.seconds)
                return bench.sample(load, servers[name])

            return Scenario(key, title, take_turns(list(servers), bench.effort.rounds, run))

        return [
            measure("framework_get", "Framework alone, GET", write_request("GET", LOCATION)),
            measure(
                "framework_post",
                "Framework alone, POST",
                write_request("POST", "/api/monitors", body=NEW_MONITOR),
            ),
        ]
