"""Facts by rule from text: who speaks, what each clause claims, what "it" is."""

import re
from collections.abc import Iterator
from dataclasses import replace

from actors.knowledge.claim import FactClaim
from actors.knowledge.patterns import claim_of, claimed, kind_of
from actors.knowledge.phrases import Lexicon, bare, definite, noun_phrase
from actors.knowledge.sentences import Clause, clauses, sentences, split_speaker
from environment.messages import Instant

_RECORD = re.compile(r"^\s*[-*]?\s*(?P<r>[A-Za-z][\w /-]{1,30}?)\s*:\s+(?P<v>\S.{0,80}?)\s*$")


class FactReader(Lexicon):
    """Reads texts for claims. Under a millisecond a line."""

    def read(self, text: str, source: str, time: Instant, last: FactClaim | None = None) -> tuple[str, list[FactClaim]]:
        """(Who speaks, what that one claims). ``last``: what was last claimed there, which "no, it's …" corrects."""
        self.depends = False
        records = list(self._record(text))
        if records:
            return source, records
        speaker, said = split_speaker(text, source)
        self.speaker = speaker
        found: list[FactClaim] = []
        for sentence in sentences(said):
            for clause in clauses(sentence, speaker, time):
                claim = self._resolved(clause, time, found[-1] if found else None, last)
                if claim is not None and claim not in found and not self._garbled(claim, sentence):
                    found.append(claim)
        return speaker, found

    def _garbled(self, claim: FactClaim, said: str) -> bool:
        """Whether who speaks was put for an "I" that is no name of its own: in the middle of a subject or a value."""
        return any(
            self.speaker in part and part not in said and part.partition("'s ")[0] != self.speaker
            for part in (claim.subject, claim.value)
        )

    def _record(self, text: str) -> Iterator[FactClaim]:
        """Lines of names and values, the first of which names what they are of."""
        lines = [line for line in text.splitlines() if line.strip()]
        pairs = [found for line in lines if (found := _RECORD.match(line))]
        if len(pairs) < 3 or 2 * len(pairs) < len(lines):  # noqa: PLR2004 - two colons are also in prose
            return
        of = pairs[0]["v"] if lines[0] == pairs[0].string else lines[0]
        named = [(one["r"], one["v"]) for one in pairs[lines[0] == pairs[0].string :]]
        for name, value in named:
            relation = self.relation(name)
            made = claim_of(of, relation, value, kind_of(relation, value))
            if made and not value.endswith("?"):
                yield made

    def _resolved(
        self, clause: Clause, time: Instant, before: FactClaim | None, last: FactClaim | None
    ) -> FactClaim | None:
        """A claim of a clause; one about "it" is about what was said before it."""
        text = re.sub(r"^(\S+)['’]s (?=(?:on|in|at|now|responsible|the new|back) )", r"\1 is ", clause.text)
        about = before or (last if clause.corrects else None)
        pronoun = re.match(
            r"(?:it|he|she)(?:'s|’s|\s+(?=is\b|was\b|sits\b|costs\b|weighs\b|moved\b))", text, re.IGNORECASE
        )
        if pronoun:
            self.depends = True
            if about is None:
                return None
            text = f"{about.subject} {'is ' if pronoun[0][-1] == 's' else ''}{text[pronoun.end() :].strip()}"
        made = claimed(text, self, time)
        if made is None and pronoun and about and clause.corrects:
            said = text.partition(" is ")[2]
            fits = (
                self.state(bare(said))
                if about.relation == "state"
                else re.search(r"\d", said) or (definite(said) and noun_phrase(said))
            )
            made = replace(about, value=bare(said), since=None, until=None) if fits else None
        if made is None or len(made.value) > 80:  # noqa: PLR2004
            return None
        return replace(
            made,
            relation=self.relation(made.relation),
            since=clause.since,
            until=made.until or clause.until,
            changed=made.changed or clause.changed,
            corrects=clause.corrects,
            instead=clause.instead,
            ended=clause.ended,
        )
