"""Traces by OpenTelemetry, where OTEL_EXPORTER_OTLP_ENDPOINT is set. docs/traces.md explains them.

Without that setting no function here does more than find that out, and OpenTelemetry is not imported.
Attributes never hold what people wrote or sent: no bodies, no queries, no values of statements, no addresses
of monitors.
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

# Says which span something belongs to: the headers of W3C Trace Context, or nothing.
Carrier: TypeAlias = "Mapping[str, str]"

# How long the last spans may take to leave. A process ends a second after its work anyway (cli/stopping.py).
LAST_SPANS_SECONDS = 0.5


class Span:
    """What happens inside a block, as it is recorded. This one records nothing."""

    def rename(self, name: str) -> None:
        """Give it a name that was not known at its beginning."""

    def note(self, key: str, value: Value) -> None:
        """Add an attribute. `error.type` makes the span an error."""


_recorder: Recorder | None = None
_no_span = nullcontext(Span())


@contextmanager
def sending_traces(settings: Settings) -> Iterator[None]:
    """Record spans and send them, if the settings ask for it, until the context ends.

    Raises `SettingsError` when OpenTelemetry's packages are missing or refuse their own variables.
    """
    global _recorder  # noqa: PLW0603 - a process sends its traces to one place
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
    """Raise `SettingsError` if traces are asked for and the packages that send them are not installed."""
    if settings.otel_exporter_otlp_endpoint is None:
        return
    try:
        import monitoring.tracing.recorder  # noqa: F401, PLC0415
    except ImportError:
        problem = "needs packages that are not installed: pip install 'monitoring-service[otel]'"
        raise SettingsError(f"OTEL_EXPORTER_OTLP_ENDPOINT: {problem}") from None


def is_tracing() -> bool:
    """Whether spans are recorded in this process."""
    return _recorder is not None


def span(
    name: str,
    kind: Kind = "internal",
    attributes: Mapping[str, Value] | None = None,
    parent: Carrier | None = None,
) -> AbstractContextManager[Span]:
    """Record what happens inside as a span.

    It belongs to the span that runs here, or to the one that `parent` says; an empty `parent` begins a
    trace. An exception that leaves it makes it an error. Only the exception's name is recorded, because its
    words may hold what people sent.
    """
    return _recorder.span(name, kind, attributes, parent) if _recorder else _no_span


def carry() -> Carrier:
    """Say which span runs here, for work that is done elsewhere or later. Empty if none does."""
    return _recorder.carry() if _recorder else {}


def current_trace_id() -> str | None:
    """Return the id of the trace that this happens in, as 32 hexadecimal digits."""
    return _recorder.trace_id() if _recorder else None
