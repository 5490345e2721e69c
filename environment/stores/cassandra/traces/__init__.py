"""Traces: their versions, which are live, and where they are select_ids."""
