"""Write the reference of a mind's configuration: ``python docs/reference.py [--check]``.

Everything in it comes from the docstrings of the settings, so change those. ``--check`` writes nothing and fails
unless the file is current.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from generated import write_or_check

from orchestration.cli.tree import Setting, settings_tree
from orchestration.settings import DEFAULT_SUBMINDS, SubmindSettings

FILE = Path(__file__).resolve().parent / "configuration.md"

HEAD = """\
# Configuration

<!-- Written by `make docs` from the docstrings of the settings: change those. -->

A setting comes from, in rising order: its default, the YAML file named by `--mind`, the environment variable
`SUBMIND__SECTION__FIELD` (two underscores at each step; text as it is, anything else as YAML; an empty one is not
set), and for a few of them a flag. `submind init DIR` writes a `mind.yaml` that has all of them, commented out.

```yaml
mind:
  name: harbour
  goals: [Notice what endangers people or ships, say it once.]
attention:
  per_hour: 4
gateway:
  intake:
    trust: {pilot-*: 0.7, weather: 0.5}
```

The same from the environment:

```sh
export SUBMIND__MIND__NAME=harbour SUBMIND__ATTENTION__PER_HOUR=4
export SUBMIND__GATEWAY__INTAKE__TRUST='{pilot-*: 0.7, weather: 0.5}'
```

A file that is wrong is refused in a sentence for each fault, which names the file and line (or the variable, or the
flag), the setting, its value, and what would be right. A setting that does not exist is refused as well.

**Durations** are numbers of seconds, or numbers with a unit: `500ms`, `90s`, `30m`, `12h`, `7d`, `4w`. **Times** are
RFC 3339 (`2026-03-03T06:00:00Z`), or seconds since 1970.
"""


def document() -> str:
    """The whole file."""
    lines = [HEAD]
    rows: list[Setting] = []
    for setting in settings_tree():
        if setting.section:
            lines += _table(rows)
            rows = []
            lines += [f"{'#' * (len(setting.path) + 1)} `{setting.dotted}`", "", setting.doc, ""]
        else:
            rows.append(setting)
            if setting.dotted == "mind.subminds":
                lines += _table(rows) + list(_subminds())
                rows = []
    return "\n".join([*lines, *_table(rows)]).rstrip() + "\n"


def _table(rows: list[Setting]) -> list[str]:
    if not rows:
        return []
    lines = ["| setting | default | form | meaning |", "|---|---|---|---|"]
    for row in rows:
        default = f"`{row.default}`" if row.default else "below" if row.dotted == "mind.subminds" else "required"
        lines.append(f"| `{row.path[-1]}` | {_cell(default)} | {_cell(row.form)} | {_cell(row.doc)} |")
    return [*lines, ""]


def _subminds() -> Iterator[str]:
    """The form of a submind, and the default list."""
    yield "Each of `mind.subminds`:"
    yield ""
    yield from _table(list(settings_tree(SubmindSettings)))
    yield "By default:"
    yield ""
    yield "| name | role | goal |"
    yield "|---|---|---|"
    yield from (f"| `{one.name}` | {one.role} | {_cell(one.goal)} |" for one in DEFAULT_SUBMINDS)
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    write_or_check(FILE, document(), "Write docs/configuration.md from the settings' docstrings.")
