"""How often the lines that a thought joins belong together, in chat whose conversations people annotated.

    python benchmarks/binding.py FOLDER [--part all|tuned|held] [--seeds 3] [--json]

Each ``*.jsonl`` of the folder is a history with ``key`` and ``conversation`` (irc-disentanglement), replayed with a
budget of a fifth of its lines. Of a thought that cites several lines each pair of the first with another is a link,
right where both are of one conversation; reach is the share of thoughts that have any. ``held`` is every other file,
of which no rule or figure was taken. At random: two lines at most 30 apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from corpus import objects, perceptions
from thoughts import share, shown, thoughts

PARTS = {"all": slice(None), "tuned": slice(0, None, 2), "held": slice(1, None, 2)}
NEAR = 30


async def measure(paths: Sequence[Path], seeds: int) -> dict[str, float | None]:
    had = joining = right = links = by_chance = pairs = 0
    for path in paths:
        of = {x["key"]: x["conversation"] for x in objects(path)}
        for seed in range(seeds):
            for thought in await thoughts(perceptions(path), thoughts=len(of) // 5, seed=seed):
                first, *others = thought.keys
                had += 1
                joining += bool(others)
                links += len(others)
                right += sum(of[first] == of[key] for key in others)
        kept = list(of.values())
        near = [(a, b) for i, a in enumerate(kept) for b in kept[i + 1 : i + 1 + NEAR]]
        pairs += len(near)
        by_chance += sum(a == b for a, b in near)
    return {
        "thoughts": had,
        "links": links,
        "precision": share(right, links),
        "reach": share(joining, had),
        "precision at random": share(by_chance, pairs),
    }


def found(folder: Path, part: str) -> Mapping[str, Sequence[Path]]:
    paths = sorted(folder.glob("*.jsonl"))
    return {name: paths[PARTS[name]] for name in ([part] if part != "all" else ["tuned", "held", "all"])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the annotated histories")
    parser.add_argument("--part", choices=PARTS, default="all", help="which files")
    parser.add_argument("--seeds", type=int, default=3, help="how many minds of each file")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    figures = {name: asyncio.run(measure(paths, args.seeds)) for name, paths in found(args.folder, args.part).items()}
    print(json.dumps(figures) if args.json else "\n".join(f"{name}\n{shown(f)}" for name, f in figures.items()))


if __name__ == "__main__":
    main()
