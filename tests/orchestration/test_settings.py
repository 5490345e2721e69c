"""The configuration: where a setting comes from, and what is said when it is wrong."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environment.messages import Modality
from orchestration.loading import SettingsError, load_settings
from orchestration.settings import MindSettings, Settings


def write(directory: Path, text: str) -> Path:
    path = directory / "mind.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def problems(file: Path | None = None, environ: dict[str, str] | None = None, **flags: tuple[str, object]) -> str:
    with pytest.raises(SettingsError) as raised:
        load_settings(file, environ or {}, flags)
    assert "\n" not in raised.value.problems[0], "a problem is one sentence"
    return str(raised.value)


def test_the_default_mind_has_every_sense_and_distinct_goals() -> None:
    subminds = MindSettings().subminds
    perceptual = {submind.name for submind in subminds if submind.role == "perceptual"}
    cognitive = [submind for submind in subminds if submind.role == "cognitive"]
    metacognitive = {submind.name for submind in subminds if submind.role == "metacognitive"}
    assert perceptual == {modality.value for modality in Modality}
    assert len({submind.goals for submind in cognitive}) == len(cognitive) == 5
    assert metacognitive == {"monitoring", "control"}


def test_later_layers_win_and_the_rest_stays(tmp_path: Path) -> None:
    file = write(tmp_path, "mind: {name: from-file, goals: [hear everything]}\nshell: {mailbox: 100, batch: 7}\n")
    environ = {"SUBMIND__SHELL__MAILBOX": "200", "SUBMIND__MIND__NAME": "from-environment"}
    settings = load_settings(file, environ, {"--name": ("mind.name", "from-flag"), "--batch": ("shell.batch", None)})
    assert settings.mind.name == "from-flag"
    assert settings.shell.mailbox == 200
    assert settings.shell.batch == 7
    assert settings.mind.goals == ("hear everything",)
    assert settings.shell.patience == Settings().shell.patience


def test_the_environment_gives_text_numbers_durations_and_lists() -> None:
    environ = {
        "SUBMIND__MIND__NAME": "m007",
        "SUBMIND__SHELL__PATIENCE": "2m",
        "SUBMIND__SHELL__SAVE_EVERY": "3",
        "SUBMIND__MIND__GOALS": "[hear everything, 'say: little']",
        "SUBMIND__MIND__CLOCK__START": "2026-03-03T06:00:00Z",
        "SUBMIND__SHELL__BATCH": "",
        "SUBMINDED": "not ours",
    }
    settings = load_settings(None, environ)
    assert settings.mind.name == "m007"
    assert (settings.shell.patience, settings.shell.save_every) == (120.0, 3.0)
    assert settings.mind.goals == ("hear everything", "say: little")
    assert settings.mind.clock.start == 1772517600.0
    assert settings.shell.batch == Settings().shell.batch


def test_a_problem_names_file_line_setting_value_and_what_would_be_right(tmp_path: Path) -> None:
    file = write(tmp_path, "# a mind\nshell:\n  mailbox: lots\n  patience: 3x\n")
    told = problems(file)
    assert f"{file}, line 3: `shell.mailbox` is 'lots', but it should be a valid integer" in told
    assert f"{file}, line 4: `shell.patience` is '3x', but a duration is" in told
    assert "line 1: `attention` is 5, but it is a section: its" in problems(write(tmp_path, "attention: 5\n"))


def test_a_problem_names_the_variable_or_the_flag_that_is_to_blame(tmp_path: Path) -> None:
    file = write(tmp_path, "shell: {batch: 3, mailbox: 100}\n")
    told = problems(file, {"SUBMIND__SHELL__BATCH": "0"}, **{"--box": ("shell.mailbox", 1)})
    assert "SUBMIND__SHELL__BATCH: `shell.batch` is 0" in told
    assert "--box: `shell.mailbox` is 1" in told
    together = problems(None, **{"--key": ("client.key_file", Path("k.pem"))})
    assert together == "--key: `client`: `cert_file` and `key_file` go together: give both, or neither"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shel: {}", "no setting `shel`; did you mean `shell`?"),
        ("mind: {golas: [x]}", "no setting `mind.golas`; did you mean `mind.goals`?"),
        ("mind: {subminds: [{name: a1, gaols: [watch it]}]}", "did you mean `mind.subminds[0].goals`?"),
        ("mind: {qqq: 1}", "no setting `mind.qqq`; `mind` has name, goals, subminds, clock"),
        ("zzz: 1", "no setting `zzz`; the sections are mind, "),
    ],
)
def test_an_unknown_setting_suggests_the_nearest(tmp_path: Path, text: str, expected: str) -> None:
    assert expected in problems(write(tmp_path, text))


def test_an_unknown_variable_is_a_problem_too() -> None:
    assert "SUBMIND__SHELL__MAILBX" in problems(environ={"SUBMIND__SHELL__MAILBX": "64"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mind: [", "not YAML"),
        ("mind: {name: a}\nmind: {name: b}", "line 2: `mind` is given a second time"),
        ("just words", "holds 'just words', and must hold sections"),
        ("mind: {name: Upper}", "a name is at most 63 small letters"),
        ("mind: {name: ../../etc}", "a name is at most 63 small letters"),
        ("mind: {subminds: [{name: stream, goals: [watch it]}]}", "every mind has an actor of that name"),
        ("mind: {subminds: [{name: text, goals: [watch it]}]}", "kept for a submind of another role"),
        (
            "mind: {subminds: [{name: ear, role: perceptual, goals: [hear]}]}",
            "is called one of: text, telemetry, image",
        ),
        ("mind: {subminds: [{name: solo, goals: [watch it]}]}", "would never hear anything"),
        ("mind: {subminds: [&t {name: text, role: perceptual, goals: [hear]}, *t]}", "text is there more than once"),
        ("mind: {clock: {start: yesterday}}", "a time is written as in 2026-03-03T06:00:00Z"),
        ("mind: {clock: {speed: .nan}}", "`mind.clock.speed`"),
        ("mind: {clock: {start: .inf}}", "`mind.clock.start`"),
    ],
)
def test_what_cannot_be_right_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    assert expected in problems(write(tmp_path, text))


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    assert "there is no such file" in problems(tmp_path / "absent.yaml")
    assert "cannot be read" in problems(tmp_path)
    (tmp_path / "latin.yaml").write_bytes(b"mind: {name: caf\xe9}")
    assert "not UTF-8" in problems(tmp_path / "latin.yaml")


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert load_settings(write(tmp_path, "# nothing yet\n"), {}) == Settings()


def test_a_cycle_of_aliases_ends_in_a_sentence(tmp_path: Path) -> None:
    assert "`mind" in problems(write(tmp_path, "mind: &m {clock: *m}\n"))


def test_settings_travel_between_processes() -> None:
    settings = load_settings(None, {"SUBMIND__MIND__CLOCK__START": "2026-03-03T06:00:00Z"})
    assert Settings.model_validate_json(settings.model_dump_json()) == settings
    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301 - our own bytes
    error = SettingsError(["a", "b"])
    assert pickle.loads(pickle.dumps(error)).problems == ("a", "b")  # noqa: S301 - our own bytes


def test_importing_the_settings_reads_no_environment_and_no_heavy_library() -> None:
    probe = (
        "import os, sys\n"
        "os.environ['SUBMIND__SHELL__BATCH'] = 'nonsense'\n"
        "import orchestration.settings, orchestration.loading\n"
        "assert orchestration.settings.Settings().shell.batch > 0\n"
        "print([m for m in ('ray', 'grpc', 'fastapi', 'faiss', 'sqlite3', 'httpx') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


_KEYS = st.sampled_from(["mind", "shell", "name", "goals", "subminds", "clock", "start", "batch", "x"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_KEYS, _VALUES, max_size=4))
def test_whatever_is_given_either_fits_or_is_told_in_sentences(values: dict[str, object]) -> None:
    flags = {f"--{key}": (key, value) for key, value in values.items()}
    told: tuple[str, ...] = ()
    try:
        load_settings(None, {}, flags)
    except SettingsError as error:
        told = error.problems or ("",)
    assert all(problem and "\n" not in problem for problem in told)
