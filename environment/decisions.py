"""Why a thought became conscious just then."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Ground(StrEnum):
    """What let a thought through."""

    STOOD_OUT = "stood_out"
    """It stood high enough among the winners before it."""
    WELCOME = "welcome"
    """It was one of the first, with which there is little to compare."""
    BROKE_IN = "broke_in"
    """It waited for nothing: somebody is owed it, or nothing comparable was seen."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What attention weighed, and against what."""

    ground: Ground
    parts: Mapping[str, float]
    """What spoke for it (above 0) and against, in log odds of its level: the evidence of its perception, what became of
    its trace since (``resonance``), several sources, marks (``taste``), goals (``goal``), what was said already
    (``told``), a model's judgement (``judge``)."""
    rank: float
    """Its place among the latest winners, 0..1: 1 is the highest."""
    needed: float
    """The place from which one passed then."""
    among: int
    """Winners that it was compared with, itself included."""
    worth: float
    """The salience from which anything was worth telling then."""
    quoted: bool = False
    """Whether its words are those that were perceived."""
    beaten: str = ""
    """The strongest candidate that it was preferred to: the id of its trace; empty where there was none."""
    beaten_text: str = ""
    """How that begins."""
    beaten_salience: float = 0.0
    """0..1."""
    judged: str = ""
    """Why a model wanted it told or not, in its words; empty where none said so or had no weight (``judge``)."""
    judged_by: str = ""
    """Which model that was."""

    @property
    def words(self) -> str:
        """In plain words, but for the parts."""
        told = f"stood at {self.rank:.2f} among the last {self.among} winners, {self.needed:.2f} was needed"
        told += f", and a salience of {self.worth:.2f}"
        if self.ground is Ground.WELCOME:
            told = "one of the first thoughts, which need only be of worth"
        elif self.ground is Ground.BROKE_IN:
            told = "broke in: it waited for nothing"
        if self.beaten:
            told += f"; it beat “{self.beaten_text}” ({self.beaten_salience:.2f}, {self.beaten})"
        if self.judged_by:
            told += f"; {self.judged_by} judged it" + (f": “{self.judged}”" if self.judged else "")
        return f"{told}; its words are {'quoted' if self.quoted else 'composed'}"
