"""Configuration of what a mind says of its own working: logs, metrics and traces."""

from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from environment.config import Seconds, Section, Share


class LogSettings(Section):
    """What is logged, and how."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe level that is written."""
    stderr: Literal["auto", "json", "console", "off"] = "auto"
    """How log lines look on standard error. ``auto``: for people on a terminal, else JSON."""
    file: bool = True
    """Whether JSON lines are written to ``submind.log`` in the data directory as well."""
    file_bytes: int = Field(default=64 * 1024 * 1024, ge=4096)
    """The file is set aside as ``submind.log.1`` when it grows beyond this; the one before goes."""
    value_chars: int = Field(default=2000, ge=20)
    """Longest text in one field of a log line; the rest is cut, and the line says how much."""


class MetricSettings(Section):
    """What Prometheus is shown at ``/metrics``."""

    per_submind: bool = False
    """Whether each cognitive submind has series of its own. By default they are summed (or the highest or oldest is
    shown) under ``role="cognitive"``, so that the number of series does not grow with the mind; all other actors,
    at most nine, are always shown by name."""


class TracingSettings(Section):
    """OpenTelemetry traces of the way of a perception, from the gateway to the stream. Off unless there is an endpoint.

    A perception's trace id is derived from the mind's name and the perception's id, so that every process knows it
    without being told, also after a restart.
    """

    endpoint: str = ""
    """An OTLP receiver over gRPC: ``http://HOST:4317`` in plain text, ``https://HOST:4317`` by TLS. Empty: nothing is
    traced."""
    sample: Share = 0.1
    """Share of the perceptions that are traced. It is decided by the trace id, by the rule of OpenTelemetry's
    ``TraceIdRatioBased``, so all processes of a mind agree."""
    ca_file: Path | None = None
    """Certificates that the receiver's must come from, in PEM. Empty: those of the system."""
    headers_file: Path | None = None
    """File of lines ``name: value`` that are sent along, for receivers that ask for a key."""
    queue: int = Field(default=4096, ge=1)
    """Spans of a process that wait for the receiver; what comes beyond is dropped, and counted."""
    batch: int = Field(default=512, ge=1)
    """Spans sent at a time."""
    every: Seconds = Field(default=2.0, gt=0)
    """Longest that a span waits before it is sent."""
    timeout: Seconds = Field(default=10.0, gt=0)
    """Longest that sending a batch may take, with attempts after a refusal; then its spans are given up, and
    counted."""
    remembered: int = Field(default=4096, ge=16)
    """Thoughts and questions under way that an actor remembers the spans of. Of what it forgets the spans are told
    without how they began."""

    @field_validator("endpoint")
    @classmethod
    def _address(cls, value: str) -> str:
        if not value:
            return value
        wrong = (
            f"{value!r} is no receiver of traces: write http://HOST:PORT or https://HOST:PORT, as in http://otel:4317"
        )
        try:
            parts = urlsplit(value)
            port = parts.port
        except ValueError:
            raise ValueError(wrong) from None
        if parts.scheme not in {"http", "https"} or not parts.hostname or not port or parts.path not in {"", "/"}:
            raise ValueError(wrong)
        return value


class TelemetrySettings(LogSettings):
    """What is logged, counted and traced."""

    metrics: MetricSettings = MetricSettings()
    """What Prometheus is shown at ``/metrics``."""
    tracing: TracingSettings = TracingSettings()
    """OpenTelemetry traces of the way of a perception."""
