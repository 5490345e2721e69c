"""The mind over HTTP: its stream as server-sent events, its state as JSON, and the page."""
