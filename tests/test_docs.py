"""Documents and files beside the code: current, complete, and free of what has no place in them."""

import re
import subprocess
from importlib.metadata import distributions
from pathlib import Path

import pytest
import yaml

from orchestration.loading import load_settings

ROOT = Path(__file__).resolve().parent.parent
OWN = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
DOCUMENTS = sorted([*(ROOT / name for name in OWN), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md")])


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_the_examples_in_the_reference_are_configurations(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    example = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    variables = re.search(r"```sh\n(.*?)```", text, re.DOTALL)
    assert example
    assert variables
    file = tmp_path / "mind.yaml"
    file.write_text(example[1])
    environ = dict(re.findall(r"(SUBMIND__\w+)=('[^']*'|\S+)", variables[1]))
    by_file = load_settings(file, {})
    by_environment = load_settings(None, {name: value.strip("'") for name, value in environ.items()})
    assert by_file.mind.name == by_environment.mind.name == "harbour"
    assert by_file.gateway == by_environment.gateway
    assert by_file.attention == by_environment.attention
    assert yaml.safe_load(example[1]).keys() == {"mind", "attention", "gateway"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    text = re.sub(r"```.*?```", "", document.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_the_lock_pins_names_and_versions_and_nothing_else() -> None:
    lines = [line for line in (ROOT / "requirements.lock").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert lines
    for line in lines:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+_-]+", line), line


def test_the_lock_has_everything_that_is_asked_for() -> None:
    pinned = {
        canonical(line.partition("==")[0]) for line in (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    }
    asked = next(one for one in distributions() if one.metadata["Name"] == "submind").requires or []
    wanted = {canonical(re.split(r"[\s<>=!~;\[]", requirement, maxsplit=1)[0]) for requirement in asked}
    assert wanted <= pinned, wanted - pinned


def test_make_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    command = ["make", "--no-print-directory", "help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    phony = re.search(r"^\.PHONY:(.*)$", makefile, re.MULTILINE)
    assert phony
    assert set(phony[1].split()) == {line.split()[0] for line in done.stdout.splitlines() if line.strip()}


def test_scripts_are_sound_bash() -> None:
    for script in sorted(path for path in (ROOT / ".ci").iterdir() if not path.suffix):
        subprocess.run(["bash", "-n", script], check=True)
        assert "set -euo pipefail" in script.read_text("utf-8")
        assert script.stat().st_mode & 0o111, f"{script.name} must be executable"


def test_no_file_names_a_package_index_or_somebody_s_machine() -> None:
    hosts = [
        "pypi" + ".org",
        "python" + "hosted",
        "npm" + "js",
        "crates" + ".io",
        "repo1." + "maven",
        "deb." + "debian",
    ]
    places = ["/" + "root/", "/" + "work/", "/" + "home/"]
    wrong = []
    for path in tracked():
        data = path.read_bytes()
        if b"\0" in data[:8192]:
            continue
        text = data.decode("utf-8", errors="replace")
        wrong += [f"{path.relative_to(ROOT)} names {word}" for word in (*hosts, *places) if word in text]
    assert not wrong, "\n".join(wrong)


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
