"""Forgetting on request and legal holds, for a client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestration.pb.submind.v1 import forgetting_pb2 as pb
from orchestration.schema.convert import encode

if TYPE_CHECKING:
    from orchestration.client.mind import MindClient

_LONG = 600.0
"""Seconds for a look at all that was ever perceived."""


def forget_target(
    person: str = "",
    *,
    source: str = "",
    since: float | None = None,
    until: float | None = None,
    perception: str = "",
) -> pb.ForgetTarget:
    """What is meant: one of these, or a stretch of event time."""
    return encode(pb.ForgetTarget, person=person, source=source, since=since, until=until, perception=perception)


class ErasureClient:
    """What ``MindClient.erasure`` offers. Raises ``ClientError`` where a hold forbids it, which its message names."""

    def __init__(self, mind: MindClient, by: str = "") -> None:
        self._mind, self._by = mind, by

    async def forget(self, target: pb.ForgetTarget, *, dry_run: bool = False) -> pb.ForgetResponse:
        """Have something forgotten: the request as it is kept and, with ``dry_run``, what would go."""
        request = pb.ForgetRequest(target=target, dry_run=dry_run, by=self._by)
        found: pb.ForgetResponse = await self._mind.ask("ForgettingService/Forget", request, within=_LONG)
        return found

    async def forgotten(self) -> list[pb.ForgetRecord]:
        """Requests and what came of them, the latest first."""
        return list((await self._mind.ask("ForgettingService/ListForgotten", pb.ListForgottenRequest())).records)

    async def hold(self, target: pb.ForgetTarget, reason: str) -> pb.LegalHold:
        """Have something kept."""
        request = pb.HoldRequest(target=target, reason=reason, by=self._by)
        found: pb.LegalHold = (await self._mind.ask("ForgettingService/Hold", request, within=_LONG)).hold
        return found

    async def holds(self) -> list[pb.LegalHold]:
        """The holds that stand, the latest first."""
        return list((await self._mind.ask("ForgettingService/ListHolds", pb.ListHoldsRequest())).holds)

    async def release(self, hold: str) -> pb.LegalHold:
        """Let go of a hold. Raises ``NotFound``."""
        found: pb.LegalHold = (
            await self._mind.ask("ForgettingService/Release", pb.ReleaseRequest(id=hold, by=self._by))
        ).hold
        return found
