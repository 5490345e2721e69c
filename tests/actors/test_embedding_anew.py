"""The environment of a mind whose embedder was changed: it works, and embeds anew what is live, whatever is lost."""

from dataclasses import replace

import numpy as np
import pytest

from actors.chance import Chance
from actors.effects import Commit, Embed, Send
from actors.environment.core import EnvironmentCore
from actors.events import Crawl, CrawlKind, Embedded, Post, Posted, Started, Tick
from environment.collections import WriteDocument
from environment.index.shard import Shard
from environment.messages import Level, Trace
from environment.settings import EnvironmentSettings
from environment.subliminal import SubliminalEnvironment
from tests.environment.worlds import DIM, NOON, thought

OLD = 2 * DIM


def strange(number: int) -> Trace:
    made = thought(number, id=f"t-{number:020}", text=f"line {number}", vector=np.ones(OLD, np.float32))
    made = replace(made, associations=("pump",))
    return Trace(made, 1, Level(0.9, NOON, 3600.0), live=True, conscious=None, authors=(made.author,))


@pytest.fixture
def core():
    settings = EnvironmentSettings()
    environment = SubliminalEnvironment(settings, Shard(DIM), DIM)
    environment.load([strange(number) for number in range(40)])
    return EnvironmentCore("environment", environment, settings, Chance(1, "environment"))


def asked(effects):
    return [text for effect in effects if isinstance(effect, Embed) for text in effect.texts]


def vector(number: int):
    made = np.zeros(DIM, np.float32)
    made[number % DIM] = 1.0
    return made


def answer(texts):
    return Embedded({text: vector(int(text.split()[1])) for text in texts})


def near(core, at):
    (found,) = core.handle(Crawl("me", "1", CrawlKind.DIRECTED, 3, vector(at)), NOON)[:1]
    return {trace.thought.text for trace in found.event.traces}


def waiting(core):
    return core.describe().figures["traces_strange"]


def test_all_are_embedded_anew_a_few_at_a_time_and_what_they_mean_is_kept(core):
    texts = asked(core.handle(Started(), NOON))
    assert len(texts) == 32
    assert waiting(core) == 40
    assert near(core, 1) == set()
    effects = core.handle(answer(texts), NOON + 1)
    kept = [e.write.document for e in effects if isinstance(e, Commit) and isinstance(e.write, WriteDocument)]
    assert {document.key for document in kept} == {f"t-{number:020}" for number in range(32)}
    assert all(document.vector.size == DIM and document.expires > NOON + 3600 for document in kept)
    assert "line 1" in near(core, 1)
    left = asked(effects)
    assert len(left) == 8
    assert not asked(core.handle(answer(left), NOON + 2))
    assert waiting(core) == 0


def test_an_answer_that_was_lost_is_asked_for_again_and_a_late_one_does_no_harm(core):
    texts = asked(core.handle(Started(), NOON))
    assert not asked(core.handle(Tick(), NOON + 30))
    assert asked(core.handle(Tick(), NOON + 61)) == texts
    core.handle(answer(texts), NOON + 62)
    core.handle(answer(texts), NOON + 63)
    assert waiting(core) == 8


def test_it_takes_in_and_finds_meanwhile_by_names_and_what_is_new_by_meaning(core):
    core.handle(Started(), NOON)
    new = thought(1, id="t-new", text="line 3", vector=vector(3))
    effects = core.handle(Post("me", (new,)), NOON + 1)
    assert any(isinstance(e, Send) and isinstance(e.event, Posted) for e in effects)
    assert near(core, 3) == {"line 3"}
    (found,) = core.handle(Crawl("me", "2", CrawlKind.ASSOCIATIVE, 3, None, ("pump",)), NOON + 1)[:1]
    assert len(found.event.traces) == 3


def test_a_thought_of_the_other_embedder_that_comes_late_is_embedded_anew_as_well(core):
    late = replace(strange(77).thought, id="t-late")
    core.handle(Post("me", (late,)), NOON)
    assert waiting(core) == 41
    texts = asked(core.handle(Started(), NOON))
    texts += asked(core.handle(answer(texts), NOON + 1))
    core.handle(answer(texts), NOON + 2)
    assert "line 77" in near(core, 77)
