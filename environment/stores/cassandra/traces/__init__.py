"""Traces: their versions, which are live, and where they are met."""
