"""CQL files: their statements, and whether these may stand in a migration."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
    (?P<comment> --[^\n]* | //[^\n]* | /\*.*?\*/ )
  | (?P<text> '(?:[^']|'')*' | "(?:[^"]|"")*" | \$\$.*?\$\$ )
  | (?P<space> \s+ )
  | (?P<end> ; )
  | (?P<other> [^\s;'"$/-]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_ADDITIVE = re.compile(
    r"""
    CREATE\ (TABLE|INDEX|CUSTOM\ INDEX|TYPE|MATERIALIZED\ VIEW)\ IF\ NOT\ EXISTS\ .*
  | ALTER\ TABLE\ [\w.]+\ ADD\ IF\ NOT\ EXISTS\ .*
  | ALTER\ TABLE\ [\w.]+\ WITH\ .*
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)


def statements(text: str) -> list[str]:
    """The statements of a file in order, without comments, each on one line with single spaces between its words."""
    found: list[str] = []
    current = ""
    for token in _TOKEN.finditer(text):
        match token.lastgroup:
            case "comment" | "space":
                current += " "
            case "end":
                found.append(current)
                current = ""
            case "text":
                current += token[0].replace(" ", "\0")  # what is quoted keeps its spaces
            case _:
                current += token[0]
    found.append(current)
    return [" ".join(one.split()).replace("\0", " ") for one in found if one.strip()]


def additive(statement: str) -> bool:
    """Whether a statement only adds, and changes nothing when it is done again: what a migration consists of."""
    return _ADDITIVE.fullmatch(statement) is not None
