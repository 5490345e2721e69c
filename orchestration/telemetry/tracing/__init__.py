"""Traces of the way of a perception through a mind, from its acceptance to the stream, for OpenTelemetry.

Nothing travels with events for it: ids of traces and spans are derived from what they name (``ids.py``), as all ids
of a mind are, so whoever holds a thought knows its trace. OpenTelemetry itself is imported by ``export.py`` alone, in
processes that trace.
"""
