"""Traces: their versions, which are live, and which may be forgotten."""
