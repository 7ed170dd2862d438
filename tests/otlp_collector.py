"""A collector of traces: real HTTP on a free port, and OpenTelemetry's own messages; a test reads what arrived."""

from __future__ import annotations

import gzip
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass(frozen=True)
class Seen:
    """A span as it arrived. trace, id, parent: hexadecimal; parent is "" for a root."""

    service: str
    name: str
    kind: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]


class OtlpCollector:
    """Takes POST /v1/traces until closed."""

    def __init__(self) -> None:
        self.spans: list[Seen] = []
        handler = type("BoundHandler", (_Handler,), {"collector": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def endpoint(self) -> str:
        """Value of OTEL_EXPORTER_OTLP_ENDPOINT."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> OtlpCollector:
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def named(self, prefix: str) -> list[Seen]:
        return [span for span in self.spans if span.name.startswith(prefix)]

    def ancestors(self, span: Seen) -> list[str]:
        """Return the names of a span's parents, the nearest first."""
        by_id = {one.id: one for one in self.spans}
        names = []
        while (parent := by_id.get(span.parent)) is not None:
            names.append(parent.name)
            span = parent
        return names

    def take(self, request: ExportTraceServiceRequest) -> None:
        for resource in request.resource_spans:
            service = _values(resource.resource.attributes)["service.name"]
            self.spans += [_seen(service, span) for scope in resource.scope_spans for span in scope.spans]


def _seen(service: str, span: Span) -> Seen:
    kind = Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_")
    return Seen(
        service, span.name, kind, span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex(),
        _values(span.attributes),
    )  # fmt: skip


def _values(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


class _Handler(BaseHTTPRequestHandler):
    collector: OtlpCollector

    def log_message(self, format: str, *args: Any) -> None:
        return

    def do_POST(self) -> None:
        assert self.path == "/v1/traces", self.path
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.collector.take(ExportTraceServiceRequest.FromString(body))
        answer = ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
