"""What a clause says of its subject: readings of what the patterns of the language find in it."""

import re
from dataclasses import dataclass, replace

from actors.knowledge.claim import FactClaim
from actors.knowledge.fact import FactKind
from actors.knowledge.grammar import Rule, any_of, part, rules, words
from actors.knowledge.phrases import Lexicon, bare, definite, may_be_had, noun_phrase, praises, subject_phrase
from actors.knowledge.said_times import parsed, shown
from environment.messages import Instant

_HERE = frozenset({"in", "at", "on", "inside"})
_MEASURED = {"weighs": "weight", "costs": "price", "holds": "capacity", "carries": "capacity"}
_DETERMINED = re.compile(r"(?:the|our|this|that)\s", re.IGNORECASE)
_DOERS = frozenset({"we", "they", "he", "she", "somebody", "someone"})
_SURFACE = re.compile(r"(?:the|an?|our|his|her|its|their|this|that)\s|.*\d|.*['’]s\s", re.IGNORECASE)
"""Where something may lie on: "on" and a bare word is mostly how something is."""
_LONGEST = 6
"""Words of the value of an attribute."""
_DAY = 86_400.0


def claim_of(subject: str, relation: str, value: str, kind: FactKind = FactKind.STANDARD) -> FactClaim | None:
    """A claim, where its subject may be spoken of and its value is there; a cause may be any of its kind."""
    if not definite(subject) and relation not in {"causes", "prevents"}:
        return None
    subject, value = subject_phrase(subject), value.strip(" .,")
    if value.lower() in words("unsaid"):
        return None
    return FactClaim(subject, relation, value, kind) if subject and value else None


def kind_of(relation: str, value: str) -> FactKind:
    """How fast what a relation says fades."""
    if relation == "location":
        return FactKind.PLACE
    passing = relation in {"state", "time", "level", "on call"} or part("quantity").fullmatch(value)
    return FactKind.OPERATIONAL if passing else FactKind.STANDARD


@dataclass(frozen=True, slots=True)
class _Reading:
    """One pattern that was found. Each method makes a claim of it, or finds that it is none."""

    found: re.Match[str]
    rule: Rule
    lexicon: Lexicon
    time: Instant

    def group(self, name: str) -> str:
        return (self.found[name] or "") if name in self.found.re.groupindex else ""

    def plain(self) -> FactClaim | None:
        value = noun_phrase(self.group("v"), self.rule.words) if self.rule.words else self.group("v")
        relation = self.rule.relation or self.group("r").lower().removeprefix("is ")
        return claim_of(self.group("s"), relation, value, FactKind(self.rule.kind))

    def promise(self) -> FactClaim | None:
        self.lexicon.depends = True
        due, made = parsed(self.group("w"), self.time), self.plain()
        if made is None or due is None or due[0] + _DAY <= self.time:
            return None
        return replace(made, until=due[0] if due[1] else due[0] + _DAY - 1)

    def appointment(self) -> FactClaim | None:
        self.lexicon.depends = True
        at = parsed(self.group("v"), self.time)
        if at is None or self.group("v").strip().lower() in {"", "now", "today", "tonight", "yesterday"}:
            return None
        return claim_of(self.group("s"), "time", shown(at[0], hour=at[1]), FactKind.OPERATIONAL)

    def quantity(self) -> FactClaim | None:
        relation = self.group("r") or _MEASURED.get(self.group("verb").lower(), "level")
        return claim_of(self.group("s"), relation.lower(), self.group("v"), FactKind.OPERATIONAL)

    def handover(self) -> FactClaim | None:
        who, before = noun_phrase(self.group("s"), 3), noun_phrase(self.group("q"), 3)
        relation = bare(re.sub(r"\b(?:is|as)\b", "", self.group("r"))).lower()
        made = claim_of(self.group("t"), relation, who, FactKind.OPERATIONAL)
        return made and replace(made, takes_from=before or "?")

    def attribute(self) -> FactClaim | None:
        relation, value = bare(self.group("r")).lower(), bare(self.group("v"))
        if self.lexicon.relation(relation) == "location":
            value = re.sub(rf"^{part('prep').pattern}\s+", "", value, flags=re.IGNORECASE)
        doing = re.match(r"(?:to\s|[a-z]+ing\s)", value)
        odd = doing or not value or len(value.split()) > _LONGEST or any_of("vague").search(value) or praises(value)
        name = re.search(r"\s[A-Z][a-z]", self.group("r"))
        if name or not may_be_had(relation) or (odd and not self.lexicon.state(value)):
            return None
        made = claim_of(self.group("s"), relation, value, kind_of(self.lexicon.relation(relation), value))
        return made and replace(made, changed=bool(self.group("new") or self.group("to")))

    def role(self) -> FactClaim | None:
        who, role = noun_phrase(self.group("s"), 3), bare(self.group("r")).lower()
        attribute = rf"{part('be').pattern}\s+{re.escape(self.group('r'))}\s+(?:of|for)"  # "is full of water"
        if not may_be_had(role) or re.search(attribute, self.found[0], re.IGNORECASE):
            return None
        made = claim_of(self.group("t"), role, who)
        return made and replace(made, changed=bool(self.group("became") or self.group("new")))

    def place(self) -> FactClaim | None:
        place, prep = noun_phrase(self.group("v")), (self.group("p") or "in").lower()
        said = bare(self.group("v")).lower()
        thing = self.group("s") or self.group("found")
        doer = self.group("who")
        if doer and doer.lower() not in _DOERS and not noun_phrase(doer, 3):
            return None  # "and then put"
        own = self.lexicon.specific(thing) or (not doer and _DETERMINED.match(thing))
        if not own or (prep == "on" and (self.lexicon.person(thing) or not _SURFACE.match(self.group("v")))):
            return None  # "took kids to", "is on fire"
        if not place or (not self.group("who") and (said in words("abstract") or said.isdigit())):
            return None
        where = place if prep in _HERE else f"{prep} {place}"
        return claim_of(thing, "location", where, FactKind.PLACE)

    def feeling(self) -> FactClaim | None:
        said, verb = self.group("s"), self.group("verb").lower()
        third = verb.endswith("s") or " " in verb
        if said != self.lexicon.speaker and not (third and said[:1].isupper()):
            return None  # "sounds like", "they like"
        relation = verb if " " in verb else verb.rstrip("s") + "s"
        return claim_of(said, relation, noun_phrase(self.group("v"), 3), FactKind.EMOTIONAL)

    def kind(self) -> FactClaim | None:
        judged = self.group("v").split(maxsplit=1)[0].lower() in words("judged")
        return None if judged or not self.lexicon.specific(self.group("s")) else self.plain()

    def state(self) -> FactClaim | None:
        subject, value = self.group("s"), part("adverb").sub("", self.group("v"))
        if not self.lexicon.specific(subject):
            return None
        if part("quantity").fullmatch(value):
            return claim_of(subject, "level", value, FactKind.OPERATIONAL)
        if not self.lexicon.state(value):
            return None
        if self.lexicon.person(subject) and not value.lower().startswith(("on ", "away", "out of", "off")):
            return None
        return claim_of(subject, "state", value, FactKind.OPERATIONAL)


def claimed(text: str, lexicon: Lexicon, time: Instant) -> FactClaim | None:
    """What the first pattern that fits says."""
    for rule, pattern in rules():
        found = pattern.match(text)
        made: FactClaim | None = getattr(_Reading(found, rule, lexicon, time), rule.says)() if found else None
        if made is not None:
            return replace(made, changed=made.changed or rule.changed)
    return None
