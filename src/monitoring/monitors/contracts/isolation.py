"""Reads documents and validates responses in a separate process, which is killed if that takes too long.

A schema of a few lines can keep any validator busy for years. No limit on a schema's form would reject all of
these but none that people use.
"""

from __future__ import annotations

import asyncio
import os
import resource
import select
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import IO, TypeVar

import orjson
import yaml

from monitoring.contract.document import Json
from monitoring.monitors.contracts.documents import UnusableDocumentError, find_rules
from monitoring.monitors.contracts.judging import Rules, Violation, read_rules

MAX_SECONDS = 3.0  # to validate a response
MAX_READING_SECONDS = 8.0  # to read a document: a mebibyte of YAML takes one or two
MAX_MEMORY_BYTES = 1_073_741_824

_LENGTH_BYTES = 4

_T = TypeVar("_T")

_THREAD = ThreadPoolExecutor(1, "contracts")


class TooLongError(Exception):
    """The other process took too long or too much memory. The next request starts a new one."""


async def wait_apart(ask: Callable[..., _T], *arguments: object) -> _T:
    """Run a call to the other process in a dedicated thread, one call at a time.

    The shared threads are few, and slow schemas would block them all.
    """
    return await asyncio.get_running_loop().run_in_executor(_THREAD, ask, *arguments)


def find_rules_apart(document: Json, operation_id: str) -> dict[str, Json]:
    """Return an operation's rules within `MAX_READING_SECONDS`. Raises UnusableDocumentError."""
    try:
        answer = _APART.ask({"document": document, "operation_id": operation_id}, MAX_READING_SECONDS)
    except TooLongError:
        raise UnusableDocumentError("too_large") from None
    if reason := answer.get("reason"):
        raise UnusableDocumentError(reason)
    rules: dict[str, Json] = answer["rules"]
    return rules


def judge_apart(
    rules: str, status_code: int, headers: Mapping[str, str], body: str | None
) -> Violation | None:
    """Validate a response against rules in JSON within `MAX_SECONDS`. Raises TooLongError."""
    question = {"rules": rules, "status_code": status_code, "headers": headers, "body": body}
    answer = _APART.ask(question, MAX_SECONDS)
    violation = answer["violation"]
    return Violation(*violation) if violation else None


class _Apart:
    """The other process, which starts with the first request and ends with this process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: Mapping[str, Json], max_seconds: float) -> dict[str, Json]:
        """Send a request and wait for the reply; one request at a time. Raises TooLongError."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._process = _begin()
            assert self._process.stdin  # noqa: S101 - it has pipes
            assert self._process.stdout  # noqa: S101
            try:
                _write(self._process.stdin, question)
                if select.select([self._process.stdout], [], [], max_seconds)[0]:
                    return _read(self._process.stdout)
            except (OSError, EOFError):
                pass  # it ran out of memory or stack
            self._process.kill()
            self._process.communicate()
            self._process = None
            raise TooLongError


_APART = _Apart()


def _begin() -> subprocess.Popen[bytes]:
    """Start the process without the environment's secrets."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-m", __name__],
        env=kept,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _write(pipe: IO[bytes], message: Mapping[str, Json]) -> None:
    written = orjson.dumps(message)
    pipe.write(len(written).to_bytes(_LENGTH_BYTES) + written)
    pipe.flush()


def _read(pipe: IO[bytes]) -> dict[str, Json]:
    """Read a message. Raises EOFError."""
    length = pipe.read(_LENGTH_BYTES)
    if len(length) < _LENGTH_BYTES:
        raise EOFError
    message: dict[str, Json] = orjson.loads(pipe.read(int.from_bytes(length)))
    return message


def _answer(question: Mapping[str, Json]) -> dict[str, Json]:
    if "document" not in question:
        rules = read_rules(question["rules"].encode())
        violation = rules.judge(question["status_code"], question["headers"], question["body"])
        return {"violation": list(violation) if violation else None}
    try:
        found = find_rules(_read_document(question["document"]), question["operation_id"])
        Rules(found).compile_all()
    except UnusableDocumentError as error:
        return {"reason": error.reason}
    except ValueError:
        return {"reason": "unreadable"}
    return {"rules": found}


def _read_document(document: Json) -> Json:
    """Return a document, parsed as JSON or YAML if it is text."""
    if not isinstance(document, str):
        return document
    try:
        return orjson.loads(document)
    except orjson.JSONDecodeError:
        try:
            return yaml.load(document, yaml.CSafeLoader)
        except (yaml.YAMLError, ValueError, RecursionError):
            raise UnusableDocumentError("unreadable") from None


def main() -> None:
    """Serve requests until there are no more."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    try:
        while True:
            question = _read(sys.stdin.buffer)
            _write(sys.stdout.buffer, _answer(question))
    except EOFError:
        pass


if __name__ == "__main__":
    main()
