"""Settings that change while a mind lives reach everything that reads them, and nothing that was spent is forgotten."""

import inspect
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.attention.pacing import RatePace
from actors.events import Configured, Started
from actors.perception.image import ImageInterpreter
from actors.perception.telemetry import TelemetryInterpreter
from actors.perception.text import TextInterpreter
from environment.config import Section
from environment.stores.sqlite import open_stores
from orchestration import wiring
from orchestration.membership.tunables import settings_update, tunable_paths, tuned, value_at
from orchestration.settings import Settings, SettingsUpdate
from tests.actors.substrate.scripted import ScriptedEmbedder

NOON = 1_772_539_200.0
BASE = Settings()


def other(value):
    """Another value that is allowed as well as the first."""
    if value is None:
        return 1000.0
    return value - 1 if isinstance(value, int) and value > 1 else value * 0.875


def change():
    values = {path: other(value_at(BASE, path)) for path in tunable_paths()}
    return tuned(BASE, values)


CHANGED = change()


def told(actor, settings=CHANGED, version=1):
    """What an actor's core is told of changed settings, by way of what its process is told."""
    live = settings_update(settings, version)
    return [Configured(version, section) for section in wiring.sections_of(actor, live.over(BASE))]


def reachable(value: object, seen: set[int]) -> Iterator[Section]:
    """Every section of settings that something holds on to, at whatever depth."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if type(value).__name__.endswith("Interpreter"):  # they read none of what may change, which is told below
        return
    if isinstance(value, Section):
        yield value
        for name in type(value).model_fields:
            yield from reachable(getattr(value, name), seen)
        return
    parts: list[object] = []
    if isinstance(value, dict):
        parts = list(value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        parts = list(value)
    elif type(value).__module__.startswith(("actors", "environment", "orchestration")):
        slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        parts = [getattr(value, name) for name in slots if hasattr(value, name)]
        parts += list(getattr(value, "__dict__", {}).values())
    for part in parts:
        yield from reachable(part, seen)


def tunable_sections():
    """Section class to the tunable paths right in it."""
    found: dict[type, dict[str, object]] = {}
    for path in tunable_paths():
        above, _, name = path.rpartition(".")
        found.setdefault(type(value_at(BASE, above)), {})[name] = value_at(CHANGED, path)
    return found


async def cores(tmp_path):
    stores = await open_stores(tmp_path, "mind", inline=True)
    embedder = ScriptedEmbedder()

    class Driver:
        def send(self, *_):
            pass

        generate = read = note = send

    for actor in wiring.plan(BASE):
        shell = await wiring.build_shell(actor, BASE, stores, Driver(), embedder)
        yield actor, shell
    await stores.close()


async def test_no_core_holds_on_to_an_old_setting(tmp_path):
    sections, met = tunable_sections(), set()
    async for actor, shell in cores(tmp_path):
        shell.core.handle(Started(), NOON)
        for event in told(actor):
            shell.core.handle(event, NOON + 1)
        for section in reachable(shell.core, set()):
            for name, wanted in sections.get(type(section), {}).items():
                assert getattr(section, name) == wanted, (shell.name, type(section).__name__, name)
                met.add((type(section), name))
    budgets = {kind for kind, _ in met}
    missing = {kind.__name__ for kind in sections} - {kind.__name__ for kind in budgets}
    assert missing == {"BudgetSettings"}  # which no core holds: the substrate's accounts do


@pytest.mark.parametrize("interpreter", [TextInterpreter, TelemetryInterpreter, ImageInterpreter])
def test_interpreters_read_nothing_that_may_change(interpreter):
    code = inspect.getsource(inspect.getmodule(interpreter))
    names = tunable_sections()[type(BASE.perception)]
    assert names
    assert not [name for name in names if f".{name}" in code]


async def test_a_core_goes_on_where_it_was(tmp_path):
    async for actor, shell in cores(tmp_path):
        shell.core.handle(Started(), NOON)
        before = shell.core.snapshot()
        for event in told(actor, BASE):
            shell.core.handle(event, NOON)
        assert shell.core.snapshot() == before, shell.name


async def test_what_is_kept_as_a_number_changes_as_well(tmp_path):
    async for actor, shell in cores(tmp_path):
        if shell.name == "thinking":
            for event in told(actor):
                shell.core.handle(event, NOON)
            assert shell.core._memory.half_life == CHANGED.thinking.half_life
            assert shell.core._allowance._rate == pytest.approx(CHANGED.thinking.per_hour / 3600)


async def test_a_shell_performs_what_comes_of_it(tmp_path):
    async for actor, shell in cores(tmp_path):
        await shell.start(NOON)
        await shell.configure(told(actor), NOON + 1)
        assert shell.unsaved
        assert not shell.unfinished


RATES = st.floats(0.1, 1000)


@given(RATES, RATES, st.floats(0, 86400), st.integers(0, 50))
def test_a_pace_is_as_far_ahead_as_it_was(first, second, later, picked):
    pace = RatePace(first, 10, 100)
    pace.share(NOON)
    pace.picked = picked
    ahead = first / 3600.0 * later - picked
    pace.configure(second, NOON + later)
    assert pace.dump().allowed - picked == pytest.approx(ahead, abs=1e-3)
    assert pace.interval() == pytest.approx(3600.0 / second)
    pace.configure(second, NOON + later)
    assert pace.dump().allowed - picked == pytest.approx(ahead, abs=1e-3)


def test_what_is_told_is_all_that_may_change_and_nothing_else():
    live = settings_update(CHANGED, 1)
    assert live.over(BASE) == CHANGED
    assert live.over(tuned(BASE, {"attention.per_hour": 77.0})) == CHANGED
    assert set(live.values) == set(tunable_paths())


def test_what_another_version_of_the_code_calls_otherwise_is_left_out():
    assert SettingsUpdate(1, {"attention.no_such": 1, "nothing.at_all": 2}).over(BASE) == BASE


def test_an_actor_is_told_its_own_sections_only():
    told_to = {actor.name: {type(event.section).__name__ for event in told(actor)} for actor in wiring.plan(BASE)}
    assert told_to["attention"] == {"AttentionSettings", "SubstrateSettings"}
    assert told_to["text"] == {"PerceptionSettings", "CognitiveSettings"}
