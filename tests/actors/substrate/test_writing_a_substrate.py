"""The example in the document is code that works."""

import re
from pathlib import Path

from actors.substrate.extractive import ExtractiveSubstrate, compose
from actors.substrate.ports import Act, Material, Request, Role
from tests.actors.substrate.scripted import Line, ScriptedSubstrate

DOCUMENT = Path(__file__).parents[3] / "docs" / "writing-a-substrate.md"


async def test_the_example_runs():
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    names = {}
    exec(compile(code, str(DOCUMENT), "exec"), names)  # noqa: S102 - our own document
    request = Request(Act.BIND, "operations", (Material(Role.EVENT, "it hums"),))
    first = ScriptedSubstrate("fine", Line("lost", fallback="server down"))
    substrate = names["Behind"](first, ExtractiveSubstrate())
    assert (await substrate.generate(request)).text == "fine"
    answer = await substrate.generate(request)
    assert (answer.text, answer.fallback) == (compose(request), "server down; rule answered")
    assert substrate.status()["second_model"] == "rule"
    await substrate.close()
