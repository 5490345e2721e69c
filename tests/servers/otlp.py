"""A real receiver of traces: OTLP over gRPC, as any collector has it, that keeps what it is sent."""

import time
from concurrent.futures import ThreadPoolExecutor

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc


class OtlpReceiver(trace_service_pb2_grpc.TraceServiceServicer):
    """Spans by their id, each a dict. ``refusing``: a status that every export is answered with."""

    def __init__(self, port=0, refusing=None):
        self.spans = {}
        self.exports = 0
        self.headers = {}
        self.refusing = refusing
        self._server = grpc.server(ThreadPoolExecutor(4))
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server(self, self._server)
        self.port = self._server.add_insecure_port(f"127.0.0.1:{port}")
        self._server.start()

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def Export(self, request, context):  # noqa: N802 - gRPC's name
        self.exports += 1
        self.headers = dict(context.invocation_metadata())
        if self.refusing is not None:
            context.abort(self.refusing, "not now")
        for resource in request.resource_spans:
            of = {one.key: one.value.string_value for one in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.spans[span.span_id.hex()] = self._read(span, of)
        return trace_service_pb2.ExportTraceServiceResponse()

    @staticmethod
    def _read(span, resource):
        return {
            **{
                one.key.removeprefix("submind."): getattr(one.value, one.value.WhichOneof("value"))
                for one in span.attributes
            },
            "name": span.name,
            "trace": span.trace_id.hex(),
            "id": span.span_id.hex(),
            "parent": span.parent_span_id.hex(),
            "start": span.start_time_unix_nano,
            "end": span.end_time_unix_nano,
            "kind": span.kind,
            "links": [(link.trace_id.hex(), link.span_id.hex()) for link in span.links],
            "process": resource.get("service.instance.id"),
            "mind": resource.get("service.namespace"),
        }

    def named(self, name):
        """All spans of a name."""
        return [span for span in list(self.spans.values()) if span["name"] == name]

    def trace(self, trace):
        """All spans of a trace."""
        return [span for span in list(self.spans.values()) if span["trace"] == trace]

    def until(self, what, seconds=60.0):
        """The first true answer of ``what``; fails when there is none in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            answer = what()
            if answer:
                return answer
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds} s; spans: {sorted({s['name'] for s in self.spans.values()})}")

    def stop(self):
        self._server.stop(0.2)
