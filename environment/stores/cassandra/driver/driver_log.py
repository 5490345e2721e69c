"""The driver's own log, made fit to be read: a line for each thing that happens, once."""

from __future__ import annotations

import logging

_LOGGERS = ("cassandra.cluster", "cassandra.pool", "cassandra.connection", "cassandra.protocol")
_TOLD = (
    "Control connection failed to connect",  # the session raises it, with what to put right
    "Error preparing query",  # the same
    "Server warning: `USE <keyspace>` with prepared statements",  # here the keyspace goes with each statement
)


def calm() -> None:
    """From now on the driver logs no tracebacks, and nothing that is told elsewhere. May be called again."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_readable)


def _readable(record: logging.LogRecord) -> bool:
    message = record.getMessage()
    if message.startswith(_TOLD):
        return False
    if record.exc_info and record.exc_info[1] is not None:
        error = record.exc_info[1]
        record.msg = f"{message.rstrip(' :')}: {type(error).__name__}: {' '.join(str(error).split())}"
        record.args = ()
    record.exc_info, record.exc_text = None, None
    return True
