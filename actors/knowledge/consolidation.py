"""What becomes of facts as time goes by: what comes to mind grows stronger, what is one is folded, what faded goes."""

from collections.abc import Iterable, Mapping

from actors.knowledge.fact import Fact, FactStanding
from actors.knowledge.ledger import FactLedger
from actors.knowledge.phrases import compared
from environment.messages import Instant

_ONCE = 3600.0
"""Between two times that something comes to mind that count."""


def recall(ledger: FactLedger, told: Iterable[tuple[str, Instant]]) -> None:
    """Perceptions came to mind, and with them what is known by them: once in an hour, so told again it counts nothing.

    In people what competes with it grows weaker (Anderson, Bjork and Bjork, 1994). Here that cost answers to what was
    so before, and saved none.
    """
    for one, at in told:
        for fact in ledger.cited(one):
            if at - fact.recalled < _ONCE:
                continue
            fact.recalled = at
            ledger.use(fact, max(at, fact.used))
            ledger.progress.day.rehearsed.note(fact, "came to mind")


def consolidate(ledger: FactLedger, now: Instant) -> dict[str, int]:
    """Let what doubles reinforce what it doubles, and let go of what faded or is too much: how many, by counter."""
    for of in list(ledger.facts.values()):
        _fold(ledger, of, now)
    weak = [(not f.open, -ledger.strength(f, now), f.key, f) for of in ledger.facts.values() for f in of.values()]
    faded = [one for one in weak if one[0] and -one[1] < ledger.settings.forget]
    rest = sorted((one for one in weak if not one[0] or -one[1] >= ledger.settings.forget), reverse=True)
    for *_, strong, _, fact in rest:
        if fact.faint != (-strong < ledger.settings.faint):
            fact.faint = not fact.faint
            ledger.keep(fact)
    beyond = rest[: max(0, len(rest) - ledger.settings.facts)]
    for some, why in ((faded, "over, and faded"), (beyond, "beyond knowledge.facts")):
        for *_, fact in some:
            ledger.progress.day.faded.note(fact, why)
            ledger.let_go(fact)
    surplus = ledger.graph.surplus(ledger.facts)
    for entity in surplus:
        for fact in list(ledger.facts.get(entity.key, {}).values()):
            ledger.let_go(fact)
        ledger.graph.drop(entity.key)
    ledger.forget_denials()
    return {
        "facts_faded_total": len(faded),
        "limit_hits:facts": len(beyond),
        "limit_hits:entities": len(surplus),
    }


def _fold(ledger: FactLedger, of: Mapping[str, Fact], now: Instant) -> None:
    """What is one by now, since its names are, or since one value only says more."""
    first: dict[tuple[str, str], Fact] = {}
    for fact in sorted((f for f in of.values() if f.open), key=lambda f: (f.learned, f.id)):
        kept = first.setdefault((fact.relation, fact.object or compared(fact.value)), fact)
        if kept is not fact and FactStanding.DISPUTED not in {kept.standing, fact.standing}:
            for ref in fact.evidence:
                if ref.id not in {each.id for each in kept.evidence}:
                    ledger.remember(kept, ref)
            kept.confidence, kept.trust = max(kept.confidence, fact.confidence), min(kept.trust, fact.trust)
            ledger.use(kept, now)
            ledger.progress.day.merged.note(kept, f"says the same as “{fact.value}”")
            ledger.let_go(fact)
