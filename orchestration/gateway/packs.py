"""Where operators add packs and take them away: what they give is kept at once, and the mind, when it runs, is told."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from actors.knowledge.fact import FACTS
from actors.knowledge.pack_files import read_pack
from environment.errors import BadPack
from environment.identity import derived
from environment.packs import PACKS, KnownPack, PackSection, keep_packs, source_of
from orchestration.gateway.errors import Unknown
from orchestration.pb.submind.v1 import packs_pb2 as pb
from orchestration.schema.convert import encode
from orchestration.schema.errors import InvalidRequest
from orchestration.view.mind import MindView


class PackService:
    """``submind.v1.PackService``, whether the mind process runs or not.

    Guarantee: what is answered is in the store; said again it changes nothing. Raises ``InvalidRequest``, ``Unknown``
    and ``StoreUnavailable``.
    """

    def __init__(self, view: MindView, told: Callable[[], Awaitable[None]]) -> None:
        """``told`` is called after each change, so that the mind process looks at the packs."""
        self._stores, self._settings, self._told = view.stores, view.around.knowledge, told

    async def list_packs(self, _: pb.ListPacksRequest) -> pb.ListPacksResponse:
        """All there are."""
        return encode(pb.ListPacksResponse, packs=(await self._packs()).values())

    async def add_pack(self, request: pb.AddPackRequest) -> pb.AddPackResponse:
        """Another one, or another version."""
        known, name = self._settings, request.name
        every = (await PACKS.all_of(self._stores.collections)).values()
        kept = [one for one in every if one.pack != name or not one.added]
        if any(one.pack == name for one in kept) or name in {file.name for file in known.packs}:
            raise InvalidRequest("name", f"{name} is a pack of knowledge.packs: change that file")
        try:
            bounds = known.pack_trust, known.pack_sections, len(kept)
            read = await asyncio.to_thread(read_pack, name, request.text, *bounds)
        except BadPack as error:
            raise InvalidRequest("text", str(error)) from None
        change = await keep_packs(self._stores, [replace(one, added=True) for one in read.values()], added=name)
        await self._told()
        pack = (await self._packs())[name]
        return encode(pb.AddPackResponse, pack=pack, came=len(change.came), gone=len(change.gone))

    async def remove_pack(self, request: pb.RemovePackRequest) -> pb.RemovePackResponse:
        """One less."""
        pack = (await self._packs()).get(request.name)
        if pack is None:
            raise Unknown("pack", request.name)
        if not pack.added:
            raise InvalidRequest("name", f"{pack.name} is a pack of knowledge.packs: take it out there")
        await keep_packs(self._stores, (), added=pack.name)
        await self._told()
        return encode(pb.RemovePackResponse, pack=pack)

    async def _packs(self) -> dict[str, KnownPack]:
        """What there is, by name."""
        found: dict[str, list[PackSection]] = {}
        for one in (await PACKS.all_of(self._stores.collections)).values():
            found.setdefault(one.pack, []).append(one)
        facts = (await FACTS.all_of(self._stores.collections)).values() if found else ()
        cited = [{ref.source for ref in fact.evidence} for fact in facts]
        return {
            name: KnownPack(
                name,
                derived("v", *sorted(one.id for one in sections))[2:10],
                len(sections),
                sum(any(source.startswith(source_of(name)) for source in sources) for sources in cited),
                sections[0].added,
            )
            for name, sections in sorted(found.items())
        }
