"""The service's metrics. docs/metrics.md explains them.

Every label has few values, such as operations of the document, statuses, locales, engines or queues. No label
contains a path, an id or an address.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import Literal

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

# prometheus_client adds a `_created` series to every counter, which Prometheus does not use.
disable_created_metrics()  # type: ignore[no-untyped-call]

# The mode of gauges that every process sets to the same value. The latest value of a living process is
# exported.
SHARED: Literal["livemostrecent"] = "livemostrecent"

# A gauge with this value is not exported.
UNKNOWN = math.nan

# The label of requests that reached no operation of the document.
NO_OPERATION = "none"

_OF_THE_SERVICE: list[Gauge] = []


def _gauge_of_the_service(name: str, meaning: str, labels: Sequence[str] = ()) -> Gauge:
    """Create a gauge of what the database or the queue contains. It is unknown until a worker sets it."""
    gauge = Gauge(
        name,
        f"{meaning} Describes the whole service: take the max over all processes, never the sum.",
        labels,
        multiprocess_mode=SHARED,
    )
    _OF_THE_SERVICE.append(gauge)
    return gauge


BUILD = Gauge(
    "monitoring_build_info",
    "Always 1; the labels say what is running.",
    ["version", "python"],
    multiprocess_mode="max",
)
ANSWERS = Counter(
    "monitoring_http_requests",
    "Requests that got a response. Operation is none if the request matches no operation of the "
    "OpenAPI document.",
    ["operation", "status"],
)
ANSWER_SECONDS = Histogram(
    "monitoring_http_request_duration_seconds",
    "Time from a request's head to the end of the response.",
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
    "Submissions that got a 202, by verdict, such as new_revision, duplicate, stale or test.",
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
ENGINE_ANSWERS_REFUSED = Counter(
    "monitoring_engine_answers_refused",
    "Responses of the engine that were rejected, by what was wrong with them.",
    ["engine", "locale", "fault"],
)
ENGINE_CHARACTERS = Counter(
    "monitoring_engine_characters", "Characters sent to the engine for translation.", ["engine", "locale"]
)
ENGINE_REQUESTS = Counter(
    "monitoring_engine_requests", "Batches of segments sent to the engine.", ["engine", "locale"]
)
SEGMENTS_LEFT_IN_ENGLISH = Counter(
    "monitoring_segments_left_in_english",
    "Segments of stored translations that stayed in English, because no response was acceptable.",
    ["locale"],
)
TRANSLATIONS_FINISHED = Counter(
    "monitoring_translations_finished",
    "Finished translations, by outcome: translated or failed.",
    ["locale", "outcome"],
)
TRANSLATIONS = _gauge_of_the_service(
    "monitoring_translations",
    "Translations that are not done, by status: queued, translating or failed.",
    ["locale", "status"],
)
OLDEST_UNTRANSLATED_SECONDS = _gauge_of_the_service(
    "monitoring_oldest_untranslated_age_seconds",
    "Age of the oldest revision that is queued or being translated; 0 when there is none.",
    ["locale"],
)
NOTIFICATION_ATTEMPTS = Counter(
    "monitoring_notification_attempts",
    "Notifications sent to channels, by outcome: delivered, retried or failed.",
    ["outcome"],
)
PENDING_NOTIFICATIONS = _gauge_of_the_service(
    "monitoring_pending_notifications",
    "Notifications that wait to be sent, for the first time or again.",
)
OLDEST_PENDING_NOTIFICATION_SECONDS = _gauge_of_the_service(
    "monitoring_oldest_pending_notification_age_seconds",
    "Age of the oldest notification that waits; 0 when there is none.",
)
NOTIFICATIONS_OVERDUE_SECONDS = _gauge_of_the_service(
    "monitoring_notifications_overdue_seconds",
    "How long the next attempt to send a notification is overdue; 0 when none is.",
)
QUEUE_MESSAGES = _gauge_of_the_service(
    "monitoring_queue_messages",
    "Messages that wait or are being processed; those of a queue whose name ends in .DQ are not due yet.",
    ["queue"],
)
BACKLOG_MEASUREMENTS = Counter(
    "monitoring_backlog_measurements",
    "How often a worker measured the gauges of the whole service, which are missing without workers.",
)

# Monitors, and checks of them
MONITORS = _gauge_of_the_service("monitoring_monitors", "Monitors, by their status.", ["status"])
OPEN_INCIDENTS = _gauge_of_the_service("monitoring_open_incidents", "Open incidents.")
CHECKS_OVERDUE_SECONDS = _gauge_of_the_service(
    "monitoring_checks_overdue_seconds",
    "How long the next check that no checker has begun is overdue; 0 when none is.",
)

CHECKS = Counter("monitoring_checks", "Checks made, by outcome: up, degraded, down or unknown.", ["outcome"])
CHECK_SECONDS = Histogram(
    "monitoring_check_duration_seconds",
    "Time from the beginning of a check to its outcome.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60),
)
CHECK_DELAY_SECONDS = Histogram(
    "monitoring_check_delay_seconds",
    "How late checks begin, such as after a checker died or under too much load.",
    buckets=(0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600),
)
CHECKS_IN_FLIGHT = Gauge("monitoring_checks_in_flight", "Checks in progress.", multiprocess_mode="livesum")
CHECKER_BUSY_RATIO = Gauge(
    "monitoring_checker_busy_ratio",
    "The fraction of the last second in which the thread that runs checks was busy; above 0.6, it "
    "begins few.",
    multiprocess_mode="livemax",
)
CHECKER_LAG_SECONDS = Gauge(
    "monitoring_checker_lag_seconds",
    "How late the checks' event loop noticed the end of the last second.",
    multiprocess_mode="livemax",
)
CHECKER_BLIND = Gauge(
    "monitoring_checker_blind",
    "1 while this machine is offline, so that failed checks count as unknown.",
    multiprocess_mode="livemax",
)

# The backends of this process
BACKEND_UP = Gauge(
    "monitoring_backend_up",
    "1 while this process can write to the backend, else 0: database, queue or blog_storage.",
    ["backend"],
    multiprocess_mode="livemin",
)
DATABASE_POOL_CONNECTIONS = Gauge(
    "monitoring_database_pool_connections",
    "Connections to PostgreSQL that this process may have, by state: busy, idle or unopened.",
    ["state"],
    multiprocess_mode="livesum",
)
DATABASE_POOL_WAIT_SECONDS = Counter(
    "monitoring_database_pool_wait_seconds",
    "Time that statements and transactions waited for a connection to PostgreSQL.",
)


# Counters that are exported before their first event, because alert rules use their growth. Prometheus sees
# no growth in a series that begins with its first event.
_COUNTED_FROM_ZERO = {
    NOTIFICATION_ATTEMPTS: ("delivered", "retried", "failed"),
    RATE_LIMIT_HITS: ("token", "sign_in", "sign_in_address", "sign_in_email", "webhook_failures"),
}


def set_first_values() -> None:
    """Set the metrics that need a value before the first event. Called at the start and after a fork."""
    for counter, labels in _COUNTED_FROM_ZERO.items():
        for label in labels:
            counter.labels(label).inc(0)
    BUILD.labels(version("monitoring-service"), platform.python_version()).set(1)
    forget_the_service()


def forget_the_service() -> None:
    """Make all gauges of the service's state unknown, for example because the database is unavailable."""
    for gauge in _OF_THE_SERVICE:
        forget(gauge)


