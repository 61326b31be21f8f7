"""Reads documents and validates responses in a separate process, which is killed if that takes too long.

A schema of a few lines can keep any validator busy for years. Limits on the form of schemas would not help,
because they would miss some of these schemas, or reject schemas that people use.
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
MAX_READING_SECONDS = 8.0  # to read a document: a mebibyte of YAML takes one or two seconds
MAX_MEMORY_BYTES = 1_073_741_824

_LENGTH_BYTES = 4

_T = TypeVar("_T")

_THREAD = ThreadPoolExecutor(1, "contracts")


class TooLongError(Exception):
    """The separate process took too much time or memory, and was killed. The next request starts it again."""


async def wait_apart(ask: Callable[..., _T], *arguments: object) -> _T:
    """Call `ask`, which waits for the separate process, in a dedicated thread. Calls run one at a time.

    The event loop's default thread pool is not used. It has few threads, and slow schemas would occupy all of
    them.
    """
    return await asyncio.get_running_loop().run_in_executor(_THREAD, ask, *arguments)


def find_rules_apart(document: Json, operation_id: str) -> dict[str, Json]:
    """Find an operation's rules in the separate process. Raises UnusableDocumentError.

    A document that takes longer than `MAX_READING_SECONDS` counts as too large.
    """
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
    """Validate a response in the separate process, and return its first violation, or None.

    `rules` is JSON. If `body` is None, only the status and the headers are validated. Raises TooLongError
    after `MAX_SECONDS`.
    """
    question = {"rules": rules, "status_code": status_code, "headers": headers, "body": body}
    answer = _APART.ask(question, MAX_SECONDS)
    violation = answer["violation"]
    return Violation(*violation) if violation else None


class _Apart:
    """The separate process. It starts with the first request and ends with this process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: Mapping[str, Json], max_seconds: float) -> dict[str, Json]:
        """Send a request and return its result. Requests are handled one at a time. Raises TooLongError."""
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
                pass  # the separate process ran out of memory or stack
            self._process.kill()
            self._process.communicate()
            self._process = None
            raise TooLongError


_APART = _Apart()


def _begin() -> subprocess.Popen[bytes]:
    """Start the separate process. Its environment has at most two variables, so it contains no secrets."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return subprocess.Popen(  # noqa: S603 - runs this module
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
    """Read a message. Raises EOFError if the pipe was closed."""
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
    """Serve requests from standard input until it is closed."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    try:
        while True:
            question = _read(sys.stdin.buffer)
            _write(sys.stdout.buffer, _answer(question))
    except EOFError:
        pass


if __name__ == "__main__":
    main()
