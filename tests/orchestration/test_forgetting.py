"""A running mind forgets somebody: no byte of their name, or of a word that only they said, is left in any file."""

import asyncio
import json
import time
import zipfile

import httpx
import pytest

from environment.messages import NewPerception
from environment.stores.opening import open_stores
from environment.stores.sqlite.answer_cache import open_answers
from orchestration.client import MindClient
from orchestration.client.erasing import forget_target
from orchestration.client.errors import ClientError
from orchestration.clock import wall
from orchestration.pb.submind.v1 import forgetting_pb2 as pb
from tests.orchestration.cli.conftest import submind
from tests.orchestration.living import LivingMind, eventually

pytestmark = pytest.mark.timeout(600)
WORDS = (b"quorvex", b"tamblyn", b"zibblewick")
"""A name, and a word that only they said."""
LINES = (
    ("chat", "Quorvex Tamblyn: I'll bring the generator keys to hall 3 by tomorrow at noon"),
    ("chat", "Quorvex: the spare fuse is in the zibblewick drawer"),
    ("chat", "Ana: thanks @quorvex, ladder 7 is in bay 3"),
    ("quorvex-phone", "ERROR compressor of cold room 2 failed, pressure 9 bar, everything stops"),
    ("quorvex-phone", "the code of the gate is 5150 now"),
    ("desk", "ERROR pump 4 of hall 3 failed, water is rising, who is on call?"),
    ("desk", "Ana: Quorvex is responsible for pump 4"),
    ("operator", "who has the generator keys?"),
    ("operator", "what did Quorvex say of the zibblewick drawer?"),
    ("desk", "Bo: the door of hall 2 is open, alarm at 17 degrees"),
)


GONE = {0, 1, 2, 3, 4, 6, 8}
"""Those that they said, or that name them."""


