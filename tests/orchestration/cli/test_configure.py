import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
import yaml

from tests.orchestration.cli.conftest import submind
from tests.orchestration.membership.joining import client_of


@pytest_asyncio.fixture
async def mind(tmp_path: Path, etcd: str) -> AsyncIterator[Path]:
    file = tmp_path / "mind.yaml"
    name = f"test-{secrets.token_hex(6)}"
    tree = {"mind": {"name": name}, "attention": {"per_hour": 9}, "coordination": {"address": f"etcd://{etcd}"}}
    file.write_text(yaml.safe_dump(tree))
    yield file
    client = client_of(etcd, name)
    for key in (await client.range(client.prefix))[0]:
        await client.delete(key)
    await client.close()


async def test_settings_are_changed_shown_and_taken_back(mind: Path) -> None:
    at = ("--mind", mind)
    done = await submind("configure", "attention.per_hour=3", "environment.half_life.percept=90m", *at, "--by", "ada")
    assert done.code == 0, done.err
    assert "version 1" in done.out
    assert "ada" in done.out
    assert "* attention.per_hour: 3  (file: 9)" in done.out
    assert "* environment.half_life.percept: 5400  (file: 10800)" in done.out
    done = await submind(
        "configure", "--reset", "attention.per_hour", "substrate.budget.cost_per_day=null", *at, "--json"
    )
    assert [(one["version"], one["changed"]) for one in done.objects] == [
        (2, ["attention.per_hour", "substrate.budget.cost_per_day"])
    ]
    assert done.objects[0]["values"] == {"environment.half_life.percept": 5400.0, "substrate.budget.cost_per_day": None}
    assert "@" in done.objects[0]["by"]
    shown = await submind("configure", "--show", *at)
    assert "version 2" in shown.out
    assert "  environment.half_life.percept: 5400" in shown.out
    assert "* attention.per_hour: as in the file  (file: 9)" in shown.out
    history = await submind("configure", "--history", *at, "--json")
    assert [(one["version"], one["by"]) for one in history.objects] == [(2, done.objects[0]["by"]), (1, "ada")]


async def test_what_does_not_hold_changes_nothing_and_is_told(mind: Path) -> None:
    at = ("--mind", mind)
    for change, told, code in (
        ("attention.per_hour=-3", "`attention.per_hour` is -3, but it should be greater than 0", 1),
        ("mind.name=other", "does not change while a mind runs", 1),
        ("atention.per_hour=3", "did you mean `attention.per_hour`", 1),
        ("attention.per_hour", "a change is written KEY=VALUE", 2),
    ):
        done = await submind("configure", change, *at)
        assert (done.code, told in done.err) == (code, True), done.err
    done = await submind("configure", "attention.per_hour=3", *at, "--base", 7)
    assert done.code == 1
    assert "is at version 0, not 7" in done.err
    shown = await submind("configure", "--show", *at)
    assert "nothing was changed" in shown.out


async def test_everything_that_may_change_is_listed_with_its_reason() -> None:
    done = await submind("configure", "--list", "--json")
    found = {one["setting"]: one for one in done.objects}
    assert found["environment.half_life.percept"]["value"] == 10800
    assert all(one["why"] for one in done.objects)
    assert "attention.per_hour: 6" in (await submind("configure", "--list")).out


async def test_it_is_said_what_is_missing() -> None:
    done = await submind("configure", "attention.per_hour=3")
    assert done.code == 2
    assert "--coordination" in done.err
    done = await submind("configure", "--show", "--history", "--coordination", "etcd://127.0.0.1:1")
    assert done.code == 2
    done = await submind("configure", "--show", "--coordination", "etcd://127.0.0.1:1")
    assert done.code == 1
    assert "nothing listens at 127.0.0.1:1" in done.err
