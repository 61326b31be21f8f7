"""Compares the responses that the service returned during the contract tests with the documented ones.

If CONTRACT_REPORTS=<folder> is set, the services of a test run record each kind of response once in
<folder>/seen. `python contract-tests/seen.py <folder>/seen` counts them, and fails if a documented response
was never seen or if a seen response is undocumented.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from monitoring.asgi import MonitoringService
from monitoring.contract.catalogue import FIRST_ERROR_STATUS
from monitoring.web.connexion_bridge import operation_id_of
from promises import OPERATIONS
from spoken_errors import NO_OPERATION, SUCCESS, documented_answers, name_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.types import Message, Receive, Scope, Send

    from spoken_errors import Answer

UNDOCUMENTED = "?"


def record_every_service(folder: Path, backends: str) -> None:
    """Record every response of the services that this process starts from now on."""
    folder.mkdir(parents=True, exist_ok=True)
    notes = folder / f"{backends}-{os.getpid()}.jsonl"
    noted: set[Answer] = set()
    serve = MonitoringService.__call__

    def note(answer: Answer) -> None:
        if answer not in noted:
            noted.add(answer)
            with notes.open("ab") as file:
                file.write(orjson.dumps(answer) + b"\n")

    async def serve_and_note(app: MonitoringService, scope: Scope, receive: Receive, send: Send) -> None:
        # Responses to HEAD have no body, and preflight requests (OPTIONS) belong to no operation.
        if scope["type"] != "http" or scope["method"] in {"HEAD", "OPTIONS"}:
            await serve(app, scope, receive, send)
            return
        scope.setdefault("extensions", {})  # set here, so that this code can read what routing adds
        status, body = 0, b""

        async def send_and_look(message: Message) -> None:
            nonlocal status, body
            status = message.get("status", status)
            if status >= FIRST_ERROR_STATUS:
                body += message.get("body", b"")
            await send(message)

        await serve(app, scope, receive, send_and_look)
        if status:
            note(_answer(operation_id_of(scope), status, body))

    MonitoringService.__call__ = serve_and_note  # type: ignore[assignment, method-assign]


def _answer(operation_id: str, status: int, body: bytes) -> Answer:
    if status < FIRST_ERROR_STATUS:
        return operation_id, status, SUCCESS
    return operation_id, status, name_error(operation_id, status, body) or UNDOCUMENTED


def read_notes(folder: Path) -> dict[str, set[Answer]]:
    """Return the responses seen, by kind of backend."""
    seen: defaultdict[str, set[Answer]] = defaultdict(set)
    for notes in sorted(folder.glob("*.jsonl")):
        for line in notes.read_bytes().splitlines():
            operation_id, status, name = orjson.loads(line)
            seen[notes.name.partition("-")[0]].add((operation_id, status, name))
    return seen


def report(seen: Mapping[str, set[Answer]], documented: set[Answer]) -> Iterator[str]:
    """Yield the lines of a table that counts the documented responses that were seen.

    The table has a line for each operation and a column for each kind of backend.
    """
    columns = {**seen, "together": {answer for answers in seen.values() for answer in answers}}
    width = max(len(f"{operation_id} ") for operation_id in OPERATIONS)
    yield f"{'':{width}}" + "".join(f"  {name:^20}" for name in columns)
    yield f"{'seen/documented':{width}}" + f"  {'statuses':>9}  {'sentences':>9}" * len(columns)
    for operation_id in [*OPERATIONS, NO_OPERATION]:
        its_own = {answer for answer in documented if answer[0] == operation_id}
        counts = [_count(answers, its_own) for answers in columns.values()]
        yield f"{operation_id or '(no operation)':{width}}" + "".join(counts)
    operations = len({operation_id for operation_id, *_ in documented})
    yield f"{f'all {operations}':{width}}" + "".join(
        _count(answers, documented) for answers in columns.values()
    )


def _count(answers: set[Answer], documented: set[Answer]) -> str:
    seen = answers & documented
    statuses = [len({answer[:2] for answer in some}) for some in (seen, documented)]
    sentences = [len({answer for answer in some if answer[2] != SUCCESS}) for some in (seen, documented)]
    return "".join(f"  {f'{number}/{total}':>9}" for number, total in (statuses, sentences))


def main() -> int:
    """Print the report. Return 1 if a documented response was not seen, or a seen one is undocumented."""
    documented, seen = set(documented_answers()), read_notes(Path(sys.argv[1]))
    together = {answer for answers in seen.values() for answer in answers}
    lines = [*report(seen, documented)]
    for complaint, answers in (
        ("never seen", documented - together),
        ("undocumented", together - documented),
    ):
        lines += [f"{complaint}: {operation} {status} {name}" for operation, status, name in sorted(answers)]
    sys.stdout.write("\n".join([*lines, ""]))
    return int(documented != together)


if __name__ == "__main__":
    sys.exit(main())
