"""Traces from a request through its jobs to the model calls, exported by OTLP over HTTP.

OpenTelemetry's own variables configure the export (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER …). Without an
endpoint nothing is recorded, and a span costs a microsecond. No span carries text of a customer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_W3C = TraceContextTextMapPropagator()
_FLUSH_MS = 5_000


def start(service: str) -> None:
    """Export the spans of this process under the name of its service, if an endpoint is configured.

    May be called before a fork: each child exports its own spans.
    """
    if not settings.OTLP_ENDPOINT:
        return
    resource = Resource.create({SERVICE_NAME: settings.OTEL_SERVICE_NAME or service})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def flush() -> None:
    """Export what is recorded. A process that ends without its exit handlers calls this before."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):
        provider.force_flush(_FLUSH_MS)


def traceparent() -> str:
    """Return the current span in W3C's form, "" outside of any trace. It fits in 55 characters."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return carrier.get("traceparent", "")


@contextmanager
def request_span(name: str, *, callers: str) -> Iterator[Span]:
    """Open the first span of a request.

    callers: the traceparent that the caller sent. It is only linked, because a caller decides neither the ids nor the
    sampling of our traces.
    """
    links = [Link(trace.get_current_span(_context(callers)).get_span_context())] if callers else []
    links = [link for link in links if link.context.is_valid]
    with _opened("ava.api", name, context=Context(), kind=SpanKind.SERVER, links=links) as span:
        yield span


@contextmanager
def job_span(name: str, *, parent: str, attributes: Mapping[str, str | int]) -> Iterator[Span]:
    """Open the span of a job. parent: the traceparent that was stored with the job, "" for none."""
    context = _context(parent) if parent else Context()
    with _opened("ava.jobs", name, context=context, kind=SpanKind.CONSUMER, attributes=attributes) as span:
        yield span


@contextmanager
def _opened(tracer: str, name: str, **options: Any) -> Iterator[Span]:
    """Open a span that names the type of an error and not its text, which may quote a customer."""
    with trace.get_tracer(tracer).start_as_current_span(
        name, record_exception=False, set_status_on_exception=False, **options
    ) as span:
        try:
            yield span
        except BaseException as error:
            span.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


def _context(parent: str) -> Context:
    return _W3C.extract({"traceparent": parent}, context=Context())
