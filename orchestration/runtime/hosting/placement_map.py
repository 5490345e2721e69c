"""Which processes those live in who were born, where their kind is packed, and what parts of the budgets moved.

Pure: what is to be known to the next mind process goes through ``saved`` and ``restore``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import structs

from environment.messages import Instant
from environment.population import Member
from orchestration.growth.actor_messages import living_heir
from orchestration.growth.history import DAY
from orchestration.links.control import BudgetTransfer
from orchestration.runtime.hosting.packing import Pack, is_pack, kind_of, pack, pack_name
from orchestration.runtime.settings import DensitySettings

if TYPE_CHECKING:
    from orchestration.wiring import ActorPlan

Share: TypeAlias = Callable[[str], float]
"""What an actor has of a configured submind's part of the budgets."""
NOBODY: frozenset[str] = frozenset()


class _Move(msgspec.Struct, frozen=True):
    to: str
    """Who has it since."""
    at: Instant
    moved: BudgetTransfer


class _Saved(msgspec.Struct):
    homes: dict[str, str]
    moves: list[_Move]


class PlacementMap:
    """The packs of a mind: who lives in which, with room for how many.

    Guarantees: nobody lives in two; a pack never has more than its kind's density; a part of the budgets that went from
    one process to another is told to who has it since for a day, under one key, so that it counts there once.
    """

    def __init__(self, density: DensitySettings) -> None:
        self._density = density
        self._members: dict[str, set[str]] = {}
        """Pack to who lives in it, configured ones included."""
        self._homes: dict[str, str] = {}
        """The packs of those who were born."""
        self._moves: dict[str, _Move] = {}

    # --- what is so ---

    def home(self, name: str) -> str:
        """The process that a submind that was born lives in; its own, where that is no pack's."""
        return self._homes.get(name) or next((one for one, some in self._members.items() if name in some), name)

    def members(self, process: str) -> Collection[str]:
        """Who lives in a process."""
        return self._members.get(process, frozenset()) if is_pack(process) else frozenset({process})

    def packs(self, kind: str) -> list[str]:
        """Those of a kind that have room for one more."""
        most = self._density.of(kind)
        return [one for one, some in self._members.items() if kind_of(one) == kind and len(some) < most]

    @property
    def known(self) -> bool:
        """Whether there is anything that the next mind process must know."""
        return bool(self._homes or self._moves)

    def moves(self, name: str, now: Instant) -> tuple[BudgetTransfer, ...]:
        """Parts of the budgets that came to an actor from other processes within a day."""
        return tuple(one.moved for one in self._moves.values() if one.to == name and one.at > now - DAY)

    # --- what changes ---

    def restore(self, saved: bytes) -> None:
        """Know what an earlier mind process knew."""
        known = msgspec.json.decode(saved, type=_Saved)
        self._homes = known.homes
        self._moves = {one.moved.key: one for one in known.moves}

    def saved(self, now: Instant) -> bytes:
        """What the next one is to know. Bounded by who lives and by what moved within a day."""
        self._moves = {key: one for key, one in self._moves.items() if one.at > now - DAY}
        return msgspec.json.encode(_Saved(self._homes, list(self._moves.values())))

    def begin(
        self, plans: Iterable[ActorPlan], members: Mapping[str, Member], share: Share, left: Share, now: Instant
    ) -> list[Pack]:
        """Everybody's process at the start of a mind: those born are where they were, as far as there is room.

        ``members``: everybody who was ever born. ``left``: what one that retired had. Takes up what an earlier
        process granted but did not come to say.
        """
        everyone = list(plans)
        living = {name for name, member in members.items() if member.living}
        found = {one.name: one for one in pack([p for p in everyone if p.name not in living], self._density)}
        self._members = {one.name: {plan.name for plan in one.plans} for one in found.values() if is_pack(one.name)}
        before, self._homes = self._homes, {}
        new: dict[str, str] = {}
        for plan in everyone:
            if plan.name not in living:
                continue
            if self._density.of(plan.role) == 1:
                found[plan.name] = Pack(plan.name, (plan,))
                continue
            at, known = self._again(plan, before), before.get(plan.name)
            self.assign(plan.name, at)
            one = found.get(at, Pack(at, ()))
            found[at] = Pack(at, (*one.plans, plan))
            if at != known:
                new[plan.name] = known or self.home(members[plan.name].parent)
            if known is None:  # it may have had a process of its own
                self.moved(f"own:{plan.name}", plan.name, plan.name, share(plan.name), share, now)
        for name, source in new.items():
            self.moved(f"born:{name}", name, source, share(name), share, now)
        for name in before.keys() - living:
            if name in members:
                self.moved(f"left:{name}", living_heir(name, members), before[name], left(name), share, now)
        self._readdress(lambda to: living_heir(to, members))
        return list(found.values())

    def _again(self, plan: ActorPlan, before: Mapping[str, str]) -> str:
        known, most = before.get(plan.name, ""), self._density.of(plan.role)
        if kind_of(known) == plan.role and len(self._members.get(known, ())) < most:
            return known
        return min(self.packs(plan.role), key=lambda one: (len(self._members[one]), one), default=self.new(plan.role))

    def choose(
        self, kind: str, parent: str, nodes: Mapping[str, str], crowds: Mapping[str, int], per_node: int
    ) -> str | None:
        """The pack that one who is born comes to live in; None where it needs another.

        ``nodes``: packs that may take somebody in, with their nodes; ``crowds``: subminds on each node that takes
        newborns in. Where fewest live, rather in another than its parent's (what was too much for one is so for one
        core), and in the emptiest of those.
        """
        at = self.home(parent)
        open_to = [one for one in self.packs(kind) if crowds.get(nodes.get(one, "-"), per_node) < per_node]
        rank = {one: (crowds[nodes[one]], one == at, len(self._members[one]), len(one), one) for one in open_to}
        return min(open_to, key=rank.__getitem__, default=None)

    def new(self, kind: str) -> str:
        """A name for another pack: the lowest number that is free, so that there are never many names."""
        number = 1
        while (name := pack_name(kind, number)) in self._members:
            number += 1
        return name

    def assign(self, name: str, process: str) -> None:
        """Somebody who was born lives in that pack from now on."""
        self._members.setdefault(process, set()).add(name)
        self._homes[name] = process

    def leave(self, name: str, heir: str) -> bool:
        """Somebody lives no more; whether that leaves a pack empty, which there is none of any more then.

        Parts that came to it count with its heir: whether they did with it nobody knows.
        """
        process = self.home(name)
        self._readdress(lambda to: heir if to == name else to)
        self._homes.pop(name, None)
        some = self._members.get(process, set())
        some.discard(name)
        if some or process not in self._members:
            return False
        del self._members[process]
        return True

    def _readdress(self, present_of: Callable[[str], str]) -> None:
        self._moves = {key: structs.replace(one, to=present_of(one.to)) for key, one in self._moves.items()}

    def moved(self, key: str, to: str, source: str, part: float, share: Share, now: Instant) -> None:
        """``to`` has a part of the budgets that the process ``source`` had; nothing where it lives there as well."""
        if self.home(to) != source and key not in self._moves:
            rest = sum(share(name) for name in self.members(source) if name != to)
            self._moves[key] = _Move(to, now, BudgetTransfer(key, source, part, rest))
