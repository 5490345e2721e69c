"""``submind init``: a mind.yaml to begin with, every setting in it with what it means."""

import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.output import console
from orchestration.cli.tree import Setting, as_yaml, settings_tree
from orchestration.faculties import about
from orchestration.settings import DEFAULT_SUBMINDS, NAME, MindSettings

_WIDTH = 110
_OPEN = {("mind", "name"), ("mind", "goals"), ("mind", "subminds")}
"""What everybody will want to change: these stand there uncommented."""


def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where; made if it is not there.")],
    name: Annotated[str | None, typer.Option(help="Of the mind. Default: the directory's.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a mind.yaml that is there.")] = False,
) -> None:
    """Write a commented mind.yaml, and say what to do next."""
    called = name or _name(directory)
    if NAME.fullmatch(called) is None:
        raise Failure(
            f"--name {called}: a name is at most 63 small letters, digits and hyphens, and begins with a letter",
            MISUSED,
        )
    file = directory / "mind.yaml"
    if file.exists() and not force:
        raise Failure(f"{file} is there already: --force writes over it")
    directory.mkdir(parents=True, exist_ok=True)
    file.write_text(mind_yaml(called), encoding="utf-8")
    run = ["submind", "run", "--mind", str(file), "--data-dir", str(directory / "data")]
    out = console()
    out.print(f"wrote {file}; now:")
    out.print(f"  {shlex.join(run)}")
    out.print("  echo 'hello, is anybody there?' | submind perceive - --source operator")


def mind_yaml(name: str) -> str:
    """The file: what a mind is, then every other setting commented out at its default."""
    lines = [
        "# The configuration of a mind. What is commented out (#like: this) stands at its default; to change it,",
        "# take the # away, and that of the sections it is in. An environment variable SUBMIND__SECTION__FIELD wins",
        "# over this file, and a flag over both.",
        "",
        *_lines(name),
    ]
    return "\n".join(lines) + "\n"


def _lines(name: str) -> Iterator[str]:
    depth = 0
    for setting in settings_tree():
        indent = "  " * (len(setting.path) - 1)
        if len(setting.path) == 1 and depth:
            yield ""
        depth = len(setting.path)
        yield from _comment(setting, indent)
        if setting.path in _OPEN:
            yield from _open(setting, indent, name)
        elif setting.section:
            yield f"{indent}{'' if setting.path == ('mind',) else '#'}{setting.path[-1]}:"
        else:
            yield f"{indent}#{setting.path[-1]}: {setting.default}"


def _comment(setting: Setting, indent: str) -> Iterator[str]:
    text = setting.doc if setting.section else f"{setting.doc} ({setting.form})"
    for line in textwrap.wrap(text, _WIDTH - len(indent)):
        yield f"{indent}# {line}"


def _open(setting: Setting, indent: str, name: str) -> Iterator[str]:
    if setting.path[-1] == "name":
        yield f"{indent}name: {as_yaml(name)}"
        return
    yield f"{indent}{setting.path[-1]}:"
    if setting.path[-1] == "goals":
        yield from (f"{indent}  - {as_yaml(goal)}" for goal in MindSettings().goals)
        return
    role = ""
    for submind in DEFAULT_SUBMINDS:
        if submind.role != role:
            role = submind.role
            yield f"{indent}  # {role}: {about(role)}"
        yield f"{indent}  - name: {submind.name}"
        yield f"{indent}    role: {submind.role}"
        yield f"{indent}    goals:"
        yield from (f"{indent}      - {as_yaml(goal)}" for goal in submind.goals)


def _name(directory: Path) -> str:
    """A name made of the directory's."""
    made = re.sub(r"[^a-z0-9]+", "-", directory.resolve().name.lower()).strip("-")
    return made[:63].strip("-") if made[:1].isalpha() else "mind"
