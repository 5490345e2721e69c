"""Where operators have something forgotten, or held; what they say is kept, and whoever leads does it."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace

import msgspec

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
from orchestration.pb.submind.v1 import forgetting_pb2 as pb
from orchestration.schema.convert import encode
from orchestration.schema.errors import InvalidRequest
from orchestration.schema.times import seconds_of


async def _meant(stores: Stores, target: pb.ForgetTarget) -> tuple[ForgetScope, list[str]]:
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


def _titled(target: pb.ForgetTarget) -> str:
    since, until = (getattr(target, end).ToJsonString() if target.HasField(end) else "" for end in ("since", "until"))
    return target.person or target.source or target.perception or f"{since} to {until}"


class ForgettingService:
    """``submind.v1.ForgettingService``, whether the mind process runs or not.

    Guarantee: what is answered is in the store. Raises ``UnderHold``, ``Unknown`` and ``StoreUnavailable``.
    """

    def __init__(
        self, stores: Movable, now: Callable[[], Instant], told: Callable[[], Awaitable[None]] = nobody
    ) -> None:
        """``now`` gives wall time; ``told`` is called after each request."""
        self._stores, self._now, self._told = stores, now, told

    async def forget(self, request: pb.ForgetRequest) -> pb.ForgetResponse:
        """Have something forgotten or, in a dry run, see what would go."""
        scope, names = await _meant(self._stores, request.target)
        record = ForgetRecord(derived("f", scope.salt), scope, self._now(), CALLER.get().signs(request.by))
        holds = list((await HOLDS.all_of(self._stores.collections)).values())
        if request.dry_run:
            eraser = Eraser(self._stores, scope, dry=True)
            await eraser.run(holds)
            record = replace(record, removed=+eraser.removed, redacted=+eraser.redacted)
        else:
            await survey(self._stores, scope, holds)
            await self._stores.commit([FORGOTTEN.write(record.id, record, time=record.at)])
            await self._told()
        return pb.ForgetResponse(record=_record(record), names=names)

    async def list_forgotten(self, _: pb.ListForgottenRequest) -> pb.ListForgottenResponse:
        """What came of requests."""
        records = (await FORGOTTEN.all_of(self._stores.collections)).values()
        return pb.ListForgottenResponse(records=map(_record, sorted(records, key=lambda one: (-one.at, one.id))))

    async def hold(self, request: pb.HoldRequest) -> pb.HoldResponse:
        """Have something kept."""
        scope, _ = await _meant(self._stores, request.target)
        found, now, by = await survey(self._stores, scope), self._now(), CALLER.get().signs(request.by)
        first, since = (found.first, found.since) if found.seqs else (found.up_to + 1, now)
        title, reason = _titled(request.target), request.reason
        made = LegalHold(derived("h", scope.salt), scope, title, reason, now, by, first, since)
        await self._stores.commit([HOLDS.write(made.id, made, time=now)])
        return pb.HoldResponse(hold=_hold(made))

    async def list_holds(self, _: pb.ListHoldsRequest) -> pb.ListHoldsResponse:
        """What is held."""
        held = (await HOLDS.all_of(self._stores.collections)).values()
        return pb.ListHoldsResponse(holds=map(_hold, sorted(held, key=lambda one: (-one.at, one.id))))

    async def release(self, request: pb.ReleaseRequest) -> pb.ReleaseResponse:
        """Let go of a hold."""
        held = await HOLDS.get(self._stores.collections, request.id)
        if held is None:
            raise Unknown("hold", request.id)
        await self._stores.commit([HOLDS.remove(request.id, time=self._now())])
        return pb.ReleaseResponse(hold=_hold(held))


def _record(made: ForgetRecord) -> pb.ForgetRecord:
    return encode(pb.ForgetRecord, made, kind=made.scope.kind, scope=msgspec.json.encode(made.scope).decode())


def _hold(made: LegalHold) -> pb.LegalHold:
    return encode(pb.LegalHold, made, kind=made.scope.kind)
