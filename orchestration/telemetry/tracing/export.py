"""Spans to an OTLP receiver, by OpenTelemetry's own exporter: the one place that knows that library.

Its tracer is not used, because it would draw ids that no other process could know.
"""

import logging
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import grpc
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, TraceFlags

from orchestration.telemetry.settings import TracingSettings
from orchestration.telemetry.tracing.spans import Kind, Span

_KINDS: Mapping[Kind, SpanKind] = {kind: SpanKind[kind.name] for kind in Kind}
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


class OtlpExporter:
    """An ``Exporter`` to ``settings.endpoint``; it tries again for ``settings.timeout`` where trying again may help.

    Raises ``OSError`` where a file that the settings name cannot be read, ``ValueError`` where it is not as it should
    be.
    """

    def __init__(self, settings: TracingSettings, mind: str, process: str, version: str) -> None:
        logging.getLogger("opentelemetry").setLevel(
            logging.CRITICAL
        )  # it would tell of every batch; the recorder tells once
        secure = urlsplit(settings.endpoint).scheme == "https"
        self._inner = OTLPSpanExporter(
            endpoint=settings.endpoint,
            insecure=not secure,
            credentials=_credentials(settings) if secure else None,
            headers=headers_in(settings.headers_file) or None,
            timeout=settings.timeout,
        )
        self._resource = Resource(
            {
                "service.name": "submind",
                "service.namespace": mind,
                "service.instance.id": process,
                "host.name": socket.gethostname(),
                "service.version": version,
            }
        )
        self._scope = InstrumentationScope("submind", version)

    def export(self, spans: Sequence[Span]) -> bool:
        return self._inner.export([self._told(span) for span in spans]) is SpanExportResult.SUCCESS

    def close(self) -> None:
        self._inner.shutdown()

    def _told(self, span: Span) -> ReadableSpan:
        place = partial(SpanContext, is_remote=True, trace_flags=_SAMPLED)
        return ReadableSpan(
            name=span.name,
            context=SpanContext(span.trace, span.id, is_remote=False, trace_flags=_SAMPLED),
            parent=place(span.trace, span.parent) if span.parent is not None else None,
            resource=self._resource,
            attributes=span.attributes,
            links=[Link(place(trace, one)) for trace, one in span.links],
            kind=_KINDS[span.kind],
            start_time=span.start,
            end_time=span.end,
            instrumentation_scope=self._scope,
        )


def headers_in(file: Path | None) -> dict[str, str]:
    """Headers from lines ``name: value``. Raises ``OSError``, or ``ValueError`` naming the line."""
    if file is None:
        return {}
    found = {}
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        name, colon, value = line.partition(":")
        if not line.strip():
            continue
        if not colon or not name.strip():
            raise ValueError(f"line {number} of {file} is not `name: value`")
        found[name.strip().lower()] = value.strip()
    return found


def _credentials(settings: TracingSettings) -> grpc.ChannelCredentials:
    roots = settings.ca_file.read_bytes() if settings.ca_file is not None else None
    return grpc.ssl_channel_credentials(root_certificates=roots)


def otlp(settings: TracingSettings, mind: str, process: str, version: str) -> Callable[[], OtlpExporter]:
    """What makes the exporter of a process."""
    return partial(OtlpExporter, settings, mind, process, version)
