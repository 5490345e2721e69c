"""One part of a conversation over autogen-core's gRPC runtime: host, hearer or sayer. Started by ``messages.py``.

Runs in an environment of its own: it imports nothing of this project. What it is to do comes on standard input and what
became of it goes to standard output, a line of JSON each.
"""

import asyncio
import json
import sys
import time
from dataclasses import dataclass

from autogen_core import (
    AgentId,
    DefaultTopicId,
    MessageContext,
    RoutedAgent,
    TypeSubscription,
    message_handler,
    try_get_known_serializers_for_type,
)
from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost


@dataclass
class Said:
    """What is said, and when."""

    text: str
    sent: float


@dataclass
class Heard:
    """That it was heard: without an answer the runtime of who said it waits for ever."""


heard = []


class Hearer(RoutedAgent):
    """Notes when it heard what."""

    def __init__(self):
        super().__init__("hearer")

    @message_handler
    async def hear(self, message: Said, ctx: MessageContext) -> Heard:  # noqa: ARG002 - as the runtime calls it
        heard.append((time.perf_counter(), message.sent))
        return Heard()


async def lines():
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        yield json.loads(line)


def tell(what):
    print(json.dumps(what), flush=True)


async def host(address):
    served = GrpcWorkerAgentRuntimeHost(address=address)
    served.start()
    tell("ready")
    async for _ in lines():
        pass
    await served.stop()


async def hear(address):
    runtime = GrpcWorkerAgentRuntime(host_address=address)
    runtime.add_message_serializer(try_get_known_serializers_for_type(Heard))
    await runtime.start()
    await Hearer.register(runtime, "hearer", Hearer)
    await runtime.add_subscription(TypeSubscription("default", "hearer"))
    tell("ready")
    async for wanted in lines():
        while len(heard) < wanted:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.002)
        tell({"rate": len(heard) / (heard[-1][0] - heard[0][1]), "late": [got - sent for got, sent in heard]})
        heard.clear()
    await runtime.stop()


async def say(address, text, every):
    runtime = GrpcWorkerAgentRuntime(host_address=address)
    for kind in (Said, Heard):
        runtime.add_message_serializer(try_get_known_serializers_for_type(kind))
    await runtime.start()
    to = AgentId("hearer", "default")
    tell("ready")
    async for how, count in lines():
        if how == "send":
            for first in range(0, count, 256):
                more = min(256, count - first)
                await asyncio.gather(*(runtime.send_message(Said(text, time.perf_counter()), to) for _ in range(more)))
        elif how == "publish":
            for _ in range(count):
                await runtime.publish_message(Said(text, time.perf_counter()), DefaultTopicId())
        else:
            for _ in range(count):
                await asyncio.sleep(every)
                await runtime.send_message(Said(text, time.perf_counter()), to)
        tell("done")
    await runtime.stop()


part, address, text, every = sys.argv[1:]
asyncio.run({"host": host, "hear": hear}[part](address) if part != "say" else say(address, text, float(every)))
