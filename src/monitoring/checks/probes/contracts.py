"""Validates a monitor's responses against its contract, and refreshes the contract's document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import UUID

import orjson

from monitoring.backends.encryption import decrypt
from monitoring.backends.fields import read_moment
from monitoring.checks.probes.keywords import decode_body
from monitoring.checks.probes.protocol import Finding
from monitoring.contract.document import Json
from monitoring.monitors.contracts import keeping
from monitoring.monitors.contracts.addresses import write_address
from monitoring.monitors.contracts.documents import UnusableDocumentError
from monitoring.monitors.contracts.fetching import UnfetchedDocumentError, fetch_rules
from monitoring.monitors.contracts.isolation import MAX_SECONDS, TooLongError, judge_apart, wait_apart
from monitoring.monitors.health import Outcome
from monitoring.outbound.answers import MAX_BODY_BYTES
from monitoring.outbound.dialer import Dialer
from monitoring.outbound.exchanges import Exchange
from monitoring.outbound.failures import FailureCode

_REASONS = {
    "operation_unknown": "it no longer has the operation",
    "reference_outside": "a reference leads out of it",
    "too_large": "it is too large",
    "unreadable": "it is no OpenAPI document",
}


@dataclass(frozen=True)
class Contract:
    """The contract for a monitor's responses. Without `monitor_id`, nothing is stored."""

    monitor_id: UUID | None
    settings: Mapping[str, Json]
    rules: str
    authorization: str | None
    read_at: datetime

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """Read a monitor's contract. Raises `UndecryptableError`."""
        authorization = row["contract_authorization"]
        return cls(
            monitor_id=row["id"] if isinstance(row["id"], UUID) else None,
            settings=orjson.loads(row["contract"]),
            rules=row["contract_rules"],
            authorization=decrypt(authorization) if authorization else None,
            read_at=read_moment(row["contract_read_at"]),
        )

    def write_address(self, url: str) -> str:
        """Return the URL to request: a monitor's `url` with the path and parameters of the operation."""
        return write_address(url, orjson.loads(self.rules)["path"], self.settings.get("parameters"))

    async def judge(self, exchange: Exchange, finding: Finding, dialer: Dialer) -> Finding:
        """Validate a response. Return `finding`, changed if the response violates the contract.

        If the contract's document is due to be read again, it is fetched first. If fetching or reading it
        fails, the previous rules apply, and a monitor that would otherwise be up is degraded.
        """
        problem = None
        rules = self.rules
        if self.settings.get("document_url") and self._is_due():
            rules, problem = await self._read_again(dialer)
        judged = await wait_apart(self._judge, rules, exchange)
        if judged:
            error, message = judged
            is_down = self.settings["violation"] == "down" or error != "contract_violated"
            return finding._replace(
                outcome=Outcome.DOWN if is_down else Outcome.DEGRADED, error=error, message=message
            )
        if problem and finding.outcome == Outcome.UP:
            message = f"The document of the contract could not be read again: {problem}"
            return finding._replace(outcome=Outcome.DEGRADED, error="contract_unavailable", message=message)
        return finding

    def _is_due(self) -> bool:
        interval = timedelta(seconds=self.settings["refresh_interval_seconds"])
        return self.monitor_id is not None and datetime.now(UTC) - self.read_at >= interval

    async def _read_again(self, dialer: Dialer) -> tuple[str, str | None]:
        """Read the contract's document again, and return its rules and None.

        If this fails, return the previous rules and the reason.
        """
        assert self.monitor_id  # noqa: S101 - `_is_due` has checked it
        url, operation_id = self.settings["document_url"], self.settings["operation_id"]
        try:
            found = await fetch_rules(dialer, url, self.authorization, operation_id, orjson.loads(self.rules))
        except UnfetchedDocumentError as error:
            problem = error.reason
        except UnusableDocumentError as error:
            problem = _REASONS[error.reason]
        else:
            await keeping.store_refreshed(self.monitor_id, found, datetime.now(UTC), self.rules)
            return orjson.dumps(found).decode(), None
        await keeping.store_problem(self.monitor_id, problem)
        return self.rules, problem

    @staticmethod
    def _judge(rules: str, exchange: Exchange) -> tuple[str, str] | None:
        headers = {
            name.decode("latin-1"): b", ".join(values).decode("latin-1")
            for name, values in exchange.headers.items()
        }
        if exchange.is_cut:
            size = f"The answer is larger than {MAX_BODY_BYTES:,} bytes"
            return FailureCode.RESPONSE_TOO_LARGE, f"{size}, so it cannot be held to its contract"
        body = decode_body(exchange.body, headers.get("content-type", ""))
        try:
            violation = judge_apart(rules, exchange.status_code or 0, headers, body)
        except TooLongError:
            message = f"The answer could not be held to its contract within {MAX_SECONDS:g} seconds"
            return FailureCode.RESPONSE_TOO_LARGE, message
        if violation is None:
            return None
        where = f" at {violation.pointer}" if violation.pointer else ""
        return "contract_violated", f"The answer breaks its contract{where}: {violation.sentence}"
