"""Configuration of facts, entities and what becomes of them."""

from pathlib import Path

from pydantic import Field

from environment.config import Seconds, Section, Share

_DAY = 86_400.0


class KnowledgeSettings(Section):
    """What is taken for a fact, when facts deny each other, and what is let go."""

    packs: tuple[Path, ...] = ()
    """Files of what the mind is born with: Markdown, CSV with a line of names, JSON-LD. The process that leads reads
    them when it starts and, where one has changed, within a minute; what is taken out is forgotten. Others are added by
    ``submind pack``."""
    pack_trust: Share = 0.9
    """Trust of what packs say, like ``gateway.intake.trust`` of sources."""
    pack_sections: int = Field(default=2000, ge=1, le=100_000)
    """Sections, rows and nodes of all packs together; with more the mind does not start. Each costs about 2 kilobytes
    of memory in each process that answers."""
    batch: int = Field(default=64, ge=1, le=4096)
    """Perceptions read at a time."""
    longest: int = Field(default=2000, ge=80, le=100_000)
    """Characters of a text that are read."""
    pace: int = Field(default=20, ge=1, le=100_000)
    """Lines of one source that are read within one second of their times; what comes beyond it is said by a machine in
    haste, is passed over and counted as ``limit_hits:pace``."""
    templates: int = Field(default=10_000, ge=1, le=1_000_000)
    """Lines that told nothing, numbers aside, that are remembered by source: said again they are not read. Each costs
    about 200 bytes of memory."""
    facts: int = Field(default=20_000, ge=16, le=1_000_000)
    """Facts kept; beyond it those go first that are over or wrong, the weakest before others, counted as
    ``limit_hits:facts``. Each costs about a kilobyte of memory."""
    entities: int = Field(default=10_000, ge=16, le=1_000_000)
    """Entities kept; beyond it those go that were named longest ago and of which nothing is known, then others, with
    their facts, counted as ``limit_hits:entities``."""
    evidence: int = Field(default=8, ge=2, le=64)
    """Perceptions kept as evidence of a fact: the first, and the latest."""
    aliases: int = Field(default=8, ge=1, le=64)
    """Other names of an entity."""
    edges: int = Field(default=24, ge=2, le=256)
    """Edges of an entity; beyond it the weakest goes."""
    contradictions: int = Field(default=500, ge=1, le=100_000)
    """Contradictions kept; beyond it settled ones go first, then those opened longest ago."""
    subjects: int = Field(default=4096, ge=0, le=100_000)
    """Subjects whose signals are counted, for goals that are proposed; beyond it those go that came on fewest days and
    longest ago, counted as ``limit_hits:subjects``. 0: none is counted or proposed."""
    same_time: Seconds = 12 * 3600.0
    """Two sources that say different things within so long, and neither says that anything changed, contradict each
    other; what comes later is an update."""
    pronoun: Seconds = 600.0
    """For how long "no, it's …" corrects what was last said in the same place."""
    deference: Share = 0.35
    """By how much less than a fact somebody may be trusted to change it; who is trusted less contradicts it."""
    several: Share = 0.3
    """Share of changes of a relation that were taken back soon, from which it is held to have several values."""
    gain: Share = 0.3
    """What saying it again adds to confidence and strength, of what is missing to 1."""
    forget: Share = 0.05
    """Strength of what is over or wrong from which consolidation lets go of it."""
    faint: Share = 0.15
    """Strength below which a fact is not offered where another answers as well, and stands last on a page."""
    labile: Seconds = 3600.0
    """For how long what came to mind is open to change: what is then said otherwise takes its place at once, also
    within ``same_time``, and the contradiction is kept as settled by that."""
    half_life_emotional: Seconds = 168 * _DAY
    """After which a feeling counts half, where nothing comes back to it."""
    half_life_standard: Seconds = 56 * _DAY
    """... and what is of no other kind."""
    half_life_operational: Seconds = 28 * _DAY
    """... a state, a reading, an appointment, who is on call."""
    half_life_place: Seconds = 14 * _DAY
    """... where something is."""
    floor: Share = 0.1
    """Strength below which what is still so never fades."""
    edge_half_life: Seconds = 30 * _DAY
    """After which an edge counts half."""
    cause_half_life: Seconds = 90 * _DAY
    """After which a cause counts half, down to .15."""
    consolidate: Seconds = 3600.0
    """Between two looks at what fades and what doubles: a quarter of it when much was said, twice when little was."""
    clusters: int = Field(default=4000, ge=0, le=1_000_000)
    """Clusters of lines that tell of the same thing, of which sleep makes gists; beyond it those go, of the source that
    has most, that came least and longest ago, counted as ``limit_hits:clusters``. Each costs about four kilobytes of
    memory. 0: there are none."""
    sleep_at: Seconds = Field(default=3 * 3600.0, lt=_DAY)
    """When it sleeps, after midnight, UTC, by the mind's own time."""
    sleep_early: Seconds = Field(default=3 * 3600.0, lt=_DAY)
    """How much sooner it may, when hardly anything comes."""
