"""Sends loads to the client process, and reads its results."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SERIAL = "0000000000"  # replaced with another number in every request
NO_END = 10**9


@dataclass(frozen=True)
class Load:
    """Requests to send in turn over several connections, for a time or until a number of them were sent."""

    ports: Sequence[int]
    requests: Sequence[str]
    body_bytes: tuple[int, int]
    connections: int = 8
    seconds: float = NO_END
    count: int = NO_END
    expected: str = ""


@dataclass(frozen=True)
class Answered:
    """The result of a load in which every response was a 2xx of the expected length."""

    count: int
    seconds: float
    median_ms: float
    p99_ms: float


class LoadClient:
    """The process that sends the loads."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, load: Load) -> Answered:
        """Send a load. Raises `RuntimeError` with the first unexpected answer."""
        to_client, from_client = self._process.stdin, self._process.stdout
        assert to_client  # noqa: S101 - both are pipes
        assert from_client  # noqa: S101
        print(json.dumps(vars(load)), file=to_client, flush=True)
        told = json.loads(from_client.readline())
        if "error" in told:
            raise RuntimeError(f"an unexpected answer: {told['error']}")
        return Answered(**told)


@contextmanager
def running_client() -> Iterator[LoadClient]:
    """Run the client process until the block ends."""
    command = [sys.executable, str(Path(__file__).with_name("load_client.py"))]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield LoadClient(process)
    finally:
        process.kill()
        process.wait()


def write_request(method: str, path: str, headers: Mapping[str, str] | None = None, body: Any = None) -> str:
    """Return the text of an HTTP request."""
    content = "" if body is None else json.dumps(body)  # ASCII, so each character is one byte
    described = {"Content-Type": "application/json", "Content-Length": str(len(content))} if content else {}
    fields = {"Host": "127.0.0.1", **(headers or {}), **described}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n{content}"
