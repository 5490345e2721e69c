"""``submind init`` and the tree it is made from."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environment.config import Seconds, Section
from orchestration.cli.preparing import mind_yaml
from orchestration.cli.tree import duration, settings_tree
from orchestration.loading import load_settings
from orchestration.settings import MindSettings, Settings
from tests.orchestration.cli.conftest import submind


def test_the_file_says_the_defaults_and_so_does_all_that_is_commented_out(tmp_path: Path) -> None:
    text = mind_yaml("harbour")
    file = tmp_path / "mind.yaml"
    file.write_text(text)
    as_written = load_settings(file, {})
    file.write_text(re.sub(r"(?m)^( *)#(?! )", r"\1", text))
    uncommented = load_settings(file, {})
    expected = Settings(mind=MindSettings(name="harbour"))
    assert as_written == uncommented == expected


def test_every_setting_is_in_it_and_every_setting_says_what_it_is_for() -> None:
    text = mind_yaml("harbour")
    for setting in settings_tree():
        assert setting.doc, f"{setting.dotted} has no docstring"
        assert re.search(rf"(?m)^ *#?{setting.path[-1]}:", text), setting.dotted
        assert setting.section or setting.form
        assert setting.section or setting.default or setting.dotted == "mind.subminds", setting.dotted


@given(st.floats(min_value=0, max_value=1e9, allow_nan=False))
def test_a_duration_is_written_so_that_it_reads_the_same(seconds: float) -> None:
    class Probe(Section):
        held: Seconds

    assert Probe.model_validate({"held": duration(seconds)}).held == pytest.approx(seconds, rel=1e-5, abs=1e-5)
    assert [duration(seconds) for seconds in (0.003, 1.5, 90, 1800, 86400)] == ["3ms", "1500ms", "90s", "30m", "1d"]


async def test_init_writes_a_mind_that_can_be_used_and_says_what_is_next(tmp_path: Path) -> None:
    directory = tmp_path / "My Harbour!"
    done = await submind("init", directory)
    assert done.code == 0
    assert "submind run --mind" in done.out
    assert "submind perceive -" in done.out
    assert load_settings(directory / "mind.yaml", {}).mind.name == "my-harbour"
    replayed = await submind("replay", "-", "--mind", directory / "mind.yaml", stdin=b"2026-03-03T06:00:00Z a word\n")
    assert replayed.code == 0

    again = await submind("init", directory)
    assert (again.code, "--force writes over it" in again.err) == (1, True)
    assert (await submind("init", directory, "--force", "--name", "other")).code == 0
    assert load_settings(directory / "mind.yaml", {}).mind.name == "other"
    assert (await submind("init", directory, "--force", "--name", "Wrong Name")).code == 2
