"""A made-up month of chat, mail and tickets with open loops in it, names and dates drawn by a seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from incident_streams import SYLLABLES

from environment.messages import NewPerception

BEGINS = 1_772_409_600.0
DAYS = 28
DAY, HOUR = 86_400.0, 3_600.0
SHAPES = {
    "promise": ("chat", "{who}: {whom}, I'll send you {what} by {due}", "{who}: {what} is with you now, {whom}"),
    "deadline": (
        "mail",
        "Subject: {what}. It has to be with {whom} by {due}, {who} does it.",
        "Subject: {what}. {whom} has it, thank you {who}.",
    ),
    "question": (
        "mail",
        "Subject: {what}. {who}, can you tell me until {due} whether it is settled? {whom}",
        "Subject: Re: {what}. Yes, settled, {whom}. Regards {who}",
    ),
    "mute": (
        "chat",
        "{who}: muted the alarms of {what} for {whom}, i put them back by {due}",
        "{who}: alarms of {what} are on again",
    ),
    "call": (
        "tickets",
        "{what}: {whom} rang, {who} will call back by {due}",
        "{what}: {who} has called {whom} back, done",
    ),
    "ticket": ("tickets", "{what} opened for {who} by {whom}, due {due}", "{what} closed by {who}, {whom} confirms"),
}
DECOYS = (
    ("chat", "{who}: i promised myself no cake by {due}, let's see"),
    ("chat", "{who}: {whom} sent {what} yesterday as promised, all good"),
    ("mail", "Subject: {what}. No need to call back, {whom}, it was solved on the phone. {who}"),
    ("tickets", "{what} was due {due} and is closed since last week"),
)
ROUTINE = (
    ("chat", "{who}: {whom} is in the small room with the visitors"),
    ("chat", "{who}: thanks {whom}"),
    ("chat", "{who}: lunch at the corner, who comes"),
    ("mail", "Subject: minutes. Attached are those of {due}. {who}"),
    ("mail", "Subject: {what}. For your information only. {who}"),
    ("tickets", "{what}: status changed to in progress by {who}"),
    ("tickets", "{what}: comment by {whom}: looked at the log, nothing new"),
)
THINGS = ("the {} report", "the {} contract", "the {} figures", "the {} drawings", "the {} boiler", "the {} order")


@dataclass(frozen=True)
class Loop:
    """Who owes what to whom. ``due`` is an instant; ``closes`` the key of the line that closes it, if any does."""

    kind: str
    who: str
    what: str
    whom: str
    opens: str
    due: float
    closes: str | None


def month(seed: int, loops: int = 36) -> tuple[list[NewPerception], list[Loop], set[str]]:
    """The lines, the loops, and the keys of what only sounds like one. A third is closed late or never."""
    chance = random.Random(seed)

    def word() -> str:
        return "".join(chance.sample(SYLLABLES, 3))

    people = [word().capitalize() for _ in range(14)]
    lines: dict[str, tuple[float, str, str]] = {}

    def say(shape: tuple[str, str], at: float, named: Mapping[str, str]) -> str:
        key = f"month-{len(lines)}"
        lines[key] = (at, f"{shape[0]}-{named['team']}", shape[1].format(**named))
        return key

    def drawn(due: float) -> dict[str, str]:
        who, whom = chance.sample(people, 2)
        day, hour = divmod(int((due - BEGINS) // HOUR), 24)
        team = chance.choice(("north", "south", "office"))
        return {
            "who": who,
            "whom": whom,
            "what": chance.choice(THINGS).format(word()) + f" {chance.randrange(100, 999)}",
            "due": f"{day + 2} March, {hour}:00",
            "team": team,
        }

    found: list[Loop] = []
    for i in range(loops):
        kind = list(SHAPES)[i % len(SHAPES)]
        source, opening, closing = SHAPES[kind]
        opened = _working(chance, DAYS - 8)
        due = BEGINS + ((opened - BEGINS) // DAY + chance.choice((1, 2, 3, 5))) * DAY + chance.randrange(10, 18) * HOUR
        named = drawn(due)
        opens = say((source, opening), opened, named)
        closes = None
        if chance.random() < 2 / 3:
            closes = say((source, closing), chance.uniform(opened + HOUR, due - HOUR), named)
        elif chance.random() < 1 / 2:
            closes = say((source, closing), due + chance.uniform(6, 40) * HOUR, named)
        found.append(Loop(kind, named["who"], named["what"], named["whom"], opens, due, closes))
    for _ in range(900):
        at = _working(chance, DAYS)
        say(chance.choice(ROUTINE), at, drawn(at))
    decoys = {say(chance.choice(DECOYS), at := _working(chance, DAYS - 2), drawn(at + DAY)) for _ in range(loops)}
    ordered = sorted(lines.items(), key=lambda line: line[1][0])
    history = [NewPerception(source=s, time=t, received=t, text=text, key=k, trust=0.4) for k, (t, s, text) in ordered]
    return history, found, decoys


def _working(chance: random.Random, days: int) -> float:
    """An instant at work within the first ``days``."""
    return BEGINS + chance.randrange(days) * DAY + chance.uniform(8, 18) * HOUR
