"""A real HTTP server that speaks the OpenAI protocol, with good days and bad ones."""

import asyncio
import json
import random
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass, field

import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from actors.substrate import ports
from actors.substrate.build import build_substrate
from actors.substrate.ports import Act, Material, Role
from actors.substrate.settings import BudgetSettings, ModelSettings, ServerSettings, SubstrateSettings


@dataclass
class Day:
    """How the server treats one request."""

    status: int = 200
    text: str | None = None
    raw: bytes | None = None
    headers: dict = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    drip: float = 0.0
    usage: object = "true"


class ModelServerInTests:
    """Answers each request by the next day planned, else well."""

    def __init__(self):
        self.days = deque()
        self.always = None
        self.seen = []
        self.serving = set()
        self.most_serving = 0
        self.dim = 8
        self.app = FastAPI()
        self.app.post("/v1/chat/completions")(self.chat)
        self.app.post("/v1/embeddings")(self.embeddings)

    def plan(self, *days):
        self.days.extend(days)

    def bodies(self, path="/v1/chat/completions"):
        return [body for p, _, body in self.seen if p == path]

    async def _day(self, request):
        body = await request.json()
        self.seen.append((request.url.path, dict(request.headers), body))
        day = self.days.popleft() if self.days else self.always or Day()
        serving = self.serving
        serving.add(request)
        self.most_serving = max(self.most_serving, len(serving))
        try:
            await asyncio.sleep(day.delay)
        finally:
            serving.discard(request)
        return body, day

    async def chat(self, request: Request) -> Response:
        body, day = await self._day(request)
        if day.raw is not None or day.status != 200:
            raw = (
                day.raw if day.raw is not None else json.dumps({"error": {"message": f"bad day {day.status}"}}).encode()
            )
            return Response(raw, day.status, headers=day.headers, media_type="application/json")
        text = f"compressor {'abcdefghijklmnopqrstuvwxyz'[len(self.seen) % 26]}" if day.text is None else day.text
        usage = {"prompt_tokens": 100, "completion_tokens": 10} if day.usage == "true" else day.usage
        if body.get("stream") or day.cut or day.drip:
            return StreamingResponse(self._stream(text, day, usage), media_type="text/event-stream")
        answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
        return JSONResponse(answer | ({"usage": usage} if usage else {}), headers=day.headers)

    async def _stream(self, text, day, usage):
        for word in text.split(" "):
            chunk = {"choices": [{"index": 0, "delta": {"content": word + " "}, "finish_reason": None}]}
            yield f"data: {json.dumps(chunk)}\n\n".encode()
            await asyncio.sleep(day.drip)
            if day.cut:
                raise ConnectionResetError("cut in the middle, as planned")
        yield f"data: {json.dumps({'choices': [{'delta': {}, 'finish_reason': 'stop'}], 'usage': usage})}\n\n".encode()
        yield b"data: [DONE]\n\n"

    async def embeddings(self, request: Request) -> Response:
        body, day = await self._day(request)
        if day.raw is not None or day.status != 200:
            return Response(day.raw or b"{}", day.status, headers=day.headers)
        data = [{"index": i, "embedding": self.vector(text)} for i, text in enumerate(body["input"])]
        data.reverse()
        return JSONResponse({"data": data, "usage": {"prompt_tokens": 7 * len(data)}})

    def vector(self, text):
        return [float(ord(c)) for c in text[: self.dim].ljust(self.dim)]


@pytest.fixture(scope="session")
def _model_server():
    server = ModelServerInTests()
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        held.listen()
        config = uvicorn.Config(server.app, log_config=None, lifespan="off", date_header=False)
        running = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(running.serve(sockets=[held])), daemon=True)
        thread.start()
        while not running.started:
            time.sleep(0.01)
        server.url = f"http://127.0.0.1:{port}/v1"
        yield server
        running.should_exit = True
        thread.join(60)


@pytest.fixture
def server(_model_server):
    _model_server.days.clear()
    _model_server.seen.clear()
    _model_server.always = None
    _model_server.serving = set()
    _model_server.most_serving = 0
    return _model_server


@pytest.fixture
def day():
    return Day


KEY = "sk-very-secret-0123456789"


def request(text="the compressor stopped", act=Act.BIND, author="operations", **more):
    return ports.Request(act, author, (Material(Role.EVENT, text, "coldstore", "09:14", ("compressor",)),), **more)


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
async def make(server, tmp_path):
    made = []

    def build(*, budget=None, cache=None, ledgers=None, shares=1, clock=None, **server_settings):
        key = tmp_path / "key"
        key.write_text(KEY + "\n")
        settings = SubstrateSettings(
            kind="openai",
            server=ServerSettings(
                **{
                    "base_url": server.url,
                    "api_key_file": key,
                    "backoff": 0.01,
                    "max_backoff": 0.3,
                    "timeout": 5,
                    **server_settings,
                }
            ),
            fast=ModelSettings(name="small", price_in=1.0, price_out=10.0),
            deep=ModelSettings(name="large", price_in=10.0, price_out=100.0),
            budget=BudgetSettings(**(budget or {})),
        )
        made.append(
            build_substrate(
                settings, clock or Clock(), cache, shares=shares, ledgers=ledgers, chance=random.Random(1), account="a"
            )
        )
        return made[-1]

    yield build
    for substrate in made:
        await substrate.close()
