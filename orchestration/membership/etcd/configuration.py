"""The live configuration: the newest version under one key, each version under one of its own."""

import asyncio
import random
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import aclosing
from typing import Any

import msgspec
import structlog
from aetcd.transactions import Delete, Mod, Put

from environment.messages import Instant
from orchestration.membership.errors import ConfigurationMoved, ConfigurationRefused, CoordinationUnavailable
from orchestration.membership.etcd.client import EtcdClient, Kv
from orchestration.membership.etcd.watch import mirror
from orchestration.membership.keys import Keys
from orchestration.membership.ports import ConfigurationVersion
from orchestration.membership.settings import CoordinationSettings
from orchestration.membership.tunables import tunable_paths, tuned, value_at
from orchestration.settings import Settings

_log = structlog.get_logger(__name__)
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(ConfigurationVersion)
_ATTEMPTS = 16


class EtcdConfiguration:
    """``LiveConfiguration`` in etcd: a change is one transaction on the version it was checked against."""

    def __init__(self, client: EtcdClient, keys: Keys, settings: CoordinationSettings, base: Settings) -> None:
        self._client = client
        self._keys = keys
        self._settings = settings
        self._base = base
        self._chance = random.SystemRandom()

    async def current(self) -> ConfigurationVersion:
        return _read(await self._client.get(self._keys.configuration))

    async def change(
        self,
        values: Mapping[str, Any],
        *,
        by: str,
        at: Instant,
        reset: Collection[str] = (),
        base: int | None = None,
    ) -> ConfigurationVersion:
        _check(values, by, reset)
        wanted: ConfigurationVersion | None = None
        for _ in range(_ATTEMPTS):
            found = await self._client.get(self._keys.configuration)
            now = _read(found)
            if wanted is not None and now == wanted:  # it went through, and only the answer was lost
                return now
            if base is not None and now.version != base:
                raise ConfigurationMoved(base, now.version)
            wanted = self._changed(now, values, by, at, reset)
            try:
                if await self._put(wanted, 0 if found is None else found.mod):
                    return wanted
            except CoordinationUnavailable as error:
                if await self._arrived(wanted):
                    return wanted
                raise CoordinationUnavailable(f"{error}; the live configuration has not changed so far") from error
            await asyncio.sleep(self._chance.uniform(0, 0.05))
        raise CoordinationUnavailable("the live configuration is being changed too often at once", retry_after=1.0)

    async def history(self, limit: int = 50) -> list[ConfigurationVersion]:
        found, _ = await self._client.range(self._keys.configurations)
        return [_read(found[key]) for key in sorted(found, reverse=True)[:limit]]

    async def watch(self) -> AsyncIterator[ConfigurationVersion]:
        newest, key = -1, self._keys.configuration
        async with aclosing(mirror(self._client, key, self._settings.lease, self._settings.lease / 10)) as states:
            async for state in states:
                try:
                    said = _read(state.get(key))
                except CoordinationUnavailable as error:
                    _log.warning("live_configuration_unread", reason=str(error))
                    continue
                if said.version > newest:
                    newest = said.version
                    yield said

    def _changed(
        self, now: ConfigurationVersion, values: Mapping[str, Any], by: str, at: Instant, reset: Collection[str]
    ) -> ConfigurationVersion:
        """The next version, checked by the settings' own models, its values as they understand them."""
        over = {path: value for path, value in (dict(now.values) | dict(values)).items() if path not in reset}
        settings = tuned(self._base, over)
        over = {path: value_at(settings, path) for path in sorted(over)}
        return ConfigurationVersion(now.version + 1, at, by, over, tuple(sorted({*values, *reset})))

    async def _put(self, wanted: ConfigurationVersion, revision: int) -> bool:
        body = _ENCODER.encode(wanted)
        steps = [
            Put(self._keys.configuration.encode(), body),
            Put(self._keys.version(wanted.version).encode(), body),
        ]
        oldest = wanted.version - self._settings.history + 1
        if oldest > 1:
            first = self._keys.configurations.encode()
            steps.append(Delete(first, self._keys.version(oldest).encode()))
        return await self._client.transact([Mod(self._keys.configuration) == revision], steps)

    async def _arrived(self, wanted: ConfigurationVersion) -> bool:
        """Whether a version whose answer was lost is there. Raises ``CoordinationUnavailable`` when that is unknown."""
        found = await self._client.get(self._keys.version(wanted.version))
        return found is not None and _read(found) == wanted


def _check(values: Mapping[str, Any], by: str, reset: Collection[str]) -> None:
    if not by:
        raise ConfigurationRefused(("a change says who makes it",))
    if not values and not reset:
        raise ConfigurationRefused(("nothing is to be changed",))
    problems = [f"`{path}` is both set and taken back" for path in values if path in reset]
    known = tunable_paths()
    problems += [
        f"`{path}` was never changed live: there is nothing to take back" for path in reset if path not in known
    ]
    if problems:
        raise ConfigurationRefused(tuple(problems))


def _read(found: Kv | None) -> ConfigurationVersion:
    if found is None:
        return ConfigurationVersion()
    try:
        return _DECODER.decode(found.value)
    except msgspec.MsgspecError as error:
        raise CoordinationUnavailable(f"{found.key} is not a live configuration: {error}", retry_after=60.0) from None
