"""Configuration of growth: the bounds within which a mind may divide and retire its subminds."""

from enum import StrEnum

from pydantic import Field

from environment.config import Seconds, Section, Share

MIB = 1024 * 1024


class Approval(StrEnum):
    """What an operator must permit."""

    NONE = "none"
    DIVISIONS = "divisions"
    ALL = "all"


class GrowthSettings(Section):
    """How far a mind may grow by itself. Subminds can neither reach nor change these bounds."""

    ceiling: int = Field(default=24, ge=1, le=100_000)
    """Most subminds that may live at a time, configured ones included. A mind that is configured with more has those,
    and none is born. Counted as ``limit_hits:growth_ceiling``."""
    per_node: int = Field(default=64, ge=1, le=100_000)
    """Most subminds on one machine, packed ones counted: none is born to a machine that has as many, and none at all
    where no other has room (``limit_hits:growth_per_node``). Those that a mind is configured with, or that move from a
    lost machine, go where fewer are, but beyond it where they must."""
    births_per_hour: int = Field(default=4, ge=0, le=100_000)
    """Most births within any hour (``limit_hits:growth_births_per_hour``); 0: nobody is ever born."""
    retirements_per_hour: int = Field(default=4, ge=0, le=100_000)
    """Most retirements within any hour (``limit_hits:growth_retirements_per_hour``)."""
    generations: int = Field(default=4, ge=0, le=64)
    """Most divisions between a submind and a configured one (``limit_hits:growth_generations``)."""
    least_share: Share = Field(default=1 / 16, gt=0)
    """A child has half of its parent's budgets (tokens, cost, thoughts an hour), and the parent
    the other half. Nobody gets less than this of what a configured submind has (``limit_hits:growth_least_share``)."""
    settle: Seconds = 300.0
    """After a division those who took part do not divide again for this long, where nobody of them retired within a
    day: one division does not always relieve (``limit_hits:growth_cooldown``)."""
    cooldown: Seconds = 1800.0
    """After any other division or retirement those who took part neither divide nor retire for this long; it doubles
    with each turn from dividing to retiring and back within a day (``limit_hits:growth_cooldown``)."""
    cooldown_most: Seconds = 86_400.0
    """Longest of these pauses."""
    approval: Approval = Approval.NONE
    """``none``: within the bounds a mind grows by itself. ``divisions``: an operator approves each birth, ``all``: each
    retirement as well, with ``submind approve`` or on the page."""
    approval_holds: Seconds = 3600.0
    """How long an approval holds: the submind proposes again with what it has then, and needs nobody else's word."""
    ask_again: Seconds = Field(default=60.0, gt=0)
    """When a submind may propose again whose proposal waits or was refused by a bound that time does not lift."""
    said_again: Seconds = Field(default=3600.0, gt=0)
    """The same refusal of the same submind stands in the audit log once in this time; each one is counted."""
    handover_bytes: int = Field(default=8 * MIB, ge=1024, le=64 * MIB)
    """Largest state that a child may begin with (``limit_hits:growth_handover_bytes``)."""