def forget(gauge: Gauge) -> None:
    """Make a gauge unknown, for all values of its labels."""
    for child in _children_of(gauge):
        child.set(UNKNOWN)


def _children_of(gauge: Gauge) -> Iterator[Gauge]:
    for family in gauge.collect():
        for sample in family.samples:
            yield gauge.labels(**sample.labels) if sample.labels else gauge


def record_age(gauge: Gauge, since: datetime | None, now: datetime) -> None:
    """Set a gauge to the seconds since `since`, or to 0 if `since` is None or in the future."""
    gauge.set(max(0.0, (now - since).total_seconds()) if since else 0.0)


def record_reply(operation: str, status: int, duration_seconds: float) -> None:
    """Count a reply, and record how long it took."""
    answers, seconds = _answers_of(operation, status)
    answers.inc()
    seconds.observe(duration_seconds)


def record_check(outcome: str, delay_seconds: float, duration_seconds: float) -> None:
    """Count a finished check, and record how late it began and how long it took."""
    _checks_of(outcome).inc()
    CHECK_DELAY_SECONDS.observe(delay_seconds)
    CHECK_SECONDS.observe(duration_seconds)


# Called for every request and check. The cache takes a tenth of the time of `labels`.
@cache
def _checks_of(outcome: str) -> Counter:
    return CHECKS.labels(outcome)


@cache
def _answers_of(operation: str, status: int) -> tuple[Counter, Histogram]:
    return ANSWERS.labels(operation, status), ANSWER_SECONDS.labels(operation)


set_first_values()
