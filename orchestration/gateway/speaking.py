"""Speaking to the mind as an operator: it is written down what became of it, once that is known."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from environment.errors import StoreUnavailable
from orchestration.access.caller import CALLER
from orchestration.access.errors import AccessError
from orchestration.access.gate import Access
from orchestration.gateway.errors import GatewayError, Stopping
from orchestration.schema.errors import InvalidRequest

DONE = "done"


def outcome_of(error: BaseException | None) -> str:
    """What became of a batch, in the words of the audit log."""
    match error:
        case None:
            return DONE
        case asyncio.CancelledError():
            return "unknown: whoever said it did not wait for the answer"
        case StoreUnavailable() | Stopping():
            return f"failed: {error}"
        case GatewayError() | InvalidRequest() | AccessError():
            return f"refused: {error}"
        case _:
            return f"failed: {type(error).__name__}"


@contextmanager
def speaking(access: Access, sources: Iterable[str]) -> Iterator[None]:
    """While a batch is taken in. Raises ``Forbidden`` where its caller may not speak as its sources."""
    caller = CALLER.get()
    said = access.speaks(caller, sources)
    try:
        yield
    except BaseException as error:
        access.spoke(caller, said, outcome_of(error))
        raise
    access.spoke(caller, said, DONE)
