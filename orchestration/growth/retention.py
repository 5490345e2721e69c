"""What retired subminds leave behind is removed long after: else a mind's registry would grow with every birth."""

from collections.abc import Callable, Iterable

from environment.population import Member
from environment.ports import Stores, WriteRemoved
from orchestration.clock import wall

AT_ONCE = 24
"""Subminds removed by one call: what is deleted stays in the way of a cluster's readers for a while."""


async def remove_retired(
    stores: Stores,
    members: Callable[[], Iterable[Member]],
    keep: float,
    fence: int,
    states_of: Callable[[str], Iterable[str]],
) -> list[str]:
    """Remove what those left who retired more than ``keep`` seconds ago; who they were, at most ``AT_ONCE``.

    Only of those whose heir has taken over what they left, and whose changes of connections are forgotten. Members
    themselves, the log of growth and their thoughts stay, so every explanation does. ``states_of`` names
    further states of one. Raises ``StoreUnavailable``, or ``FencedOut`` where another leads.
    """
    before = wall() - keep
    ended = {m.name for m in members() if m.retired is not None and m.retired < before and m.settled}
    if not ended:
        return []
    gone: list[str] = []
    for report in await stores.registry.reports():
        if report.name in ended and not await stores.registry.history(report.name, limit=1):
            gone.append(report.name)
        if len(gone) >= AT_ONCE:
            break
    if gone:
        states = [state for name in gone for state in states_of(name)]
        await stores.commit([WriteRemoved(tuple(gone), tuple(states))], fence)
    return gone
