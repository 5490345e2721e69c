"""Addresses that every mind has."""

ENVIRONMENT = "environment"
ATTENTION = "attention"
STREAM = "stream"
THINKING = "thinking"
MONITORING = "monitoring"
CONTROL = "control"
MATTERS = "matters"
