"""What a clause says of its subject, by general patterns of English."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from actors.knowledge.claim import FactClaim
from actors.knowledge.fact import FactKind
from actors.knowledge.phrases import (
    JUDGED,
    VAGUE,
    Lexicon,
    bare,
    may_be_had,
    noun_phrase,
    praises,
    subject_phrase,
)
from actors.knowledge.said_times import TIME, parsed, shown
from environment.messages import Instant

_ADVERB = re.compile(r"^(?:very|so|too|really|quite|a bit|completely|totally|pretty|fully|partly)\s+", re.IGNORECASE)


_PREP = (
    r"(?:in|inside|at|on|under|underneath|behind|beside|below|above|near|next to|outside"
    r"|opposite|between|in front of|on top of)"
)
_BE = r"(?:is|are|was|were|will be|has been|have been)"
_NUMBER = r"[-+]?\d+(?:[.,]\d+)*"
_UNIT = (
    r"(?:%|°\s?[CFK]?|[kMGTmµn]?(?:g|m|l|L|W|Wh|V|A|Hz|Pa|B|bit|s|N|J)|[CFK]|t|bar|mbar|psi|rpm|dB|km/h"
    r"|m/s|mph|mm|cm|km|ft|in|lb|lbs|oz|kilos?"
    r"|tonnes?|tons?|litres?|liters?|metres?|meters?|degrees?|percent|euros?|dollars?|pounds?|EUR|USD|GBP"
    r"|[€$£]|seconds?|minutes?|mins?"
    r"|hours?|hrs?|h|days?|weeks?|pieces|pcs|units|seats|people|pallets|boxes|crates|min|ms|[KMGT]i?B)"
)
_QUANTITY = rf"(?:{_NUMBER}\s?{_UNIT}(?:\s?(?:C|F))?|[€$£]\s?{_NUMBER}(?:[kKmM])?)"
_PHONE = r"\+?\d[\d ()/-]{5,}\d"
_TO = (
    r"(?:(?:(?:is|are|was|were|has|have|had|went|goes|got|been|being|just|be)\s+)*"
    r"(?:changed|raised|lowered|set|increased|decreased|reduced|rose|fell|dropped|up|down|corrected"
    r"|updated|switched)\s+to)"
)
_MOVED = r"(?:moved|taken|brought|transferred|relocated|shifted|carried|sent|driven|put|placed|returned)"
_DELAYED = (
    r"(?:moved|rescheduled|postponed|pushed(?: back)?|brought forward|shifted|delayed|put off|put back|re-planned)"
)
_WHEN = rf"(?>(?P<v>{TIME.pattern.replace('?P<', '?P<v_')}))"
_S, _V, _T = r"(?P<s>[^,;:=]{1,70}?)", r"(?P<v>[^,;]{1,80}?)", r"(?P<t>[^,;:]{1,70}?)"
_NO_VERB = r"(?!(?:is|are|was|were|has|have|had|will|went|goes|got|been|now)\b)"
_R = rf"(?P<r>(?:{_NO_VERB}[A-Za-z][\w-]{{1,20}}\s+)?{_NO_VERB}[A-Za-z][\w-]{{2,20}})"
_CARES = (
    r"(?:(?:is|are|be)?\s*(?:responsible for|in charge of|accountable for|the owner of)|looks after"
    r"|takes care of|owns|runs|handles"
    r"|manages|leads|maintains|operates|oversees)"
)
_CARED = r"(?:looked after|taken care of|handled|run|owned|managed|maintained|led|operated|overseen|covered)"
_Made = Callable[["re.Match[str]", "Lexicon", Instant], FactClaim | None]
_RULES: list[tuple[re.Pattern[str], _Made]] = []


def _rule(*patterns: str) -> Callable[[_Made], _Made]:
    def kept(made: _Made) -> _Made:
        _RULES.extend((re.compile(rf"^{pattern}$", re.IGNORECASE), made) for pattern in patterns)
        return made

    return kept


def claim_of(
    subject: str, relation: str, value: str, kind: FactKind = FactKind.STANDARD, takes_from: str = ""
) -> FactClaim | None:
    """A claim, where its subject may be spoken of and its value is there."""
    subject, value = subject_phrase(subject), value.strip(" .,")
    return FactClaim(subject, relation, value, kind, takes_from=takes_from) if subject and value else None


@_rule(rf"{_S}\s+(?:{_BE}\s+)?(?:(?:also )?known as|aka|a\.k\.a\.|alias|called|nicknamed)\s+(?P<v>[^,;]{{2,40}})")
def _alias(found: re.Match[str], _: Lexicon, __: Instant) -> FactClaim | None:
    value = noun_phrase(found["v"], 3)
    made = claim_of(found["s"], "alias", value) if value else None
    return made and replace(made, alias=True)


@_rule(
    rf"{_S}\s+(?:will|{_BE}\s+going to|shall)\s+(?P<v>(?:[a-z]+)\s+.{{3,70}}?)\s+(?:by|before|until|till"
    rf"|no later than)\s+(?P<w>.{{2,40}})",
    r"(?:you|we|they)\s+(?:will|'ll)\s+(?:have|get|receive)\s+(?P<v>.{3,70}?)\s+from\s+(?P<s>.{2,40}?)"
    r"\s+(?:by|before|until|till)\s+(?P<w>.{2,40})",
)
def _promise(found: re.Match[str], _: Lexicon, time: Instant) -> FactClaim | None:
    due = parsed(found["w"], time)
    made = claim_of(found["s"], "promised", found["v"], FactKind.OPERATIONAL)
    return (
        replace(made, until=due[0] if due[1] else due[0] + 86_399.0)
        if made and due and due[0] + 86_400 > time
        else None
    )


@_rule(
    rf"{_S}(?:\s*:\s*|\s+(?:will be|{_BE}|starts?|begins?|takes? place|happens?)\s+)(?:on\s+|at\s+)?{_WHEN}",
    rf"we\s+(?:have|meet for|are having)\s+{_S}\s+(?:on\s+|at\s+)?{_WHEN}",
    rf"{_S},?\s+(?:{_BE}\s+)?(?P<moved>{_DELAYED})\s+(?:from\s+.{{2,40}}?\s+)?(?:to|until|till)\s+{_WHEN}",
)
def _appointment(found: re.Match[str], _: Lexicon, time: Instant) -> FactClaim | None:
    at = parsed(found["v"], time)
    if at is None or re.fullmatch(r"\W*(?:now|today|tonight|yesterday)?\W*", found["v"].lower()):
        return None
    made = claim_of(found["s"], "time", shown(at[0], hour=at[1]), FactKind.OPERATIONAL)
    return made and replace(made, changed="moved" in found.re.groupindex)


@_rule(
    rf"(?:(?:you|we) can\s+)?(?:reach|call|ring|phone|text|contact)\s+(?P<s>.{{2,40}}?)\s+(?:on|at"
    rf"|under)\s+(?P<v>{_PHONE})",
    rf"(?P<s>.{{2,40}}?)\s+(?:can be|is)\s+(?:reached|reachable|called)\s+(?:on|at|under)\s+(?P<v>{_PHONE})",
)
def _phone(found: re.Match[str], _: Lexicon, __: Instant) -> FactClaim | None:
    return claim_of(found["s"], "phone", found["v"])


@_rule(
    rf"{_S}\s+(?P<verb>weighs|costs|holds|measures|reads|shows|carries|consumes|draws|runs at|is at"
    rf"|are at)\s+(?:about\s+)?(?P<v>{_QUANTITY})",
    rf"{_S}\s+(?:has|have|had)\s+an?\s+{_R}\s+of\s+(?:about\s+)?(?P<v>{_QUANTITY})",
    rf"{_S}\s*:\s*{_R}\s+(?P<v>{_QUANTITY})",
)
def _quantity(found: re.Match[str], _: Lexicon, __: Instant) -> FactClaim | None:
    named = {"weighs": "weight", "costs": "price", "holds": "capacity", "carries": "capacity"}
    relation = found["r"] if "r" in found.re.groupindex else named.get(found["verb"].lower(), "level")
    return claim_of(found["s"], relation.lower(), found["v"], FactKind.OPERATIONAL)


@_rule(
    rf"{_S}\s+(?:takes|took|has taken|will take|is taking)\s+over\s+(?:(?P<r>[a-z][\w -]{{2,24}}?)"
    rf"\s+(?:for|of)\s+)?{_T}(?:\s+from\s+(?P<q>[^,;]{{2,40}}))?",
    rf"{_S}\s+(?:replaces|replaced|relieves|relieved|succeeds|succeeded|is replacing|stands in for"
    rf"|fills in for)\s+(?P<q>[^,;:]{{2,40}}?)"
    rf"\s+(?:as\s+(?:the\s+)?)?(?:(?P<r>[a-z][\w -]{{2,24}}?)\s+)?(?:for|of|on)\s+{_T}",
    rf"(?P<q>[^,;:]{{2,40}}?)\s+(?:handed|hands|passed|passes|has handed)\s+(?:over"
    rf"\s+)?(?:(?P<r>[a-z][\w -]{{2,24}}?)\s+(?:for|of)\s+)?"
    rf"{_T}\s+(?:over\s+)?to\s+{_S}",
)
def _handover(found: re.Match[str], _: Lexicon, __: Instant) -> FactClaim | None:
    who, before = noun_phrase(found["s"], 3), noun_phrase(found["q"] or "", 3)
    relation = bare(re.sub(r"\b(?:is|as)\b", "", found["r"] or "")).lower()
    made = claim_of(found["t"], relation, who, FactKind.OPERATIONAL, takes_from=before or "?") if who else None
    return made and replace(made, changed=True)


@_rule(
    rf"{_S}\s+(?:{_BE}\s+)?(?:has|takes|does|have|got)?\s*(?:the\s+)?on[- ]call\s+(?:for|of)\s+{_T}",
    rf"(?:the\s+)?on[- ]call\s+(?:for|of)\s+{_T}\s*(?:{_BE}|:)\s*{_S}",
    rf"(?P<t>(?!the\b)[^,;:]{{2,70}}?)\s+on[- ]call\s*(?:{_BE}|:)\s*{_S}",
)
def _on_call(found: re.Match[str], _: Lexicon, __: Instant) -> FactClaim | None:
    who = noun_phrase(found["s"], 3)
    return claim_of(found["t"], "on call", who, FactKind.OPERATIONAL) if who else None


@_rule(rf"{_S}\s+{_CARES}\s+{_T}", rf"{_T}\s+(?:{_BE}\s+)?(?:being\s+)?{_CARED}\s+by\s+{_S}")
def _responsible(found: re.Match[str], _: Lexicon, __: Instant) -> FactClaim | None:
    who = noun_phrase(found["s"], 3)
    return claim_of(found["t"], "responsible", who) if who else None


@_rule(
    rf"{_S}['’]s?\s+(?P<new>new\s+)?{_R}\s*(?:\s(?P<to>(?:{_BE}\s+)?{_TO})|\s{_BE}|=|:)\s+{_V}",
    rf"(?:the\s+)?(?P<new>new\s+)?{_R}\s+(?:of|for)\s+(?:the\s+)?{_S}\s*(?:\s(?P<to>{_TO})|\s{_BE}|=|:)\s+{_V}",
)
def _attribute(found: re.Match[str], words: Lexicon, _: Instant) -> FactClaim | None:
    relation, value = bare(found["r"]).lower(), bare(found["v"])
    value = re.sub(rf"^{_PREP}\s+", "", value, flags=re.IGNORECASE) if words.relation(relation) == "location" else value
    odd = not value or len(value.split()) > 6 or VAGUE.search(value) or praises(value)  # noqa: PLR2004
    if not may_be_had(relation) or (odd and not words.state(value)):
        return None
    made = claim_of(found["s"], relation, value, kind_of(words.relation(relation), value))
    return made and replace(made, changed=bool(found["new"] or found["to"]))


@_rule(
    rf"{_S}\s+(?:{_BE}|works as|acts as|serves as|(?P<became>became|becomes))\s+(?:(?:the|our|an?)"
    rf"\s+)?(?P<new>new\s+)?{_R}\s+(?:of|for)\s+{_T}",
    rf"{_S}\s+(?:{_BE}|(?P<became>became|becomes))\s+{_T}['’]s?\s+(?P<new>new\s+)?{_R}",
)
def _role(found: re.Match[str], _: Lexicon, __: Instant) -> FactClaim | None:
    who, role = noun_phrase(found["s"], 3), bare(found["r"]).lower()
    plain = re.search(rf"{_BE}\s+(?:{re.escape(found['r'])})\s+(?:of|for)", found[0], re.IGNORECASE)
    if not who or not may_be_had(role) or plain:
        return None  # "is out of order", "is full of water"
    made = claim_of(found["t"], role, who)
    return made and replace(made, changed=bool(found["became"] or found["new"]))


@_rule(
    rf"{_S}\s+(?:{_BE}\s+)?{_MOVED}\s+(?:from\s+.{{2,40}}?\s+)?(?:over\s+|back\s+)?(?:in)?to\s+{_V}",
    rf"{_S}\s+(?:went|goes|drove|came)\s+(?:from\s+.{{2,40}}?\s+)(?:in)?to\s+{_V}",
    rf"(?P<who>[^,;:]{{1,40}}?)\s+(?:moved|took|brought|carried|transferred|drove|put|returned)\s+{_S}"
    rf"\s+(?:from\s+.{{2,40}}?\s+)?(?:over\s+|back\s+)?(?:in)?to\s+{_V}",
    rf"(?P<who>[^,;:]{{1,40}}?)\s+(?:put|left|parked|placed|stored|hid)\s+{_S}\s+(?P<p>{_PREP})\s+{_V}",
)
def _moved(found: re.Match[str], _: Lexicon, __: Instant) -> FactClaim | None:
    made = _place(found)
    return made and replace(made, changed=True)


@_rule(
    rf"{_S}\s+(?:{_BE}|sits?|stands?|lies|lives?|stays?|hangs?|waits?)\s+(?:(?:stored|kept|parked|located"
    rf"|placed|standing|sitting|lying|hidden|stationed)\s+)?"
    rf"(?P<p>{_PREP})\s+{_V}",
    rf"(?:we|they)\s+(?:keep|store|park|have|leave)\s+{_S}\s+(?P<p>{_PREP})\s+{_V}",
    rf"(?:(?:you|we)(?:'ll|’ll| will| can)?\s+find\s+{_S}|(?P<s2>[^,;:]{{1,70}}?)\s+can be found)"
    rf"\s+(?P<p>{_PREP})\s+{_V}",
)
def _located(found: re.Match[str], _: Lexicon, __: Instant) -> FactClaim | None:
    return _place(found)


def _place(found: re.Match[str]) -> FactClaim | None:
    groups = found.groupdict()
    subject, prep, place = (
        groups.get("s2") or groups["s"],
        (groups.get("p") or "in").lower(),
        noun_phrase(found["v"], 5),
    )
    abstract = re.fullmatch(
        r"(?:call|duty|leave|holiday|time|fire|hold|track|the way|way|order|use|trouble|charge|sale|strike"
        r"|stock|progress|work|home|once|least|last"
        r"|question|fact|love|mind|point|risk|it|vacation|break|board|top|shift|purpose|general|case|hand"
        r"|place|touch|lunch|a meeting|\d+)",
        bare(found["v"]),
        re.IGNORECASE,
    )
    if not place or (abstract and not groups.get("who")):
        return None
    return claim_of(
        subject or "", "location", place if prep in {"in", "at", "on", "inside"} else f"{prep} {place}", FactKind.PLACE
    )


@_rule(
    rf"{_S}\s+(?P<verb>likes?|loves?|hates?|prefers?|enjoys?|dislikes?|adores?|fears?)\s+{_V}",
    rf"{_S}\s+{_BE}\s+(?P<verb>allergic to|fond of)\s+{_V}",
)
def _feeling(found: re.Match[str], words: Lexicon, __: Instant) -> FactClaim | None:
    value, verb = noun_phrase(found["v"], 3), found["verb"].lower()
    if not (found["s"] == words.speaker or ((verb.endswith("s") or " " in verb) and found["s"][:1].isupper())):
        return None  # "sounds like", "they like"
    relation = verb if " " in verb else verb.rstrip("s") + "s"
    return (
        claim_of(found["s"], relation, value, FactKind.EMOTIONAL)
        if value and not value.lower().startswith("to ")
        else None
    )


@_rule(
    rf"(?P<v>[^,;:]{{2,40}}?)\s+(?:supplies|delivers|provides)\s+{_S}",
    rf"{_S}\s+(?:{_BE}\s+(?:supplied|delivered|provided)\s+by|comes? from|{_BE}\s+from)\s+{_V}",
    rf"we\s+(?:get|buy|order|lease|rent)\s+{_S}\s+from\s+{_V}",
)
def _supplier(found: re.Match[str], _: Lexicon, __: Instant) -> FactClaim | None:
    value = noun_phrase(found["v"], 4)
    return claim_of(found["s"], "supplier", value) if value and value[0].isupper() else None


@_rule(
    rf"{_S}\s+(?P<r>works (?:for|at|with)|reports to|depends on|belongs to|(?:is )?part of"
    rf"|(?:is )?connected to|(?:is )?married to"
    rf"|(?P<c>causes|caused|triggers|triggered|leads to|led to|prevents|prevented))\s+{_V}"
)
def _relates(found: re.Match[str], _: Lexicon, __: Instant) -> FactClaim | None:
    relation, value = found["r"].lower().removeprefix("is "), noun_phrase(found["v"], 4)
    if found["c"]:
        relation = "prevents" if relation.startswith("prevent") else "causes"
    return claim_of(found["s"], relation, value) if value else None


@_rule(rf"{_S}\s+(?:because of|{_BE} due to|{_BE} caused by|was triggered by)\s+{_V}")
def _caused(found: re.Match[str], _: Lexicon, __: Instant) -> FactClaim | None:
    return claim_of(found["v"], "causes", noun_phrase(found["s"], 6))


@_rule(rf"{_S}\s+(?:is|are)\s+an?\s+{_V}")
def _class(found: re.Match[str], words: Lexicon, _: Instant) -> FactClaim | None:
    value = noun_phrase(found["v"], 4)
    ordinary = not value or value.split()[0].lower() in JUDGED or not words.specific(found["s"])
    return None if ordinary else claim_of(found["s"], "is a", value)


@_rule(rf"{_S}\s+(?:is|are|went|became|stays|remains|has gone|{_BE})\s+(?P<v>[^,;:]{{2,40}}?)")
def _state(found: re.Match[str], words: Lexicon, _: Instant) -> FactClaim | None:
    value = _ADVERB.sub("", found["v"])
    if re.fullmatch(_QUANTITY, value):
        return claim_of(found["s"], "level", value, FactKind.OPERATIONAL)
    if not words.specific(found["s"]) or not words.state(value):
        return None
    if words.person(found["s"]) and not value.lower().startswith(("on ", "away", "out of", "off")):
        return None
    return claim_of(found["s"], "state", value, FactKind.OPERATIONAL)


def kind_of(relation: str, value: str) -> FactKind:
    """How fast what a relation says fades."""
    if relation == "location":
        return FactKind.PLACE
    passing = relation in {"state", "time", "level", "on call"} or re.fullmatch(_QUANTITY, value)
    return FactKind.OPERATIONAL if passing else FactKind.STANDARD


def claimed(text: str, words: Lexicon, time: Instant) -> FactClaim | None:
    """A claim, where its subject may be spoken of and its value is there; ``takes_from`` is one of ``more``."""
    """What the first pattern that fits says."""
    for pattern, made in _RULES:
        found = pattern.match(text)
        claim = made(found, words, time) if found else None
        if claim is not None:
            return claim
    return None
