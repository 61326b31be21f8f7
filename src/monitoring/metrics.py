"""The service's metrics. docs/metrics.md explains them.

Every label has few values: operations of the document, statuses, locales, engines, queues; never a path, an
id or an address.
"""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version
from typing import Literal

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

# They add a second series to every counter, which Prometheus does not use.
disable_created_metrics()  # type: ignore[no-untyped-call]

# Every process sets these gauges to the same value: the newest of a living process counts.
SHARED: Literal["livemostrecent"] = "livemostrecent"

# The label of requests that reached no operation of the document.
NO_OPERATION = "none"

BUILD = Gauge(
    "monitoring_build_info",
    "Always 1; the labels say what is running.",
    ["version", "python"],
    multiprocess_mode="max",
)
BUILD.labels(version("monitoring-service"), platform.python_version()).set(1)

ANSWERS = Counter(
    "monitoring_http_requests",
    "Requests answered. Operation is none for those that reached no operation of the document.",
    ["operation", "status"],
)
ANSWER_SECONDS = Histogram(
    "monitoring_http_request_duration_seconds",
    "From a request's head to the end of its answer.",
    ["operation"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
CONNECTIONS_CLOSED = Counter(
    "monitoring_connections_closed",
    "Connections of clients that were closed, by reason: too_many or too_slow.",
    ["reason"],
)
RATE_LIMIT_HITS = Counter(
    "monitoring_rate_limit_hits", "Requests refused because a rate limit was exceeded.", ["policy"]
)
DELIVERIES = Counter(
    "monitoring_webhook_deliveries",
    "Deliveries answered 202, by what they were: new_revision, duplicate, stale or test.",
    ["verdict"],
)
ENGINE_SECONDS = Histogram(
    "monitoring_engine_duration_seconds",
    "Time the engine took for one article in one locale, whether it succeeded or not.",
    ["engine", "locale"],
    buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300),
)
ENGINE_ERRORS = Counter(
    "monitoring_engine_errors",
    "Attempts that the engine ended with an error, by kind: transient, permanent or unexpected.",
    ["engine", "kind"],
)
TRANSLATIONS_FINISHED = Counter(
    "monitoring_translations_finished",
    "Translations that came to an end, by outcome: translated or failed.",
    ["locale", "outcome"],
)
TRANSLATIONS = Gauge(
    "monitoring_translations",
    "Translations in the database that are not done, by status: queued, translating or failed.",
    ["locale", "status"],
    multiprocess_mode=SHARED,
)
OLDEST_UNTRANSLATED_SECONDS = Gauge(
    "monitoring_oldest_untranslated_age_seconds",
    "Age of the oldest revision that is queued or being translated; 0 when there is none.",
    ["locale"],
    multiprocess_mode=SHARED,
)
NOTIFICATION_ATTEMPTS = Counter(
    "monitoring_notification_attempts",
    "Notifications sent to webhooks, by outcome: delivered, retried or failed.",
    ["outcome"],
)
QUEUE_MESSAGES = Gauge(
    "monitoring_queue_messages",
    "Messages waiting or being worked on; those of a queue that ends in .DQ wait for their time.",
    ["queue"],
    multiprocess_mode=SHARED,
)
BACKLOG_MEASUREMENTS = Counter(
    "monitoring_backlog_measurements",
    "How often translations and queues were counted; when it stands still, those gauges are old.",
)

# Checks of monitors
CHECKS = Counter("monitoring_checks", "Checks made, by outcome: up, degraded, down or unknown.", ["outcome"])
CHECK_SECONDS = Histogram(
    "monitoring_check_duration_seconds",
    "From the beginning of a check to its verdict, whatever it is.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60),
)
CHECK_DELAY_SECONDS = Histogram(
    "monitoring_check_delay_seconds",
    "How late checks begin: those of checkers that died, and all of them under too much load.",
    buckets=(0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600),
)
CHECKS_IN_FLIGHT = Gauge(
    "monitoring_checks_in_flight", "Checks that are being made.", multiprocess_mode="livesum"
)
CHECKER_BUSY_RATIO = Gauge(
    "monitoring_checker_busy_ratio",
    "What part of the last second the thread that makes the checks worked; above 0.6 it begins few.",
    multiprocess_mode="livemax",
)
CHECKER_LAG_SECONDS = Gauge(
    "monitoring_checker_lag_seconds",
    "How late the checks' event loop noticed the end of the last second.",
    multiprocess_mode="livemax",
)
CHECKER_BLIND = Gauge(
    "monitoring_checker_blind",
    "1 while no reference answers, so that failed checks count as unknown.",
    multiprocess_mode="livemax",
)


def record_answer(operation: str, status: int, duration_seconds: float) -> None:
    """Count an answer."""
    _answers_of(operation, status).inc()
    _answer_seconds_of(operation).observe(duration_seconds)


def record_check(outcome: str, delay_seconds: float, duration_seconds: float) -> None:
    """Count a finished check."""
    _checks_of(outcome).inc()
    CHECK_DELAY_SECONDS.observe(delay_seconds)
    CHECK_SECONDS.observe(duration_seconds)


# Called with every request and check: this cache costs a tenth of `labels`.
@cache
def _checks_of(outcome: str) -> Counter:
    return CHECKS.labels(outcome)


@cache
def _answers_of(operation: str, status: int) -> Counter:
    return ANSWERS.labels(operation, status)


@cache
def _answer_seconds_of(operation: str) -> Histogram:
    return ANSWER_SECONDS.labels(operation)
