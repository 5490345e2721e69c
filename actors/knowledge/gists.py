"""Gists as those are told of them who ask what usually happens."""

from __future__ import annotations

from collections.abc import Sequence

from actors.answering.episodes import EpisodeFollower
from actors.answering.usual import Recurrence
from actors.knowledge.fact import FACTS, GISTS, RECURS, FactStanding
from actors.knowledge.routines import day
from actors.substrate.ports import Embedder
from environment.ports import Stores


def follower(
    stores: Stores, most: int, interlocutors: Sequence[str], embedder: Embedder | None = None, query_prefix: str = ""
) -> EpisodeFollower:
    """Who answers from what a mind perceived and from its gists."""

    async def gists() -> list[Recurrence]:
        found = [fact for fact in (await FACTS.all_of(stores.collections, GISTS)).values() if fact.relation == RECURS]
        return [
            Recurrence(
                fact.subject,
                f"{fact.value}, until {day(fact.until, fact.until)}" if fact.until is not None else fact.value,
                fact.evidence[-1],
                fact.trust,
                fact.confidence,
                fact.since,
                over=not fact.open,
            )
            for fact in found
            if fact.standing is FactStanding.HELD
        ]

    return EpisodeFollower(stores, most, interlocutors, embedder, query_prefix, gists)
