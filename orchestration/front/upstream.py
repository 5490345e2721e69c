"""The connection to the leader: the one place that knows how a front shows who it is, and how it knows the leader."""

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import quote

import grpc
from google.protobuf.message import Message

from orchestration.access.caller import ANYBODY, CALLER
from orchestration.client.credentials import Credentials, Metadata
from orchestration.client.errors import Unavailable, translate
from orchestration.front.errors import NoLeader
from orchestration.front.leaders import Leaders
from orchestration.front.settings import FrontSettings
from orchestration.gateway.admission import BEHALF
from orchestration.schema.methods import Method

_HUNG_UP = "the connection to it was given up"
_RENEWED = 5.0
"""Seconds after which a leader of an older version is asked again what it does not know."""


class Upstream:
    """A channel to whoever leads, opened when it is first needed and again when another leads.

    Files of certificates and tokens are read whenever one is opened, so that replaced ones count from then on.
    """

    def __init__(
        self, leaders: Leaders, settings: FrontSettings, *, message_bytes: int, token_file: Path | None
    ) -> None:
        """``token_file``: where no other is configured. Raises ``BadCredentials`` for files that cannot be used."""
        self._leaders = leaders
        self._settings = settings
        own = settings.upstream
        self._shown = own if own.token_file else own.model_copy(update={"token_file": token_file})
        self._credentials = Credentials(self._shown)
        self._options = _options(settings, message_bytes)
        self._channel: grpc.aio.Channel | None = None
        self._target = ""

    def metadata(self, behalf: str = "") -> Metadata:
        """What goes with every call: the token, and in whose name it is made: ``behalf``, or whoever calls now."""
        caller = CALLER.get()
        behalf = behalf or ("" if caller is ANYBODY else caller.told)
        shown = self._credentials.metadata()
        return (*shown, (BEHALF, quote(behalf))) if behalf else shown

    async def channel(self, target: str) -> grpc.aio.Channel:
        """The channel to ``target``; any other is closed. Raises ``BadCredentials``."""
        if self._channel is None or self._target != target:
            await self.close()
            self._credentials = await asyncio.to_thread(Credentials, self._shown)
            if self._channel is not None:  # somebody was faster
                return await self.channel(target)
            self._target = target
            self._channel = self._credentials.channel(target, self._options)
        return self._channel

    async def close(self) -> None:
        """Hang up. May be called twice."""
        if self._channel is not None:
            channel, self._channel = self._channel, None
            await channel.close(None)

    async def ask(self, method: Method, request: Message, *, within: float | None = None) -> Any:
        """One question to the leader, asked once, answered ``within`` or ``ask_timeout`` seconds.

        Raises ``NoLeader``, ``BadCredentials`` and what a client may be told.
        """
        target = self._leaders.address
        if not target:
            raise NoLeader(self._leaders.why_not)
        channel = await self.channel(target)
        task = asyncio.current_task()
        try:
            return await method.on(channel)(
                request, metadata=self.metadata(), timeout=within or self._settings.ask_timeout
            )
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                older = f"{target}, which leads, does not know {method.name}: ask again when it is of this version"
                raise Unavailable("UNAVAILABLE", older, _RENEWED) from error
            raise translate(error) from error
        except (grpc.aio.UsageError, grpc.aio.BaseError) as error:
            raise NoLeader(_HUNG_UP) from error
        except asyncio.CancelledError as error:  # which a call is as well when its channel is closed
            if task is None or task.cancelling():
                raise
            raise NoLeader(_HUNG_UP) from error


def _options(settings: FrontSettings, message_bytes: int) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", 2 * message_bytes),
        ("grpc.max_send_message_length", 2 * message_bytes),
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", int(1000 * settings.connect_timeout)),
        ("grpc.max_reconnect_backoff_ms", 1000),
        ("grpc.use_local_subchannel_pool", 1),  # a new channel connects anew, whatever an earlier one met
    ]
