"""``submind perceive`` against a gateway as it is served."""

import asyncio
import signal
from pathlib import Path
from typing import Any

from tests.orchestration.cli.conftest import start, submind


async def test_a_file_sent_twice_doubles_nothing(gateway: Any, at: list[str], tmp_path: Path) -> None:
    file = tmp_path / "syslog"
    file.write_text("Mar  3 06:00:07 web1 up\nsame\nsame\n\n2026-03-03T06:00:09Z down\n")
    first = await submind("perceive", file, *at)
    assert (first.code, first.out) == (0, "4 new, 0 known, 0 rejected\n")
    with file.open("a") as grown:
        grown.write("same\n")
    second = await submind("perceive", file, *at)
    assert (second.code, second.out) == (0, "1 new, 4 known, 0 rejected\n")
    assert await gateway.texts() == ["web1 up", "same", "same", "down", "same"]
    held = await gateway.stores.perceptions.read(0, 10)
    assert {perception.source for perception in held} == {"syslog"}


async def test_bad_lines_are_told_with_number_and_reason_and_the_rest_goes_on(
    gateway: Any, at: list[str], tmp_path: Path
) -> None:
    lines = [
        '{"source": "door", "text": "one"}',
        '{"source": "door", "txt": "two"}',
        '{"source": "door", "text": "   "}',
        '{"source": "door", "text": "far", "time": "2999-01-01T00:00:00Z"}',
        '{"source": "door", "telemetry": {"a": 1}}',
        '{"source": "door", "text": "last"',
        '{"source": "door", "text": "end"}',
    ]
    file = tmp_path / "day.jsonl"
    file.write_text("\n".join(lines))
    done = await submind("perceive", file, *at)
    assert done.code == 1
    assert "3 new, 0 known, 4 rejected" in done.out
    assert "line 2: there is no key 'txt': did you mean 'text'?" in done.err
    assert "line 3: text: there is nothing in this text but white space" in done.err
    assert "line 4: time: this is" in done.err
    assert "line 6: this is not JSON" in done.err
    assert await gateway.texts() == ["one", None, "end"]


async def test_json_tells_of_each_line(gateway: Any, at: list[str]) -> None:
    stdin = b'{"source": "a", "key": "k", "text": "x"}\n{"source": "a", "key": "k", "text": "x"}\n{"sauce": 1}\n'
    done = await submind("perceive", "-", "--json", *at, stdin=stdin)
    assert done.code == 1
    rejected = next(told for told in done.objects if "rejected" in told)
    taken = [told for told in done.objects if "id" in told]
    assert (rejected["line"], [told["line"] for told in taken], [told["new"] for told in taken]) == (
        3,
        [1, 2],
        [True, False],
    )
    assert taken[0]["id"] == taken[1]["id"]
    assert "1 new, 1 known, 1 rejected" in done.err


async def test_live_input_flushes_each_line_and_ctrl_c_is_graceful(gateway: Any, at: list[str]) -> None:
    process = await start("perceive", "-", "--source", "journal", "--label", "host=web1", *at)
    assert process.stdin is not None
    for number, text in enumerate(("one", "two"), 1):
        process.stdin.write(f"{text}\n".encode())
        await process.stdin.drain()
        await holding(gateway, number)
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.read(), 60) == b"2 new, 0 known, 0 rejected\n"
    assert await process.wait() == 0
    held = (await gateway.stores.perceptions.read(0, 1))[0]
    assert (held.source, dict(held.labels)) == ("journal", {"host": "web1"})


async def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    absent = await submind("perceive", tmp_path / "absent")
    assert (absent.code, "No such file" in absent.err) == (1, True)
    packed = tmp_path / "log.gz"
    packed.write_bytes(b"\x1f\x8b\x08\x00")
    assert "is compressed: `zcat" in (await submind("perceive", packed)).err
    latin = tmp_path / "latin.log"
    latin.write_bytes(b"a caf\xe9\nall is well\n")
    assert "1 line is not UTF-8" in (await submind("replay", latin, "--budget", "1")).err
    assert (await submind("perceive", "-", "--follow")).code == 2
    assert (await submind("perceive", "-", "--label", "x")).code == 2
    assert (await submind("perceive", "-", "--nonsense")).code == 2


async def holding(gateway: Any, count: int) -> None:
    """Return when so many perceptions are in the log."""
    async with asyncio.timeout(60):
        while len(await gateway.texts()) < count:  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.01)
