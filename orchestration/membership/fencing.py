"""From being elected to being the one whom the stores obey."""

from __future__ import annotations

from typing import Protocol

import structlog

from environment.errors import FencedOut
from orchestration.membership.errors import NotLeading
from orchestration.membership.ports import LeaderTerm

_log = structlog.get_logger(__name__)
_ATTEMPTS = 8


class Fenced(Protocol):
    """A store that refuses writers of older epochs: ``Stores``, ``PerceptionLog``."""

    async def lead(self, token: int | None = None) -> int:
        """Begin epoch ``token``, or the next one. Raises ``FencedOut`` where it has seen as large a token."""
        ...


async def take_lead(term: LeaderTerm, store: Fenced, *others: Fenced) -> int:
    """Lead ``store`` and ``others`` under ``term``; the fence to commit to ``store`` with.

    Stores that have seen larger tokens, because they were led before etcd was there or etcd was set up anew, make the
    token of the term rise. Raises ``NotLeading`` when the term is over meanwhile, ``StoreUnavailable``, and
    ``CoordinationUnavailable`` when it should rise and etcd is away.
    """
    if term.token is None:
        for other in others:
            await other.lead()
        return await store.lead()
    for _ in range(_ATTEMPTS):
        token = term.token
        if not term.leads():
            break
        try:
            for fenced in (store, *others):
                await fenced.lead(token)
        except FencedOut as error:
            _log.warning("token_too_small", token=token, epoch=error.current)
            await term.advance(error.current)
            continue
        return token
    raise NotLeading(term.candidate, term.reason or "the stores know a newer leader each time they are asked")
