"""Where operators have something forgotten, or held; what they say is kept, and whoever leads does it."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable

from actors.knowledge.entities import entity_of
from environment.erasure import FORGOTTEN, HOLDS, ForgetRecord, ForgetScope, LegalHold, ScopeKind, scope_of
from environment.identity import derived, perception_seq
from environment.messages import Instant
from environment.ports import Stores
from environment.stores.erasing import Eraser, survey
from environment.stores.movable import Movable
from orchestration.access.caller import CALLER
from orchestration.gateway.errors import Unknown
from orchestration.gateway.marking import nobody
from orchestration.pb.submind.v1 import forgetting_pb2
from orchestration.schema.convert import encode
from orchestration.schema.errors import InvalidRequest
from orchestration.schema.times import seconds_of


class ErasureDesk:
    """Requests and holds as operators make them, whether the mind process runs or not.

    Guarantee: what is answered is in the store. Raises ``UnderHold``, ``Unknown`` and ``StoreUnavailable``.
    """

    def __init__(
        self, stores: Movable, now: Callable[[], Instant], told: Callable[[], Awaitable[None]] = nobody
    ) -> None:
        """``now`` gives wall time; ``told`` is called after each request."""
        self.stores, self._now, self._told = stores, now, told

    async def forget(self, scope: ForgetScope, by: str, *, dry: bool) -> ForgetRecord:
        """Have a scope forgotten or, ``dry``, see what would go."""
        record = ForgetRecord(derived("f", scope.salt), scope, self._now(), by)
        holds = list((await HOLDS.all_of(self.stores.collections)).values())
        if dry:
            eraser = Eraser(self.stores, scope, dry=True)
            await eraser.run(holds)
            return ForgetRecord(record.id, scope, record.at, by, removed=+eraser.removed, redacted=+eraser.redacted)
        await survey(self.stores, scope, holds)
        await self.stores.commit([FORGOTTEN.write(record.id, record, time=record.at)])
        await self._told()
        return record

    async def forgotten(self) -> list[ForgetRecord]:
        """All requests, the latest first."""
        records = (await FORGOTTEN.all_of(self.stores.collections)).values()
        return sorted(records, key=lambda each: (-each.at, each.id))

    async def hold(self, scope: ForgetScope, title: str, reason: str, by: str) -> LegalHold:
        """Have a scope kept."""
        found, now = await survey(self.stores, scope), self._now()
        first, since = (found.first, found.since) if found.seqs else (found.up_to + 1, now)
        made = LegalHold(derived("h", scope.salt), scope, title, reason, now, by, first, since)
        await self.stores.commit([HOLDS.write(made.id, made, time=now)])
        return made

    async def holds(self) -> list[LegalHold]:
        """Those that stand, the latest first."""
        held = (await HOLDS.all_of(self.stores.collections)).values()
        return sorted(held, key=lambda each: (-each.at, each.id))

    async def release(self, key: str) -> LegalHold:
        """Let go of a hold; as it stood."""
        held = await HOLDS.get(self.stores.collections, key)
        if held is None:
            raise Unknown("hold", key)
        await self.stores.commit([HOLDS.remove(key, time=self._now())])
        return held


async def _meant(stores: Stores, target: forgetting_pb2.ForgetTarget) -> tuple[ForgetScope, list[str]]:
    """The scope that a target means, and its names. Raises ``InvalidRequest``."""
    dated = target.HasField("since") or target.HasField("until")
    if sum((bool(target.person), bool(target.source), dated, bool(target.perception))) != 1:
        raise InvalidRequest("target", "give one of person, source, perception, or since and until")
    salt = secrets.token_hex(16)
    if dated:
        since, until = (
            seconds_of(getattr(target, end)) if target.HasField(end) else None for end in ("since", "until")
        )
        return scope_of(ScopeKind.RANGE, [], salt, since=since, until=until), []
    if target.perception:
        if perception_seq(target.perception) is None:
            raise InvalidRequest("target.perception", f"{target.perception!r} is no id of a perception")
        return scope_of(ScopeKind.PERCEPTION, [], salt, perception=target.perception), []
    if target.source:
        return scope_of(ScopeKind.SOURCE, [target.source], salt), [target.source]
    entity = await entity_of(stores.collections, target.person)
    names = [target.person, *((entity.name, *entity.aliases) if entity is not None else ())]
    try:
        return scope_of(ScopeKind.PERSON, names, salt), list(dict.fromkeys(names))
    except ValueError as error:
        raise InvalidRequest("target.person", str(error)) from None


def _titled(target: forgetting_pb2.ForgetTarget) -> str:
    since, until = (getattr(target, end).ToJsonString() if target.HasField(end) else "" for end in ("since", "until"))
    return target.person or target.source or target.perception or f"{since} to {until}"


class ForgettingService:
    """``submind.v1.ForgettingService``."""

    def __init__(self, desk: ErasureDesk) -> None:
        self._desk = desk

    async def forget(self, request: forgetting_pb2.ForgetRequest) -> forgetting_pb2.ForgetResponse:
        """Have something forgotten."""
        scope, names = await _meant(self._desk.stores, request.target)
        made = await self._desk.forget(scope, CALLER.get().signs(request.by), dry=request.dry_run)
        return forgetting_pb2.ForgetResponse(record=_record(made), names=names)

    async def list_forgotten(self, _: forgetting_pb2.ListForgottenRequest) -> forgetting_pb2.ListForgottenResponse:
        """What came of requests."""
        return forgetting_pb2.ListForgottenResponse(records=map(_record, await self._desk.forgotten()))

    async def hold(self, request: forgetting_pb2.HoldRequest) -> forgetting_pb2.HoldResponse:
        """Have something kept."""
        scope, _ = await _meant(self._desk.stores, request.target)
        signed = CALLER.get().signs(request.by)
        return forgetting_pb2.HoldResponse(
            hold=_hold(await self._desk.hold(scope, _titled(request.target), request.reason, signed))
        )

    async def list_holds(self, _: forgetting_pb2.ListHoldsRequest) -> forgetting_pb2.ListHoldsResponse:
        """What is held."""
        return forgetting_pb2.ListHoldsResponse(holds=map(_hold, await self._desk.holds()))

    async def release(self, request: forgetting_pb2.ReleaseRequest) -> forgetting_pb2.ReleaseResponse:
        """Let go of a hold."""
        return forgetting_pb2.ReleaseResponse(hold=_hold(await self._desk.release(request.id)))


def _record(made: ForgetRecord) -> forgetting_pb2.ForgetRecord:
    return encode(forgetting_pb2.ForgetRecord, made, kind=made.scope.kind)


def _hold(made: LegalHold) -> forgetting_pb2.LegalHold:
    return encode(forgetting_pb2.LegalHold, made, kind=made.scope.kind)
