"""Following keys: what is under a prefix now, and whenever it changes."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import structlog
from aetcd import rpc
from aetcd.utils import prefix_range_end

from environment.errors import FieldedError
from orchestration.membership.errors import BadCoordination, CoordinationError, CoordinationUnavailable
from orchestration.membership.etcd.client import EtcdClient, EtcdMember, Kv
from orchestration.membership.etcd.faults import coordination_error

_log = structlog.get_logger(__name__)


class Compacted(FieldedError, CoordinationError):
    """The changes asked for are not kept any more: read the keys as they are."""

    revision: int


class KeyWatch:
    """Changes under a prefix, from a revision on."""

    def __init__(self, client: EtcdClient, member: EtcdMember, call: Any) -> None:
        self._client = client
        self._member = member
        self._call = call
        self._reading: asyncio.Task[Any] | None = None

    async def next(self, within: float) -> list[tuple[str, Kv | None]] | None:
        """The next changes, in order (None: deleted), or None when there were none ``within`` so many seconds.

        Raises ``Compacted``, and ``CoordinationUnavailable`` when the stream broke.
        """
        self._reading = self._reading or asyncio.create_task(self._call.read())
        done, _ = await asyncio.wait([self._reading], timeout=within)
        if not done:
            return None
        reading, self._reading = self._reading, None
        try:
            answer = reading.result()
        except rpc.AioRpcError as error:
            self._client.turn_from(self._member)
            raise coordination_error(error, self._member.label, self._client.prefix) from error
        if not isinstance(answer, rpc.WatchResponse):
            self._client.turn_from(self._member)
            raise CoordinationUnavailable(f"{self._member.label} ended a watch")
        if answer.compact_revision:
            raise Compacted(int(answer.compact_revision))
        if answer.canceled:
            self._client.turn_from(self._member)
            raise CoordinationUnavailable(f"{self._member.label} ended a watch: {answer.cancel_reason or 'unsaid why'}")
        return [_change(event) for event in answer.events]

    def end(self) -> None:
        """Stop watching; a ``next`` under way is cancelled."""
        if self._reading is not None:
            self._reading.cancel()
        self._call.cancel()


def _change(event: Any) -> tuple[str, Kv | None]:
    kv = event.kv
    key = kv.key.decode()
    if event.type == rpc.Event.DELETE:
        return key, None
    return key, Kv(key, bytes(kv.value), int(kv.mod_revision), int(kv.lease))


@asynccontextmanager
async def watching(client: EtcdClient, prefix: str, revision: int) -> AsyncIterator[KeyWatch]:
    """Watch a prefix from ``revision`` on. Raises ``CoordinationUnavailable`` when nobody takes it on in time."""
    member = await client.member()
    # A member that has lost the others ends the stream rather than staying silent.
    metadata = (*(member.metadata or ()), ("hasleader", "true"))
    call = rpc.WatchStub(member.channel).Watch(metadata=metadata)
    watch = KeyWatch(client, member, call)
    try:
        create = rpc.WatchCreateRequest(
            key=prefix.encode(), range_end=prefix_range_end(prefix.encode()), start_revision=revision
        )
        try:
            async with asyncio.timeout(client.timeout):
                await call.write(rpc.WatchRequest(create_request=create))
                first = await watch.next(client.timeout)
        except TimeoutError:
            first = None
        except (rpc.AioRpcError, asyncio.InvalidStateError) as error:
            client.turn_from(member)
            raise coordination_error(error, member.label, client.prefix) from error
        if first is None:
            client.turn_from(member)
            raise CoordinationUnavailable(f"{member.label} does not take on a watch in time")
        yield watch
    finally:
        watch.end()


async def mirror(client: EtcdClient, prefix: str, every: float, retry: float) -> AsyncGenerator[Mapping[str, Kv], None]:
    """What is under a prefix, by key, and again after each change, for ever: over broken streams and compactions.

    A watch that is silent for ``every`` seconds is opened anew, so that a member that froze is noticed.
    """
    chance = random.SystemRandom()
    complained = ""
    while True:
        try:
            state, revision = await client.range(prefix)
            yield dict(state)
            complained = ""
            async with watching(client, prefix, revision + 1) as watch:
                while (changes := await watch.next(every)) is not None:
                    for key, kv in changes:
                        if kv is None:
                            state.pop(key, None)
                        else:
                            state[key] = kv
                    if changes:
                        yield dict(state)
        except Compacted:
            continue
        except (CoordinationUnavailable, BadCoordination) as error:
            if str(error) != complained:
                complained = str(error)
                _log.warning("watch_broken", prefix=prefix, reason=complained)
            await asyncio.sleep(retry * chance.uniform(0.5, 1.0))
