"""Whether a mind answers what is asked about the example's day, rightly and from the right lines.

    python benchmarks/questions.py [--seed 0] [--calls] [--json] [DIALOGUE…]

Asked by a call (``submind ask``) it is answered from all that is kept, right after the day. Asked in the stream: the
day is replayed; then an operator asks what examples/day.questions.yaml has, five minutes of mind time apart, and is
answered by the entry of that kind that cites the question. Right: the words that are known to be so are in it, those
of the question apart. Right source: it cites such a line.

A DIALOGUE is a folder with turns.jsonl (time, source, text, key) and questions.jsonl (question, evidence: keys of the
turns that hold the answer); asked by a call, all told is how often that cites such a turn, and how sure it was.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from corpus import objects, perceptions
from thoughts import Thought, share, shown, thoughts

from actors.answering.answer import answer
from environment.episodes.index import EpisodeIndex
from environment.episodes.question import Question
from environment.identity import perception_id
from environment.messages import EntryKind, NewPerception, Perception

EXAMPLES = Path(__file__).parents[1] / "examples"
APART = 300.0
OPERATOR = "operator"


@dataclass(frozen=True)
class Verdict:
    """Of one question; ``delay`` is in seconds of mind time, None where nothing was said."""

    asked: str
    said: str
    right: bool
    sourced: bool
    delay: float | None


def judged(question: dict[str, Any], key: str, at: float, had: Sequence[Thought]) -> Verdict:
    answers = [t for t in had if key == t.keys[0]]
    said = "\n".join(t.text for t in answers).replace(question["ask"], "")
    right = all(re.search(wanted, said, re.IGNORECASE) for wanted in question["answer"])
    wrong = any(re.search(other, said, re.IGNORECASE) for other in question.get("not", ()))
    sourced = any(source in t.keys for t in answers for source in question["sources"])
    return Verdict(question["ask"], said, right and not wrong, sourced, answers[0].at - at if answers else None)


def indexed(path: Path) -> tuple[EpisodeIndex, dict[str, str | None], float]:
    """What was perceived, the key of each perception, and when the last came."""
    index, keys, now = EpisodeIndex(100_000), {}, 0.0
    for seq, one in enumerate(perceptions(path), 1):
        told = {name: getattr(one, name) for name in ("source", "time", "received", "text", "telemetry", "trust")}
        keys[perception_id(seq)] = one.key
        index.add([Perception(**told, id=perception_id(seq), seq=seq)])
        now = one.time
    return index, keys, now


def called() -> list[Verdict]:
    """The same questions by a call; the delay is in seconds of wall time."""
    index, keys, now = indexed(EXAMPLES / "day.jsonl")
    verdicts = []
    for question in yaml.safe_load((EXAMPLES / "day.questions.yaml").read_text("utf-8")):
        began = time.perf_counter()
        told = answer(Question.of(question["ask"]), index, now)
        delay = time.perf_counter() - began
        right = all(re.search(wanted, told.text, re.IGNORECASE) for wanted in question["answer"])
        wrong = any(re.search(other, told.text, re.IGNORECASE) for other in question.get("not", ()))
        sourced = any(keys[part.perception.id] in question["sources"] for part in told.parts)
        verdicts.append(Verdict(question["ask"], told.text, right and not wrong, sourced, delay))
    return verdicts


def asked_of(folder: Path) -> list[tuple[bool, float, bool]]:
    """Of each question whether it is said as known, how sure that is, and whether a right turn is cited."""
    index, keys, now = indexed(folder / "turns.jsonl")
    found = []
    for question in objects(folder / "questions.jsonl"):
        if question["evidence"]:
            told = answer(Question.of(question["question"]), index, now)
            right = any(keys[part.perception.id] in question["evidence"] for part in told.parts)
            found.append((told.known, told.confidence, right))
    return found


def sureness(told: Sequence[tuple[bool, float, bool]]) -> dict[str, float | None]:
    known = [right for known, _, right in told if known]
    apart = [right for known, _, right in told if not known]
    return {
        "questions": len(told),
        "a right line cited": share(sum(known) + sum(apart), len(told)),
        "said as known": share(len(known), len(told)),
        "a right line cited, of these": share(sum(known), len(known)),
        "a right line cited, of the rest": share(sum(apart), len(apart)),
        "Brier score of the confidence": statistics.fmean((sure - right) ** 2 for _, sure, right in told),
    }


async def measure(seed: int) -> list[Verdict]:
    questions = yaml.safe_load((EXAMPLES / "day.questions.yaml").read_text("utf-8"))
    history = perceptions(EXAMPLES / "day.jsonl")
    times = [history[-1].time + APART * (i + 1) for i in range(len(questions))]
    asked = [
        NewPerception(source=OPERATOR, time=at, received=at, text=question["ask"], key=f"question-{i}", trust=0.9)
        for i, (question, at) in enumerate(zip(questions, times, strict=True))
    ]
    had = await thoughts([*history, *asked], seed=seed, kind=EntryKind.ANSWER)
    return [
        judged(question, f"question-{i}", at, had)
        for i, (question, at) in enumerate(zip(questions, times, strict=True))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of the mind")
    parser.add_argument("--calls", action="store_true", help="only by calls, without a mind")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("dialogues", type=Path, nargs="*", help="folders of dialogues, instead of the day")
    args = parser.parse_args()
    if args.dialogues:
        figures = sureness([one for folder in args.dialogues for one in asked_of(folder)])
        print(json.dumps(figures) if args.json else shown(figures))
        return
    told = {"by a call": called()}
    if not args.calls:
        told["in the stream"] = asyncio.run(measure(args.seed))
    for way, verdicts in told.items():
        show(way, verdicts, as_json=args.json)


def show(way: str, verdicts: Sequence[Verdict], *, as_json: bool) -> None:
    delays = [v.delay for v in verdicts if v.delay is not None]
    figures: dict[str, float | None] = {
        "questions": len(verdicts),
        "answered": share(len(delays), len(verdicts)),
        "answered rightly": share(sum(v.right for v in verdicts), len(verdicts)),
        "from a right source": share(sum(v.sourced for v in verdicts), len(verdicts)),
        "rightly and from a right source": share(sum(v.right and v.sourced for v in verdicts), len(verdicts)),
        "delay, median, s": statistics.median(delays) if delays else None,
    }
    if as_json:
        print(json.dumps({"way": way, **figures}))
        return
    print(way)
    for v in verdicts:
        delay = "-" if v.delay is None else f"{v.delay:.3g} s"
        print(f"  {'right' if v.right else '-':<6} {'source' if v.sourced else '-':<7} {delay}  {v.asked}  {v.said}")
    print(shown(figures))


if __name__ == "__main__":
    main()
