"""The API as a client sees it: several addresses, any of which may not answer."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import httpx

from answers import DOCUMENT, Answers, UndocumentedAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from journal import Journal

REQUEST_TIMEOUT_SECONDS = 6.0  # real publishers wait about as long
PATIENCE_SECONDS = 90.0
PAUSE_SECONDS = (0.1, 0.6)

AWAY = "503 service_unavailable"


class OutOfPatience(Exception):  # noqa: N818 - it describes the client
    """A request was repeated for minutes without the wanted answer."""


@dataclass(frozen=True)
class Replica:
    """One API process and its address."""

    name: str
    base_url: str


class Replicas:
    """Sends requests, checks that the document has every answer, and repeats requests when in doubt."""

    def __init__(self, replicas: Sequence[Replica], journal: Journal) -> None:
        self.all = replicas
        self.journal = journal
        self._answers = Answers()
        self._turns: Iterator[int] = count()
        # A new connection for each request: a pooled one found dead would look like a refused request.
        self._client = httpx.Client(
            timeout=REQUEST_TIMEOUT_SECONDS, limits=httpx.Limits(max_keepalive_connections=0), trust_env=False
        )

    def insist(
        self, operation_id: str, wanted: str, *, at: Replica | None = None, **request: Any
    ) -> httpx.Response:
        """Repeat a request until the wanted answer comes, at one replica or each time at another.

        "Away" is the only other answer allowed. Raises `OutOfPatience`.
        """
        begun = time.monotonic()
        while time.monotonic() < begun + PATIENCE_SECONDS:
            replica = at or self.all[next(self._turns) % len(self.all)]
            answer = self.ask(operation_id, wanted, at=replica, **request)
            if answer is not None:
                self.journal.took(f"{operation_id}, from first attempt to {wanted}", time.monotonic() - begun)
                return answer
            time.sleep(random.uniform(*PAUSE_SECONDS))
        raise OutOfPatience(f"{operation_id} got no {wanted} in {PATIENCE_SECONDS:.0f} s")

    def ask(
        self,
        operation_id: str,
        wanted: str,
        *,
        at: Replica,
        ids: dict[str, str] | None = None,
        **request: Any,
    ) -> httpx.Response | None:
        """Send a request once. Return the answer if it is wanted; report every answer that is not allowed."""
        operation, begun = DOCUMENT.operations[operation_id], time.monotonic()
        url = at.base_url + operation.path.format_map(ids or {})
        try:
            answer = self._client.request(operation.method.upper(), url, **request)
        except httpx.TransportError as error:
            self._judge_failure(operation_id, at, begun, error)
            return None
        self.journal.took("one answer", time.monotonic() - begun)
        request_id = answer.headers.get("x-request-id")
        said = f"{at.name} answered {answer.status_code} to {operation_id} ({request_id})"
        try:
            name = self._answers.name(operation, answer)
        except UndocumentedAnswer as error:
            self.journal.count("Answers", f"{operation_id}: {answer.status_code}, UNDOCUMENTED")
            self.journal.record_violation(f"{said}, which the document does not allow: {error}")
            return None
        self.journal.count("Answers", f"{operation_id}: {name}")
        if name == wanted:
            return answer
        if name != AWAY:
            self.journal.record_violation(f"{said}, {name}, where only {wanted} or {AWAY} make sense")
        elif not self.journal.was_disturbed_since(begun):
            self.journal.record_violation(f"{said}, {name}, when nothing was disturbed")
        return None

    def _judge_failure(
        self, operation_id: str, at: Replica, begun: float, error: httpx.TransportError
    ) -> None:
        """Allow no answer while anything is broken, and a refused connection while this replica is."""
        kind = type(error).__name__
        self.journal.count("Answers", f"{operation_id}: none ({kind})")
        suspect = "" if isinstance(error, httpx.TimeoutException) else at.name
        if not self.journal.was_disturbed_since(begun, suspect):
            self.journal.record_violation(
                f"{at.name} gave {operation_id} no answer when nothing was disturbed: {kind}"
            )
