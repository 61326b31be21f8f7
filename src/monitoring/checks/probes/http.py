"""The probe that sends an HTTP request and evaluates the response."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar, Self

import orjson

from monitoring.checks.probes.assertions import Failed, find_failed
from monitoring.checks.probes.contracts import Contract
from monitoring.checks.probes.degradations import UP, Judgement, Thresholds
from monitoring.checks.probes.failing_answers import keep_answer
from monitoring.checks.probes.keywords import KeywordSearch, quote_keyword
from monitoring.checks.probes.protocol import Finding, Objection
from monitoring.contract.document import Json
from monitoring.monitors.assertions import OF_BODY
from monitoring.monitors.client_certificates import read_client_certificate
from monitoring.monitors.health import Outcome
from monitoring.monitors.request_headers import read_headers
from monitoring.outbound.answers import MAX_BODY_BYTES
from monitoring.outbound.client import HttpClient
from monitoring.outbound.dialer import Dialer
from monitoring.outbound.exchanges import Exchange, OutboundRequest
from monitoring.outbound.failures import FailureCode
from monitoring.outbound.targets import Endpoint, UnusableUrl
from monitoring.outbound.tls_settings import TlsSettings


@dataclass(frozen=True)
class HttpProbe:
    """Sends a request, and compares the response with what is expected."""

    columns: ClassVar[tuple[str, ...]] = (
        *("url", "method", "request_headers", "encrypted_headers", "request_body", "timeout_seconds"),
        *("follow_redirects", "verify_tls", "expected_status_codes", "required_keyword", "forbidden_keyword"),
        *("tls_expiry_warning_days", "slow_threshold_ms", "assertions"),
        *("certificate_authority", "client_certificate"),
        *("contract", "contract_rules", "contract_authorization", "contract_read_at"),
    )

    request: OutboundRequest
    expectation: Expectation
    assertions: Sequence[Mapping[str, Json]] = ()
    contract: Contract | None = None

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """Read the probe from a monitor's row. Raises `UndecryptableError` if no key decrypts its secrets."""
        body = row["request_body"]
        contract = Contract.read(row) if row["contract"] else None
        request = OutboundRequest(
            method=row["method"],
            url=contract.write_address(row["url"]) if contract else row["url"],
            headers=read_headers(orjson.loads(row["request_headers"]), row["encrypted_headers"]),
            body=None if body is None else body.encode(),
            timeout_seconds=row["timeout_seconds"],
            follow_redirects=bool(row["follow_redirects"]),
            verify_tls=bool(row["verify_tls"]),
            tls=TlsSettings(row["certificate_authority"], read_client_certificate(row["client_certificate"])),
        )
        expectation = Expectation(
            expected_status_codes=tuple(orjson.loads(row["expected_status_codes"])),
            required_keyword=row["required_keyword"],
            forbidden_keyword=row["forbidden_keyword"],
            tls_expiry_warning_days=row["tls_expiry_warning_days"],
            slow_threshold_ms=row["slow_threshold_ms"],
        )
        return cls(request, expectation, tuple(orjson.loads(row["assertions"])), contract)

    @cached_property
    def endpoint(self) -> Endpoint | None:
        """The host and port to which the request is sent first, or None if the URL cannot be parsed."""
        try:
            return self.request.first_hop.target
        except UnusableUrl:
            return None

    async def ask(self, dialer: Dialer) -> Finding:
        """Send the request and evaluate the response.

        Raises OSError when this machine has no sockets left.
        """
        reads_all = bool(self.contract) or any(each["source"] in OF_BODY for each in self.assertions)
        search = KeywordSearch(self.expectation.keywords, self.expectation.is_expected, reads_all=reads_all)
        exchange = await HttpClient(dialer).send(self.request, search)
        failed: Failed | None = None
        if self.assertions and self.expectation.is_expected(exchange.status_code):
            # Evaluated in a thread, because evaluating a hostile response can take up to two seconds.
            judge_assertions = partial(find_failed, self.assertions, exchange)
            failed = await asyncio.to_thread(judge_assertions) if reads_all else judge_assertions()
        finding = judge(exchange, self.expectation, datetime.now(UTC), search.finish(), failed)
        if self.contract and finding.outcome != Outcome.DOWN:
            finding = await self.contract.judge(exchange, finding, dialer)
        if finding.outcome != Outcome.DOWN or exchange.failure:
            return finding
        return finding._replace(answer=keep_answer(exchange, self.request.headers))


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What is expected of a response. The fields are the monitor's fields of the same names.

    A threshold of None is disabled.
    """

    expected_status_codes: tuple[str, ...]
    required_keyword: str | None
    forbidden_keyword: str | None
    tls_expiry_warning_days: int
    slow_threshold_ms: int | None

    @property
    def keywords(self) -> list[str]:
        """The keywords to search for in the body."""
        return [each for each in (self.required_keyword, self.forbidden_keyword) if each is not None]

    def is_expected(self, status_code: int | None) -> bool:
        """Return whether a status code is expected."""
        return any(status_code in statuses for statuses in _parse_patterns(self.expected_status_codes))


def judge(
    exchange: Exchange,
    expectation: Expectation,
    now: datetime,
    found: Collection[str] = (),
    failed: Failed | None = None,
) -> Finding:
    """Return the finding for an exchange, with the most serious fault, if there is one. Has no side effects.

    `found` contains the keywords found in the part of the body that was read. `failed` is the first failed
    assertion. The message has fewer than 200 characters, and quotes only the status of the response.
    """
    if exchange.failure:
        judgement: Judgement = (Outcome.DOWN, exchange.failure.code, exchange.failure.message)
    else:
        judgement = (
            _find_error(exchange, expectation, found)
            or (failed and (Outcome.DOWN, failed.error, failed.message))
            or _find_shortcoming(exchange, expectation, now)
            or UP
        )
    return Finding(*judgement, exchange.status_code, exchange.timings, exchange.tls_expires_at)


def _find_error(exchange: Exchange, expectation: Expectation, found: Collection[str]) -> Judgement | None:
    if not expectation.is_expected(exchange.status_code):
        message = (
            f"Answered {exchange.status_code} instead of {_enumerate(expectation.expected_status_codes)}"
        )
        return Outcome.DOWN, Objection.UNEXPECTED_STATUS, message
    required, forbidden = expectation.required_keyword, expectation.forbidden_keyword
    if required is not None and required not in found and not exchange.is_cut:
        message = f"The answer does not contain {quote_keyword(required)}"
        return Outcome.DOWN, Objection.KEYWORD_MISSING, message
    if forbidden is not None and forbidden in found:
        message = f"The answer contains {quote_keyword(forbidden)}"
        return Outcome.DOWN, Objection.KEYWORD_FORBIDDEN, message
    unknown = [keyword for keyword in expectation.keywords if keyword not in found]
    if unknown and exchange.is_cut:
        size = f"The answer is larger than {MAX_BODY_BYTES:,} bytes"
        message = f"{size}, and the first of them do not contain {quote_keyword(unknown[0])}"
        return Outcome.DOWN, FailureCode.RESPONSE_TOO_LARGE, message
    return None


def _find_shortcoming(exchange: Exchange, expectation: Expectation, now: datetime) -> Judgement | None:
    thresholds = Thresholds(expectation.tls_expiry_warning_days, expectation.slow_threshold_ms)
    return thresholds.find_shortcoming(
        exchange.timings, exchange.tls_expires_at, exchange.expiring_certificate, now
    )


@lru_cache(maxsize=1024)
def _parse_patterns(patterns: tuple[str, ...]) -> tuple[range, ...]:
    return tuple(_parse_pattern(pattern) for pattern in patterns)


def _parse_pattern(pattern: str) -> range:
    """Return the statuses that a StatusCodePattern matches: `204`, `2xx`, or `200-299` in either order."""
    if pattern.endswith("xx"):
        first_status = int(pattern[0]) * 100
        return range(first_status, first_status + 100)
    statuses = [int(status) for status in pattern.split("-")]
    return range(min(statuses), max(statuses) + 1)


def _enumerate(patterns: tuple[str, ...]) -> str:
    *others, last = patterns
    return f"{', '.join(others)} or {last}" if others else last
