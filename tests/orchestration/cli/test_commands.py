"""The command line as a whole: help, codes, and what is not imported."""

import asyncio
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from orchestration.cli import COMMANDS, command_of
from orchestration.cli.examples import EXAMPLES
from orchestration.cli.failure import Failure
from orchestration.cli.times import moment
from tests.orchestration.cli.conftest import Done, environ, submind


def run(*args: str, **changes: str) -> Done:
    return asyncio.run(submind(*args, env=environ(**changes)))


def loaded(statement: str, *modules: str) -> str:
    probe = f"import sys\n{statement}\nprint(sorted({set(modules)!r} & set(sys.modules)))\n"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_help_lists_every_command() -> None:
    done = run("--help")
    assert done.code == 0
    for name, (_, summary) in COMMANDS.items():
        assert name in done.out
        assert summary in done.out


@pytest.mark.parametrize("args", [(), ("nonsense",), ("watch", "--from", "x")])
def test_wrong_use_is_code_2_and_no_traceback(args: tuple[str, ...]) -> None:
    done = run(*args)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert "Usage" in done.err + done.out


def test_a_wrong_setting_is_code_2_and_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "mind.yaml"
    file.write_text("mind: {nmae: x}")
    for args in (("status", "--mind", str(file)), ("replay", "-", "--mind", str(file))):
        done = run(*args)
        assert done.code == 2
        assert done.err == f"submind: {file}, line 1: there is no setting `mind.nmae`; did you mean `mind.name`?\n"
    done = run("status", SUBMIND__MIND__NAME="Wrong Name")
    assert done.code == 2
    assert done.err.startswith("submind: SUBMIND__MIND__NAME: `mind.name` is 'Wrong Name', but a name is")


@pytest.mark.parametrize(
    ("address", "told"), [("nowhere", "write HOST:PORT"), ("http://127.0.0.1:50051", "without http://")]
)
def test_a_wrong_address_is_code_2(address: str, told: str) -> None:
    done = run("status", "--grpc", address)
    assert done.code == 2
    assert told in done.err
    assert done.err.startswith(f"submind: no mind can be reached at {address}: ")


def test_words_that_are_no_text_end_in_a_sentence() -> None:
    command = [sys.executable, "-m", "orchestration.cli", "search", b"caf\xe9", "--grpc", "127.0.0.1:1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ())
    assert (done.returncode, done.stderr) == (2, "submind: 'caf\\udce9' is not UTF-8 text\n")


def test_help_imports_no_command() -> None:
    statement = (
        "import orchestration.cli as cli\nsys.argv = ['submind', '--help']\ntry: cli.main()\nexcept SystemExit: pass"
    )
    done = loaded(statement, "grpc", "ray", "numpy", "pydantic", "orchestration.cli.asking", "orchestration.loading")
    assert done.endswith("[]")


def test_asking_a_mind_imports_neither_ray_nor_a_web_server_and_a_replay_no_grpc() -> None:
    assert loaded("import orchestration.cli.asking", "ray", "fastapi", "uvicorn", "faiss", "sqlite3") == "[]"
    assert loaded("import orchestration.cli.replaying", "ray", "grpc", "fastapi", "uvicorn") == "[]"


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by what one types for it, as it is when it is called."""
    for name in COMMANDS:
        command = command_of(name)
        yield name, command
        yield from ((f"{name} {below.name}", below) for below in getattr(command, "commands", {}).values())


def test_every_command_has_an_example_and_each_is_one_that_it_takes() -> None:
    known = dict(commands())
    assert known.keys() == EXAMPLES.keys()
    for name, lines in EXAMPLES.items():
        for line in lines:
            typed = re.split(r" [|>] ", line[line.index("submind ") :])[0]
            _, *words = shlex.split(typed)
            called = name.split()
            if words[:2] != called and (inner := " ".join(words[:2])) in known:  # of a group: one of those below it
                called = inner.split()
            assert words[: len(called)] == called, line
            known[" ".join(called)].make_context(name, words[len(called) :])


def test_help_ends_with_its_examples() -> None:
    done = run("search", "--help", COLUMNS="120")
    assert EXAMPLES["search"][0] in done.out
    narrow = run("token", "new", "--help", COLUMNS="40")
    assert "submind token new web-1" in narrow.out
    assert max(map(len, narrow.out.splitlines())) <= 40


def test_a_name_that_nobody_knows_is_said_to_be_unknown() -> None:
    done = run("status", "--grpc", "nowhere.invalid:50051")
    told = "submind: the name in nowhere.invalid:50051 is not known here: check --grpc HOST:PORT, and DNS\n"
    assert (done.code, done.err) == (1, told)


@pytest.mark.parametrize("closed", ["<&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_break_nothing(closed: str, tmp_path: Path) -> None:
    line = f'exec "$0" -m orchestration.cli token list --file "$1" {closed}'
    command = ["bash", "-c", line, sys.executable, str(tmp_path / "none.yaml")]
    (tmp_path / "none.yaml").write_text("tokens: []\n")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ(), timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_token_that_cannot_be_shown_is_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "tokens.yaml"
    for more in ((), ("--json",)):
        command = [sys.executable, "-m", "orchestration.cli", "token", "new", "x", "-s", "watch", "--file", str(file)]
        with open("/dev/full", "w") as full:  # noqa: PTH123
            done = subprocess.run(
                [*command, *more],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                env=environ(),
                timeout=120,
            )
        assert (done.returncode, done.stderr) == (1, "submind: No space left on device\n")
        assert "sha256" not in (file.read_text() if file.exists() else "")
    assert run("token", "new", "x", "-s", "watch", "--file", str(file)).code == 0


@pytest.mark.parametrize(
    ("text", "told"), [("2026-02-30", "there is no such day"), ("tomorrow", "or a day as in 2026-01-02")]
)
def test_a_time_that_is_none_is_told_with_what_would_be_one(text: str, told: str) -> None:
    with pytest.raises(Failure, match=told):
        moment("--since", text)


def test_a_day_is_its_first_moment_here() -> None:
    assert moment("--since", "2026-03-03") == datetime(2026, 3, 3).astimezone().timestamp()
    assert moment("--since", "2026-03-03T00:00:00Z") == 1772496000.0
