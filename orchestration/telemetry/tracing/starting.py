"""Tracing in a process: begun where it is configured, and nothing at all where it is not."""

import time
from importlib.metadata import version

from orchestration.telemetry.settings import TracingSettings
from orchestration.telemetry.tracing.spans import Recorder


def begin(settings: TracingSettings, mind: str, process: str) -> Recorder | None:
    """What records the spans of this process, to be closed at its end; None where nothing is traced."""
    if not settings.endpoint:
        return None
    from orchestration.telemetry.tracing.export import otlp  # noqa: PLC0415 - OpenTelemetry, where it is used

    recorder = Recorder(mind, settings, otlp(settings, mind, process, version("submind")), time.time_ns)
    recorder.start()
    return recorder
