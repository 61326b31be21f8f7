"""Traces with OpenTelemetry, if OTEL_EXPORTER_OTLP_ENDPOINT is set. docs/traces.md explains them.

Without that setting, the functions here do nothing, and OpenTelemetry is not imported. Attributes never
contain user data, such as bodies, queries, values in SQL statements or URLs of monitors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Literal, TypeAlias
from uuid import UUID

from monitoring.settings import Settings, SettingsError

if TYPE_CHECKING:
    from monitoring.tracing.recorder import Recorder

Kind: TypeAlias = Literal["internal", "server", "client", "producer", "consumer"]
Value: TypeAlias = "str | int | float | bool | UUID"

# The W3C Trace Context headers that identify a span. Empty if there is no span.
Carrier: TypeAlias = "Mapping[str, str]"

# How long sending the last spans may take. A process ends a second after its work anyway (cli/stopping.py).
LAST_SPANS_SECONDS = 0.5


class Span:
    """A span, which represents the work of a block. This base class records nothing."""

    def rename(self, name: str) -> None:
        """Set a name that was unknown when the span began."""

    def note(self, key: str, value: Value) -> None:
        """Add an attribute. `error.type` makes the span an error."""


_recorder: Recorder | None = None
_no_span = nullcontext(Span())


@contextmanager
def sending_traces(settings: Settings) -> Iterator[None]:
    """Record and send spans until the context ends, if the settings enable it.

    Raises `SettingsError` if OpenTelemetry's packages are missing, or reject an environment variable.
    """
    global _recorder  # noqa: PLW0603 - a process has one recorder
    if settings.otel_exporter_otlp_endpoint is None:
        yield
        return
    demand_packages(settings)
    from monitoring.tracing.recorder import Recorder  # noqa: PLC0415

    try:
        recorder = _recorder = Recorder()
    except ValueError as error:
        raise SettingsError(f"OTEL_…: OpenTelemetry refuses a variable: {error}") from None
    try:
        yield
    finally:
        _recorder = None
        recorder.close(LAST_SPANS_SECONDS)


def demand_packages(settings: Settings) -> None:
    """Raise `SettingsError` if traces are enabled but the packages that send them are not installed."""
    if settings.otel_exporter_otlp_endpoint is None:
        return
    try:
        import monitoring.tracing.recorder  # noqa: F401, PLC0415
    except ImportError:
        problem = "needs packages that are not installed: pip install 'monitoring-service[otel]'"
        raise SettingsError(f"OTEL_EXPORTER_OTLP_ENDPOINT: {problem}") from None


def is_tracing() -> bool:
    """Return whether spans are recorded in this process."""
    return _recorder is not None


def span(
    name: str,
    kind: Kind = "internal",
    attributes: Mapping[str, Value] | None = None,
    parent: Carrier | None = None,
) -> AbstractContextManager[Span]:
    """Record the block as a span.

    Its parent is the current span, or the span that `parent` identifies. An empty `parent` begins a new
    trace. An exception makes the span an error. Only the exception's type is recorded, because its message
    may contain user data.
    """
    return _recorder.span(name, kind, attributes, parent) if _recorder else _no_span


def carry() -> Carrier:
    """Return the current span's headers, for work that continues elsewhere. Empty if there is no span."""
    return _recorder.carry() if _recorder else {}


def current_trace_id() -> str | None:
    """Return the current trace's id as 32 hexadecimal digits. None if there is no trace."""
    return _recorder.trace_id() if _recorder else None
