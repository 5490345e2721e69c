"""What a sentence is before it is read for facts: who says it, whether it claims anything, from when and until when."""

import re
from dataclasses import dataclass

from actors.knowledge.grammar import any_of, first_person, sentence
from actors.knowledge.said_times import parsed
from actors.substrate import sentences as whole
from environment.messages import Instant

_CLAUSE = re.compile(r"\s*,\s+(?:and|but|so|while)\s+|\s+[-–—]+\s+|;\s+|\s+(?:but|while|whereas)\s+(?!in\b|at\b)")
_SPEAKER = re.compile(r"(@?[^\W\d_][\w.'’-]*(?: [A-Z@][\w.'’-]*| [A-Za-z]+ \d+)?):\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence that claims something."""

    text: str
    """Without its adverbs and times of validity; the first person is named."""
    since: Instant | None = None
    until: Instant | None = None
    changed: bool = False
    """Whether it says that it was otherwise before."""
    corrects: bool = False
    """Whether it says that something said before was wrong."""
    instead: str = ""
    """... what that was."""
    ended: bool = False
    """Whether it says that this is so no more."""


def split_speaker(text: str, source: str) -> tuple[str, str]:
    """(Who says it, what is said): the name before a colon, else the source."""
    found = _SPEAKER.match(text)
    if (
        found is None
        or sentence("label").match(text)
        or sentence("corrects").match(text)
        or found[1] == found[1].lower().strip("@")
    ):
        return source, text
    rest = text[found.end() :]
    if parsed(rest, 0.0) is not None or not re.search(r"[^\W\d_]{2}", rest):
        return source, text
    return found[1], rest


def sentences(text: str) -> list[str]:
    """The text cut after its sentences and lines."""
    return [one for line in text.splitlines() for one in whole.sentences(line)]


def clauses(text: str, speaker: str, time: Instant) -> list[Clause]:
    """What a sentence claims: nothing where it asks, doubts, demands, denies, hopes or jokes."""
    said = sentence("label").sub("", text.strip(), count=1).strip()
    if said.endswith("?") or sentence("asks").match(said) or any_of("doubt").search(said):
        return []
    corrects = sentence("corrects").match(said)
    if corrects:
        said = said[corrects.end() :]
    for found, name in first_person():
        said = found.sub(name.replace("{}", speaker.replace("\\", "")), said)
    return [one for part in _CLAUSE.split(_joined(said)) if (one := _clause(part, time, bool(corrects))) is not None]


def _joined(said: str) -> str:
    """The sentence with "not A but B" as one clause."""
    found = sentence("not_but").search(said)
    if found is None:
        return said
    return f"{said[: found.start()]}{found['b'].rstrip('.! ')}, not {found['a']}"


def _clause(text: str, time: Instant, corrects: bool) -> Clause | None:
    text = text.strip(' ,.!…"“”')
    since = until = None
    changed, instead, ended = False, "", False
    if found := sentence("no_longer").match(text):
        text, changed = f"{found['s']} {found['be']} {found['b'] or found['any'] or found['v']}", True
        ended = not found["b"]
    elif (found := sentence("and_not").match(text)) and not sentence("negated").search(found["b"]):
        text, instead, corrects = found["b"], found["a"].strip(), True
    elif sentence("negated").search(text):
        return None
    if sentence("span").search(text):
        text = sentence("span").sub("", text)
    while found := sentence("valid").search(text):
        at = parsed(found["time"], time)
        if at is None or (found["until"] and sentence("promised").search(text)):
            break
        if found["since"]:
            since, changed = at[0], True
        else:
            until = at[0] if at[1] else at[0] + 86_399.0
        text = f"{text[: found.start()]} {text[found.end() :]}".strip()
    text = sentence("still").sub(" ", text)
    if sentence("now").search(text):
        text, changed = sentence("now").sub(" ", text), True
    text = re.sub(r"\s{2,}", " ", text).strip(" ,.")
    return Clause(text, since, until, changed, corrects, instead, ended) if text else None
