"""How many lines of code there are, product and tests, and no more than there may be.

What counts is a line with code on it: no blank, comment, docstring or generated one. A bound is lowered when a change
has made the tree smaller, so that it stays so; who raises one says why.
"""

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GENERATED = "orchestration/pb/"
KINDS = {"environment": "product", "actors": "product", "orchestration": "product", "tests": "tests"}
MOST = {"product": 49_250, "tests": 38_350}
NO_CODE = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


def code_lines(source: str) -> int:
    """Lines with code on them; a string that stands by itself is a docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else []:
            match each:
                case ast.Expr(ast.Constant(str())):
                    lines.difference_update(range(each.lineno, (each.end_lineno or each.lineno) + 1))
    return len(lines)


def main() -> int:
    """Print each room with its lines, then product and tests; 1 where either has more than it may."""
    listed = subprocess.run(["git", "ls-files", "-z", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    rooms: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for name in filter(None, listed.stdout.split("\0")):
        top, _, rest = name.partition("/")
        if top in KINDS and not name.startswith(GENERATED) and (ROOT / name).is_file():
            count = code_lines((ROOT / name).read_text("utf-8"))
            rooms[f"{top}/{rest.partition('/')[0]}" if "/" in rest else top] += count
            kinds[KINDS[top]] += count
    for room, count in rooms.most_common() if "--rooms" in sys.argv else []:
        print(f"{count:7} {room}")
    for kind, most in MOST.items():
        print(f"{kinds[kind]} lines of {kind}, {most} at most")
    return any(kinds[kind] > most for kind, most in MOST.items())


if __name__ == "__main__":
    sys.exit(main())
