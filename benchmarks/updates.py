"""Whether what is asked about changing things is answered with the value of now, and of then.

    python benchmarks/updates.py [--seeds 2] [--show]

The month of benchmarks/fact_month.py is told to a mind's knowledge and its log; of what changes it is asked at the end,
and with a day half-way through the time in which another value was so, in words that no rule of facts was written with.
Right: of the values that were ever so, the answer names that one first. Known: it says so without doubt. "lines": as
it would be answered from lines alone.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from fact_month import DAY, Planted, month
from knowledge import Told, plain
from thoughts import share, shown

from actors.answering.answer import answer
from actors.answering.episodes import EpisodeFollower
from environment.episodes.index import EpisodeIndex
from environment.episodes.question import Question
from environment.stores.sqlite import open_stores

ASKED = {
    "on call": ("who is on call for {x}", "who's on call for {x}"),
    "responsible": ("who looks after {x}", "who is responsible for {x}", "who takes care of {x}"),
    "location": ("where is {x}", "where's the {x}", "where can I find {x}"),
    "phone": ("what is {x}'s number", "what's the phone number of {x}"),
    "value": ("what is the {r} of {x}", "what is {x}'s {r}"),
    "state": ("what is the state of {x}", "what is {x}'s status"),
    "time": ("when is {x}", "when is the {x}"),
    "role": ("who is the {r} of {x}", "who is {x}'s {r}"),
}


def _was(found: re.Match[str]) -> str:
    return f"{found[1]} was" if found[1] else "could I" if found[0] == "can I" else "was"


def first(text: str, chain: Sequence[Planted]) -> str:
    """The value of those that a thing ever had that a text names first."""
    places = {at: p.value for p in chain if (at := plain(text).find(plain(p.value))) >= 0}
    return places[min(places)] if places else ""


async def measure(seed: int, show: bool) -> Counter[str]:
    lived, counts = month(seed), Counter[str]()
    mind = Told(lived)
    chains: defaultdict[tuple[str, str, str], list[Planted]] = defaultdict(list)
    for planted in lived.facts:
        if not planted.disputed and planted.relation in ASKED:
            chains[planted.relation, planted.subject, planted.named].append(planted)
    end = lived.lines[-1].time
    with tempfile.TemporaryDirectory() as folder:
        stores = await open_stores(Path(folder), "month", synchronous="OFF")
        await stores.perceptions.append(lived.lines)
        await stores.commit(mind.writes)
        follower, index = EpisodeFollower(stores, 100_000, ()), EpisodeIndex(100_000)
        index.add(await stores.perceptions.read(0, 100_000))
        for number, ((relation, subject, named), chain) in enumerate(sorted(chains.items())):
            chain.sort(key=lambda one: one.since)
            if len(chain) < 2:
                continue
            forms = ASKED[relation]
            asked = forms[number % len(forms)].format(x=subject, r=named)
            cases = [("now", f"{asked} now?", chain[-1])]
            for one, following in pairwise(chain):
                if not one.wrong and following.since - one.since > DAY:
                    day = datetime.fromtimestamp((one.since + following.since) / 2, UTC)
                    if one.since < day.replace(hour=0, minute=0).timestamp() + DAY < following.since:
                        past = re.sub(r"(who|what|where)'s|\bis\b|can I", _was, asked, count=1)
                        cases.append(("then", f"{past} on {day:%d %B %Y}?", one))
            for when, question, wanted in cases:
                lines = answer(Question.of(question), index, end)
                reply = await follower.answer(question, (), end)
                counts[f"{when} asked"] += 1
                for way, told in (("", reply), ("lines ", lines)):
                    right = first(told.text, chain) == wanted.value
                    counts[f"{way}{when} right"] += right
                    counts[f"{way}{when} known"] += told.known
                    counts[f"{way}{when} right of known"] += right and told.known
                if show and first(reply.text, chain) != wanted.value:
                    print(when, "|", question, "|", wanted.value, "|", reply.text[:300].replace("\n", " / "))
        await stores.close()
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="how many months, of seeds 0, 1 and so on")
    parser.add_argument("--show", action="store_true", help="what was not answered rightly")
    args = parser.parse_args()
    total: Counter[str] = Counter()
    for seed in range(args.seeds):
        total += asyncio.run(measure(seed, args.show))
    print(
        shown(
            {
                f"{when}: {what}": share(
                    total[f"{when} {part}"], total[f"{when.removeprefix('lines ') if of == 'asked' else when} {of}"]
                )
                for when in ("now", "then", "lines now", "lines then")
                for what, part, of in (
                    ("right", "right", "asked"),
                    ("said as known", "known", "asked"),
                    ("right, of these", "right of known", "known"),
                )
            }
        )
    )


if __name__ == "__main__":
    main()
