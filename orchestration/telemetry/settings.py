"""Configuration of logs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from environment.config import Section


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
