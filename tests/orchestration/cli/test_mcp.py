"""``submind mcp``, driven by the client of the protocol's own SDK."""

import asyncio
import json
import sys
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

from environment.ports import WriteEntries
from orchestration.access.scopes import Scope
from tests.environment.stores.making import entry, perception
from tests.orchestration.access.conftest import header, keys
from tests.orchestration.access.conftest import serve as guarded
from tests.orchestration.cli.conftest import ROOT, environ, start, submind
from tests.servers.process import free_ports

__all__ = ["guarded", "keys"]


async def told(session: ClientSession, name: str, **given: Any) -> Any:
    answer = await session.call_tool(name, given)
    (content,) = answer.content
    return content.text if answer.isError else json.loads(content.text)


async def test_another_agent_uses_the_memory_over_stdio(gateway: Any, at: list[str]) -> None:
    command = ["-m", "orchestration.cli", "mcp", "--source", "scout", *at]
    await gateway.stores.perceptions.append([perception(1, text="Ada: the pump leaks since 11:40", source="chat")])
    await gateway.stores.commit([WriteEntries((entry(1), entry(2)))])
    async with (
        stdio_client(StdioServerParameters(command=sys.executable, args=command, env=environ(), cwd=ROOT)) as streams,
        ClientSession(*streams) as session,
    ):
        await session.initialize()
        assert {tool.name for tool in (await session.list_tools()).tools} == {
            "recall", "remember", "ask", "matters", "stream",
        }  # fmt: skip
        kept = await told(session, "remember", text="the spare key hangs behind the boiler")
        assert kept["new"]
        found = await told(session, "recall", text="where is the key?", k=1)
        assert [(one["perception"]["id"], one["words"]) for one in found["episodes"]] == [(kept["id"], ["key"])]
        assert found["episodes"][0]["perception"]["source"] == "scout"
        assert "11:40" in (await told(session, "ask", question="what is wrong with the pump?"))["text"]
        assert (await told(session, "matters"))["matters"] == []
        assert [one["seq"] for one in (await told(session, "stream", limit=1))["entries"]] == [2]
        assert [one["seq"] for one in (await told(session, "stream", from_seq=1))["entries"]] == [1, 2]
        assert "since tomorrow" in await told(session, "recall", text="key", since="tomorrow")


async def test_over_http_each_caller_may_do_what_its_own_token_allows(guarded: Any, keys: Any, tmp_path: Any) -> None:
    (tmp_path / "token").write_text(keys.make("host"))
    reader = keys.make("reader", Scope.WATCH)
    (port,) = free_ports(1)
    async with guarded() as served:
        await served.stores.perceptions.append([perception(1, text="the boiler hums")])
        answer = await served.http.get("/v1/recall", params={"q": "boiler"}, headers=header(reader))
        assert [one["text"] for one in answer.json()["episodes"]] == ["the boiler hums"]
        address = f"127.0.0.1:{port}"
        flags = ("--grpc", served.target, "--token-file", tmp_path / "token")
        process = await start("mcp", "--http", address, *flags)
        try:
            for shown in ({}, header(reader)):
                async with (
                    await _reached(f"http://{address}/mcp", shown) as (read, write, _),
                    ClientSession(read, write) as session,
                ):
                    await session.initialize()
                    found = await told(session, "recall", text="boiler")
                    refused = await told(session, "remember", text="made up")
                    if shown:
                        assert [one["text"] for one in found["episodes"]] == ["the boiler hums"]
                        assert "perceive" in refused
                    else:
                        assert "refused" in found
                        assert "refused" in refused
        finally:
            process.terminate()
            await process.communicate()
        assert await served.stores.perceptions.head() == 1


async def _reached(url: str, headers: dict[str, str]) -> Any:
    """A way to a server that is on its way."""
    host, port = url.split("/")[2].split(":")
    for _ in range(600):
        try:
            _, writer = await asyncio.open_connection(host, int(port))
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return streamablehttp_client(url, headers=headers)
    pytest.fail("nobody listens")


async def test_plain_text_stays_on_this_machine(at: list[str]) -> None:
    done = await submind("mcp", "--http", "0.0.0.0:8765", *at)
    assert (done.code, "127.0.0.1" in done.err) == (2, True)
