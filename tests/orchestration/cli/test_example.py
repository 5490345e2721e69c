"""The example's day, moved to end when mind time meets the wall."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from environment.messages import NewPerception
from orchestration.cli.remote import reaching_own
from orchestration.cli.running import BOOT, LASTS, _Company, day_at, moved
from orchestration.clock import wall
from orchestration.settings import Settings
from tests.orchestration.access.conftest import Authority
from tests.orchestration.gateway.conftest import serve

__all__ = ["serve"]

NOW = 1_795_000_000.0


def test_the_day_is_lived_in_the_time_it_is_given_and_keeps_its_intervals() -> None:
    day = day_at(NOW)
    times = [perception.time for perception in day.perceptions]
    assert times == sorted(times)
    assert len({perception.source for perception in day.perceptions}) == 10
    assert day.clock.meets == pytest.approx(NOW + BOOT + LASTS, abs=1)
    assert times[-1] == pytest.approx(day.clock.meets, abs=1)
    assert day.clock.delay(times[0], NOW) == pytest.approx(BOOT, abs=0.1)
    assert 0.9 * 86_400 < times[-1] - times[0] < 1.1 * 86_400
    half = times[len(times) // 2]
    assert BOOT < day.clock.delay(half, NOW) < BOOT + LASTS


def test_no_perception_is_ever_ahead_of_mind_time_when_it_is_told() -> None:
    day = day_at(NOW)
    for perception in day.perceptions:
        told_at = NOW + day.clock.delay(perception.time, NOW)
        assert perception.time <= day.clock.at(told_at) + 1


@pytest.mark.parametrize("elsewhere", [{}, {"tls": True}, {"ca_file": "ca.pem", "server_name": "mind.test"}])
async def test_the_day_is_told_to_the_mind_that_was_started_whatever_another_one_takes(
    serve: Any, tmp_path: Path, elsewhere: dict[str, Any]
) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    own.write_text("correct-horse-battery")
    other.write_text("another-horse-battery")
    if "ca_file" in elsewhere:
        elsewhere = elsewhere | {"ca_file": Authority(tmp_path).file}
    settings = Settings.model_validate({"gateway": {"token_file": own}, "client": {"token_file": other, **elsewhere}})
    async with serve(token_file=own) as gateway:
        gateway.now[0] = wall()
        lived = moved([NewPerception(source="a", time=0.0, received=0.0, text="a day")], wall() - 10 * LASTS)
        company = _Company(settings, lived, shown=False, json=True)
        host: Any = SimpleNamespace(addresses=SimpleNamespace(grpc=gateway.target))
        await company._live(host, lived)
        assert await gateway.texts() == ["a day"]


def test_a_token_of_the_tokens_file_is_shown_where_the_mind_has_none_of_its_own(tmp_path: Path) -> None:
    token, chain = tmp_path / "token", tmp_path / "chain.pem"
    tls = {"certificate": chain, "key": chain}
    told = reaching_own(
        Settings.model_validate({"access": {"tls": tls}, "client": {"token_file": token, "ca_file": chain}})
    )
    assert (told.token_file, told.ca_file, told.tls) == (token, chain, True)
