"""The only file that imports OpenTelemetry, loaded only if traces are sent.

OpenTelemetry itself reads its environment variables for the sampler, the exporter, the batches and the
resource.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from threading import Thread
from uuid import UUID

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from monitoring.tracing import Carrier, Kind, Span, Value

# These loggers write a line for each failure, whereas `_PatientExporter` writes one for each outage. The
# loggers also quote invalid values, which may be secrets.
TALKATIVE_LOGGERS = ("opentelemetry.exporter", "opentelemetry.sdk._shared_internal", "opentelemetry.util")

log = logging.getLogger(__name__)


class Recorder:
    """Records spans, and sends them in batches from its own thread.

    Raises `ValueError` for an environment variable that OpenTelemetry cannot parse.
    """

    def __init__(self) -> None:
        for name in TALKATIVE_LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        ours = {"service.name": "monitoring", "service.version": version("monitoring-service")}
        resource = Resource.create(ours).merge(
            OTELResourceDetector().detect()
        )  # environment variables take precedence
        self._batches = BatchSpanProcessor(_PatientExporter())
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(self._batches)
        self._tracer = provider.get_tracer("monitoring", ours["service.version"])
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def span(
        self, name: str, kind: Kind, attributes: Mapping[str, Value] | None, parent: Carrier | None
    ) -> Iterator[Span]:
        """Record a span; see `monitoring.tracing.span`."""
        with self._tracer.start_as_current_span(
            name,
            context=None if parent is None else self._propagator.extract(parent),
            kind=SpanKind[kind.upper()],
            record_exception=False,
            set_status_on_exception=False,
        ) as recorded:
            span = _RecordedSpan(recorded)
            for key, value in (attributes or {}).items():
                span.note(key, value)
            try:
                yield span
            except BaseException as error:
                span.note("error.type", type(error).__qualname__)
                raise

    def carry(self) -> Carrier:
        """Return the current span's headers. Empty if there is no span."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier

    def trace_id(self) -> str | None:
        """Return the current trace's id. None if there is no trace."""
        context = trace.get_current_span().get_span_context()
        return trace.format_trace_id(context.trace_id) if context.is_valid else None

    def close(self, seconds: float) -> None:
        """Send the remaining spans for up to `seconds`. Those not sent in time are lost."""
        closing = Thread(target=self._batches.shutdown, daemon=True)
        closing.start()
        closing.join(seconds)


class _RecordedSpan(Span):
    def __init__(self, recorded: trace.Span) -> None:
        self._recorded = recorded

    def rename(self, name: str) -> None:
        self._recorded.update_name(name)

    def note(self, key: str, value: Value) -> None:
        self._recorded.set_attribute(key, str(value) if isinstance(value, UUID) else value)
        if key == "error.type":
            self._recorded.set_status(StatusCode.ERROR)


class _PatientExporter(SpanExporter):
    """Sends spans by OTLP over HTTP.

    While the collector is unavailable, spans are dropped, and only one warning is logged.
    """

    def __init__(self) -> None:
        self._exporter = OTLPSpanExporter()
        self._is_away = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        is_away = result is not SpanExportResult.SUCCESS
        if is_away and not self._is_away:
            log.warning("The collector of OTEL_EXPORTER_OTLP_ENDPOINT accepts no spans: they are dropped")
        if self._is_away and not is_away:
            log.info("Over: the collector of OTEL_EXPORTER_OTLP_ENDPOINT accepts spans again")
        self._is_away = is_away
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]
