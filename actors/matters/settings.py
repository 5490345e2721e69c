"""Configuration of matters and open loops."""

from pydantic import Field

from environment.config import Seconds, Section, Share


class MattersSettings(Section):
    """What is followed, how it is told that something belongs to it, and when it is over."""

    join: float = Field(default=0.75, ge=0)
    """Strength of a link (cosine, more for what both name) from which a line belongs to a matter."""
    merge: float = Field(default=0.0, ge=0)
    """Strength of its links to lines of two matters from which a line shows that they are one. 0: none does."""
    most: int = Field(default=200, ge=1, le=10_000)
    """Matters followed at a time; beyond it the one that changed longest ago is let go, settled ones first, counted as
    ``limit_hits:matters``. It is kept until it expires."""
    lines: int = Field(default=24, ge=2, le=256)
    """Lines kept of a matter: the first, and the latest; the others are counted."""
    recent: int = Field(default=512, ge=8, le=100_000)
    """Latest lines in which the beginnings of a new matter are looked for."""
    worth: Share = 0.5
    """Salience of its most salient line from which it is said that a matter is settled."""
    rest: Seconds = 2 * 86_400.0
    """A matter that got no line for so long takes no more: what comes then begins another."""
    keep: Seconds = 30 * 86_400.0
    """How long a matter is kept after its last change."""
    lift: Share = 0.3
    """By how much a line is reinforced that adds to a matter that became conscious before. 0: not at all."""
    loops: int = Field(default=500, ge=1, le=100_000)
    """Open loops followed at a time; beyond it the one due last is let go, counted as ``limit_hits:loops``."""
    soon: Seconds = 3600.0
    """What is due sooner than that is on everybody's mind, and not followed."""
    long: Seconds = 86_400.0
    """That it was missed is also said of what there was so much time for; of the rest one is reminded once."""
    ahead: Seconds = 60 * 86_400.0
    """What is due later than that is not followed."""
    notice: Seconds = 86_400.0
    """How long before it falls due one is reminded, at most a quarter of the time there was."""
    patience: Seconds = 6 * 3600.0
    """How long a question or request without a time may wait for an answer before that is said, once. 0: for ever."""
    replies: Share = 0.5
    """How much of what is asked outright in a source must have been answered in words for it to be said that an answer
    did not come. 1: only of what became conscious."""
    reminders_per_hour: float = Field(default=4.0, gt=0)
    """Reminders and settlements said, in the long run, half of that at once, the last of it for settlements; more
    wait, counted as ``limit_hits:reminders``."""
    summaries_per_hour: float = Field(default=12.0, gt=0)
    """Matters of three lines and more that a model gives a title and a summary, in the long run, a quarter of that at
    once; more wait."""
    languages: tuple[str, ...] = Field(default=("en",), min_length=1)
    """In which dates are read: codes of dateparser."""
    parts_of_day: dict[str, float] = Field(
        default={
            "this morning": 12.0,
            "before lunch": 12.0,
            "lunch": 14.0,
            "this afternoon": 18.0,
            "end of the day": 18.0,
            "end of day": 18.0,
            "close of business": 18.0,
            "eod": 18.0,
            "today": 18.0,
            "this evening": 21.0,
            "tonight": 22.0,
        }
    )
    """Hour of the day (UTC) by which what is due "today", "after lunch" and so on is due, told as about then. That of
    "today", the end of a working day, holds for a day as well ("by Friday"). What is said later counts to midnight."""
    due_words: tuple[str, ...] = (
        *("by", "before", "until", "till", "due", "expires", "closes", "deadline", "no later than", "at the latest"),
    )
    """What stands before the time at which something is due."""
    promise_words: tuple[str, ...] = (
        *("will", "i'll", "we'll", "she'll", "he'll", "they'll", "you'll", "going to", "has to", "have to", "must"),
    )
    """What promises or demands something; with a time it is an open loop."""
    request_words: tuple[str, ...] = (
        *(
            "can you",
            "could you",
            "would you",
            "will you",
            "can somebody",
            "could somebody",
            "can someone",
            "could someone",
        ),
        *(
            "any chance",
            "please",
            "would one of you",
            "wants to know",
            "would like to know",
            "let me know",
            "let us know",
        ),
        *("asks whether", "asks if", "asked whether", "asked if", "asks to be"),
    )
    """What asks for something, as questions do: an open loop, with a time or without."""
    settle_words: tuple[str, ...] = Field(
        default=(
            *("fixed", "resolved", "solved", "recovered", "restored", "repaired", "replaced", "cleared"),
            *("false alarm", "nothing wrong", "nothing's wrong", "nothing is wrong", "all clear", "ignore"),
            *("is back", "are back", "back to normal", "back on", "back up", "back in", "caught up", "normal again"),
            *("on again", "up again", "works again", "working again", "ready again", "enabled again", "running again"),
            *("ok", "stable", "healthy", "ready", "clean", "no longer", "went through"),
        )
    )
    """What says that a state is well again, or was nothing."""
    finish_words: tuple[str, ...] = Field(
        default=(
            *("closed", "done", "settled", "sorted", "finished", "completed", "cancelled", "not needed"),
            *("is with you", "has it", "received", "delivered", "sent", "filed"),
        )
    )
    """What says that a work or a debt is done; of a matter or loop that speaks of what these are said of."""
    makeshift_words: tuple[str, ...] = ("for now", "for the time being", "meanwhile", "in the meantime", "temporarily")
    """What says that something is helped for a while; it waits twice ``patience`` for its end."""
    handing_words: tuple[str, ...] = (
        *("on it", "looking into", "forwarding", "forwarded", "passing on", "passed on", "handed over", "handing over"),
    )
    """What says that somebody else has it now, or looks at it: no answer, and no end."""
