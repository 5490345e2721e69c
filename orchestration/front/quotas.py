"""Quotas of a front's callers, counted by whoever leads: a token has its quota once, through however many fronts."""

from collections.abc import Callable
from dataclasses import dataclass

from environment.errors import StoreUnavailable
from environment.latest import Latest
from orchestration.access.caller import Caller
from orchestration.access.errors import BadCredentials, OverAllowance
from orchestration.access.quotas import BYTES, PERCEPTIONS, Quotas
from orchestration.access.settings import QuotaSettings
from orchestration.client.errors import ClientError
from orchestration.front.upstream import Upstream
from orchestration.pb.submind.v1 import forwarding_pb2 as pb
from orchestration.schema.methods import method
from orchestration.schema.times import seconds_of

_AHEAD, _KEPT = 0.25, 1.0
"""Seconds' worth that is asked for beyond what is needed, so that the leader is asked a few times a second; and seconds
for which that may be used."""
_KNOWN = 4096


@dataclass(slots=True)
class _Prepaid:
    """What the leader has counted already, by the name of the quota."""

    left: dict[str, float]
    until: float


class LeaderQuotas(Quotas):
    """``Quotas`` of which the leader counts perceptions and bytes; streams are counted here.

    While the leader cannot be asked, which takes nothing in then either, this front counts by itself.
    """

    def __init__(self, settings: QuotaSettings, clock: Callable[[], float], upstream: Upstream) -> None:
        super().__init__(settings, clock)
        self._upstream = upstream
        self._prepaid = Latest[str, _Prepaid](_KNOWN)

    async def admit(self, caller: Caller, perceptions: int, size: int) -> None:
        """Count what comes in. Raises ``OverAllowance``, and then nothing was counted."""
        rates, amounts = self.rates(caller), {PERCEPTIONS: perceptions, BYTES: size}
        if not rates or self._spent(amounts, rates, caller.key):
            return
        request = pb.AllowRequest(
            caller=caller.name,
            kind=caller.kind,
            amount=pb.Amount(perceptions=perceptions, bytes=size),
            ahead=pb.Amount(**{_FIELDS[name]: int(_AHEAD * rate) for name, rate in rates.items()}),
            perceptions_per_second=caller.quota.perceptions_per_second,
            bytes_per_second=caller.quota.bytes_per_second,
        )
        try:
            said = await self._upstream.ask(method("ForwardService/Allow"), request)
        except (ClientError, StoreUnavailable, BadCredentials):
            self.take(caller, perceptions, size)
            return
        if said.quota:
            if self._spent(amounts, rates, caller.key):  # what others were given ahead while this one asked
                return
            self.hits[said.quota] += 1
            raise OverAllowance(caller.name, said.quota, said.allowed, seconds_of(said.retry_after))
        self._keep(caller.key, {PERCEPTIONS: said.ahead.perceptions, BYTES: said.ahead.bytes})

    def _spent(self, amounts: dict[str, int], rates: dict[str, float], key: str) -> bool:
        """Whether the leader has counted so much already, which is used up now."""
        prepaid = self._prepaid.get(key)
        if (
            prepaid is None
            or self._clock() >= prepaid.until
            or any(prepaid.left[name] < amounts[name] for name in rates)
        ):
            return False
        for name in rates:
            prepaid.left[name] -= amounts[name]
        return True

    def _keep(self, key: str, left: dict[str, float]) -> None:
        now, before = self._clock(), self._prepaid.get(key)
        if before is not None and now < before.until:  # of another who asked at the same time
            left = {name: amount + before.left.get(name, 0.0) for name, amount in left.items()}
        self._prepaid[key] = _Prepaid(left, now + _KEPT)


_FIELDS = {PERCEPTIONS: "perceptions", BYTES: "bytes"}