def found_in(folder, words=WORDS, *, but=()):
    """Files in which a word stands, whatever its case; within archives too."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in but):
        texts = [path.read_bytes()]
        if path.suffix == ".submind":
            with zipfile.ZipFile(path) as archive:
                texts += [archive.read(name) for name in archive.namelist()]
        found += [(path.name, word) for word in words for text in texts if word in text.lower()]
    return found


async def tell(client, lines, start=0):
    now = wall()
    batch = [NewPerception(s, now, now, text=t, key=f"{s}-{start + n}-{t[:9]}") for n, (s, t) in enumerate(lines)]
    return await client.perceive(batch)


async def thought(place, mind, *tables):
    """Wait until the mind has made something of it: an answer that quotes it, facts, a promise."""
    stores = await open_stores(place, mind, writer="tests")
    try:
        async with asyncio.timeout(120):
            while True:
                entries = await stores.stream.read(1, 1000)
                texts = " ".join(entry.text for entry in entries).lower()
                kept = [await stores.collections.scan(name) for name in tables]
                if all(kept) and "quorvex" in texts:
                    return entries
                await asyncio.sleep(0.3)
    finally:
        await stores.close()


async def paid_for(data_dir, mind):
    """An answer of a model that was kept."""
    answers = await open_answers(data_dir, mind)
    await answers.put({"k": b"Quorvex keeps it in the zibblewick drawer"})
    await answers.close()


async def test_after_a_person_was_forgotten_no_file_has_a_byte_of_them(tmp_path):  # noqa: PLR0915 - one mind for all
    data = tmp_path / "mind"
    with LivingMind(data) as living:
        await asyncio.to_thread(living.start)
        async with MindClient(living.grpc, retry_for=60) as client:
            await tell(client, LINES)
            entries = await thought(data, "mind", "facts", "entities", "names", "loops")
            number = next(entry.seq for entry in entries if "uorvex" in entry.text)
            await client.mark(str(number), "useful")
            await client.correct("Quorvex", "location", "hall 9")
            await paid_for(data, "mind")
            await asyncio.sleep(3)  # actors save
            at = ("--grpc", living.grpc)
            places = {name.removesuffix("-wal") for name, _ in found_in(data)}
            assert places >= {"mind.db", "perceptions.db", "audit.log", "answers.db"}

            for folder in ("earlier", "backups"):
                (tmp_path / folder).mkdir()
            earlier = await submind("backup", "--data-dir", data, "--to", tmp_path / "earlier")
            assert (earlier.code, {word for _, word in found_in(tmp_path / "earlier")}) == (0, set(WORDS))

            held = await submind("hold", "add", "--source", "quorvex-phone", "--reason", "case 12", *at, "--json")
            refused = await submind("forget", "Quorvex", "--yes", *at)
            assert (refused.code, "case 12" in refused.err) == (1, True)
            released = await submind("hold", "release", held.objects[0]["id"], *at)
            assert released.code == 0
            unasked = await submind("forget", "Quorvex", *at)
            assert (unasked.code, "--yes" in unasked.err) == (2, True)
            told = await submind("forget", "Quorvex", "--dry-run", *at, "--json")
            assert {name.lower() for name in told.objects[0]["names"]} >= {"quorvex", "quorvex tamblyn"}
            assert int(told.objects[0]["record"]["removed"]["perceptions"]) == len(GONE)
            assert found_in(data)

            acknowledged = []

            async def go_on():
                for n in range(1000):
                    acknowledged.extend(await tell(client, [("desk", f"pump 5 says {n}")], n))
                    await asyncio.sleep(0.1)

            going = asyncio.create_task(go_on())
            done = await submind("forget", "Quorvex", "--yes", "--json", *at)
            assert done.code == 0, done.err
            report = done.objects[-1]
            assert report["state"] == "done"
            assert int(report["removed"]["perceptions"]) == len(GONE)
            for table in ("traces", "facts", "entities", "names", "answers"):
                assert int(report["removed"][table]) > 0, table
            assert int(report["redacted"]["entries"]) > 0
            await asyncio.to_thread(living.running)
            going.cancel()
            await asyncio.gather(going, return_exceptions=True)
            assert len(acknowledged) > 5
            log = (data / "submind.log").read_text("utf-8").splitlines()
            assert [line for line in log if "state_not_restored" in line] == []
            await asyncio.sleep(3)  # it thinks and saves on

            backup = await submind("backup", "--data-dir", data, "--to", tmp_path / "backups", "--json")
            assert backup.code == 0, backup.err
            assert found_in(data, but={"host.err"}) == []
            assert [path.suffix for path in (tmp_path / "backups").iterdir()] == [".submind"]
            assert found_in(tmp_path / "backups") == []

            listed = await submind("forget", "--list", "--json", *at)
            (tmp_path / "asked.jsonl").write_text(listed.out)
            (old,), (late,) = (list((tmp_path / name).iterdir()) for name in ("earlier", "backups"))
            for place, given in (("as it was", ()), ("by backup", (late,)), ("by list", (tmp_path / "asked.jsonl",))):
                more = [part for path in given for part in ("--forgotten", path)]
                restored = await submind("restore", old, "--data-dir", tmp_path / place, *more)
                assert (restored.code, found_in(tmp_path / place) == []) == (0, bool(given)), restored.err

            async with httpx.AsyncClient(base_url=living.http) as page:
                entry = (await page.get("/v1/stream", params={"from": number, "limit": 1})).json()
                assert b"quorvex" not in json.dumps(entry).lower().encode()
                recalled = (await page.get("/v1/recall", params={"q": "zibblewick drawer Quorvex"})).text.lower()
                assert "zibblewick" not in recalled
                forgotten = (await page.get("/v1/forgotten")).json()["records"]
                assert [one["state"] for one in forgotten] == ["done"]
            explained = await client.explain(number)
            assert (explained.text, explained.children) == ("[forgotten]", ())
            with pytest.raises(ClientError):
                await client.know("Quorvex")
            stream = await stream_of(data)
            assert [entry.seq for entry in stream] == list(range(1, len(stream) + 1))
            again = await tell(client, LINES)
            assert [n for n, receipt in enumerate(again) if receipt.new] == sorted(GONE)


async def stream_of(data):
    stores = await open_stores(data, "mind", writer="tests")
    try:
        return await stores.stream.read(1, 10_000)
    finally:
        await stores.close()


async def test_a_host_that_is_killed_half_way_forgets_when_it_is_back(tmp_path):
    with LivingMind(tmp_path) as living:
        await asyncio.to_thread(living.start)
        async with MindClient(living.grpc, retry_for=60) as client:
            await tell(client, LINES)
            for n in range(3):
                await tell(client, [("quorvex-phone", f"zibblewick {at} of many") for at in range(1000)], 1000 * n)
            await thought(tmp_path, "mind", "entities")
            asked = (await client.erasure().forget(forget_target("Quorvex"))).record.id
            until = time.monotonic() + 60
            while (await client.erasure().forgotten())[0].state == pb.FORGET_STATE_ASKED and time.monotonic() < until:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.02)
        living.kill("host")
        await asyncio.to_thread(living.gone)
        await asyncio.to_thread(living.start)
        async with MindClient(living.grpc, retry_for=60) as client:
            (record,) = await client.erasure().forgotten()
            while record.state != pb.FORGET_STATE_DONE:
                await asyncio.sleep(0.2)
                (record,) = await client.erasure().forgotten()
        assert record.id == asked
        eventually(lambda: living.report()["state"] == "running")
        await asyncio.sleep(3)
        assert found_in(tmp_path, but={"host.err"}) == []
