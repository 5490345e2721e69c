"""What faculties declare of themselves is true, and nobody else keeps a list of them."""

import ast
import inspect
from importlib import import_module
from pathlib import Path

import pytest

import actors.events
import actors.growth
from actors.faculty import SHELL_EVENTS
from orchestration import wiring
from orchestration.faculties import BUILT_IN, faculties, faculty_of, page_places, roles
from orchestration.settings import Settings
from orchestration.telemetry import names

ROOT = Path(__file__).resolve().parents[2]
CORES = {
    "environment": ("actors.environment.core",),
    "stream": ("actors.stream.core",),
    "attention": ("actors.attention.core",),
    "thinking": ("actors.thinking.core",),
    "text": ("actors.perception.core",),
    "association": ("actors.submind.core", "actors.submind.submind_growth"),
    "monitoring": ("actors.metacognition.monitoring",),
    "control": ("actors.metacognition.control",),
}


def handled(module):
    """Names of the events that a module's ``handle`` tells apart."""
    tree = ast.parse(inspect.getsource(import_module(module)))
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "handle"]
    patterns = [n for function in functions for n in ast.walk(function) if isinstance(n, ast.MatchClass)]
    events = {kind.__name__ for kind in actors.events.Event.__args__}
    return {ast.unparse(pattern.cls).rpartition(".")[2] for pattern in patterns} & events


@pytest.mark.parametrize("name", CORES)
def test_a_faculty_accepts_what_its_core_handles(name):
    (actor,) = [actor for actor in wiring.plan(Settings()) if actor.name == name]
    taken = {event.__name__ for event in actor.faculty.accepts}
    own = {event.__name__ for event in SHELL_EVENTS}
    assert {name for module in CORES[name] for name in handled(module)} - own == taken - own


def test_every_event_is_taken_in_by_somebody():
    events = {kind for faculty in BUILT_IN for kind in faculty.accepts} | SHELL_EVENTS
    said = set(actors.events.Event.__args__) - {actors.events.FacultyEvent}
    assert said - events == set()


async def test_a_shell_lets_through_what_its_core_takes_in_only(inline_stores):
    from tests.actors.substrate.scripted import ScriptedEmbedder

    class Driver:
        def send(self, *_):
            pass

        generate = read = note = propose = send

    (control,) = [actor for actor in wiring.plan(Settings()) if actor.name == "control"]
    shell = await wiring.build_shell(control, Settings(), inline_stores, Driver(), ScriptedEmbedder())
    await shell.start(1.0)
    shell.offer(actors.events.Survey("text", 3), 1.0, 2.0)
    assert (len(shell.mailbox), shell.counters["messages_not_taken_total"]) == (0, 1)
    observed = actors.events.Observed(actors.events.Observation.LOOP, over=False, reason="again")
    shell.offer(observed, 1.0, 2.0)
    assert len(shell.mailbox) == 1


def test_every_section_and_metric_is_one_and_is_described():
    for faculty in faculties():
        for name, kind in faculty.sections.items():
            assert isinstance(getattr(Settings(), name, None) or getattr(Settings().faculties, name), kind)
        assert faculty.highest <= set(faculty.metrics)
        assert all(told.endswith(".") for told in faculty.metrics.values())
        assert set(faculty.from_zero) <= set(names.HELP)


def test_an_actor_of_no_faculty_is_refused_with_what_to_do():
    with pytest.raises(LookupError, match="is the package that brings it along installed here"):
        faculty_of("dreaming", "dreams")


def test_the_page_has_a_place_for_every_role():
    assert list(page_places())[:4] == ["environment", "attention", "stream", "thinking"]
    assert set(page_places()) == {faculty.role for faculty in faculties()}


def test_nobody_else_keeps_a_list_of_roles():
    """``mind.subminds`` by default, and the settings that are called after a role, are where roles are named."""
    allowed = {"orchestration/settings.py"}
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.value}"
        for path in sorted((ROOT / "orchestration").rglob("*.py"))
        if str(path.relative_to(ROOT)) not in allowed and "pb" not in path.parts
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in roles()
    ]
    found += [
        f"{path.name}: {role}"
        for path in sorted((ROOT / "orchestration/feed/static").glob("*.js"))
        for role in roles()
        if f'"{role}"' in path.read_text("utf-8")
    ]
    assert not found, "\n".join(found)
