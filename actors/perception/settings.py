"""Configuration of perception."""

from pydantic import Field

from environment.config import Seconds, Section, Share

_THREATS = (
    "somebody is hurt, bleeding or unconscious",
    "there is a fire, smoke or an explosion",
    "water is flooding in, a pipe is leaking",
    "smell of gas, poison, dangerous fumes",
    "a person is missing and nobody can find them",
    "people are trapped and call for help",
    "the service is down and nobody can use it",
    "customers cannot log in, pay or order",
    "the server crashed and does not start",
    "all data was deleted and is lost",
    "files are corrupted and cannot be opened",
    "out of memory, disk full, no space left",
    "an intruder broke in, the account was hacked",
    "private data of customers was shown to strangers",
    "money was stolen or charged twice",
    "the power has failed",
    "the machine has stopped and does not move",
    "stop everything immediately, evacuate",
    "we have lost contact",
    "the brakes do not work, out of control",
    "he refuses to pay and threatens to sue",
    "the deadline was missed and the contract is cancelled",
    "it is getting worse quickly",
)
_HARMLESS = (
    "everything is fine and works as usual",
    "the meeting was moved to tomorrow",
    "done, closed, resolved",
    "thanks, see you later",
    "as planned and announced",
    "request completed successfully",
    "the report is in the document",
    "routine check passed",
    "started, connected, ready",
    "please send me the invoice",
    "lunch is ready, who wants coffee",
    "retried and succeeded",
    "scheduled maintenance finished",
    "update of the order list",
)


class AppraisalSettings(Section):
    """How salient something new is: evidence added up in log odds, most of it against what its source usually says."""

    weights: dict[str, float] = Field(
        default={"information": 0.9, "surprise": 0.6, "tempo": 0.5, "threat": 3.0, "alarm": 0.3, "feeling": 2.0}
    )
    """Weight of each part: ``information`` (nats: how many new words it has, against what anybody says and more and
    more against what its source says), ``surprise`` (nats: how unlike its source's own talk it is, in meaning and in
    words), ``tempo`` (logarithm of how much more is said than usual), ``threat`` (likeness to ``threats``), ``alarm``
    (nats: how rarely its source declares itself so severe), ``feeling`` (rank of its strength among the latest)."""
    offset: float = 2.5
    """Log odds against what has no evidence."""
    threats: tuple[str, ...] = _THREATS
    """What could do harm, in plain sentences. Add what would harm you."""
    harmless: tuple[str, ...] = _HARMLESS
    """What does not, of the same kinds of talk."""
    novelty_window: int = Field(default=200, ge=8, le=100_000)
    """Recent events that novelty compares with."""
    rank_window: int = Field(default=5000, ge=16, le=1_000_000)
    """Recent values, of each source and of all, that a new one is compared with; older ones fade."""
    sources: int = Field(default=1000, ge=1, le=100_000)
    """Sources whose usual talk is remembered; the ones unused longest go first."""
    words: int = Field(default=20_000, ge=100)
    """Words whose frequency is remembered."""
    exclamation: float = Field(default=1.0, ge=0)
    """Valence of an exclamation mark; at most three count."""


class FoldingSettings(Section):
    """How repetition is folded: one template from one source is one event, with a count and a rate."""

    templates: int = Field(default=20_000, ge=16)
    """Templates remembered; the ones unused longest go first."""
    forget_after: Seconds = 6 * 3600.0
    """Silence after which a template counts as new again: of an error that is said, up to three times in a week or so;
    what begins anew more often, from any source, is worth less."""
    surge: float = Field(default=8.0, gt=1)
    """Growth of a rate that is an event of its own; the next one needs as much again."""
    least: int = Field(default=12, ge=2)
    """Repeats within ``window`` below which a rate is not spoken of."""
    window: Seconds = 120.0
    """Over which a rate is measured."""
    regular: int = Field(default=8, ge=3)
    """Equal intervals after which a template counts as regular, so that its silence is an event."""
    silence: float = Field(default=4.0, gt=1)
    """A regular template is silent when this many of its intervals pass without it."""


class PerceptionSettings(Section):
    """Perceptual subminds."""

    appraisal: AppraisalSettings = AppraisalSettings()
    """Salience of what is new."""
    folding: FoldingSettings = FoldingSettings()
    """Repetition."""
    batch: int = Field(default=256, ge=1, le=4096)
    """Perceptions taken from the log at a time."""
    images: int = Field(default=8, ge=1, le=256)
    """The same for images, which are large."""
    segment: int = Field(default=600, ge=80)
    """Characters of a segment; longer text is cut at sentence ends."""
    segments: int = Field(default=8, ge=1, le=64)
    """Segments of one perception that become events; what is beyond stays in the log."""
    terms: int = Field(default=10, ge=1, le=32)
    """Associations kept with a thought."""
    trust_weight: Share = 0.3
    """How much of its salience a percept of no trust at all loses."""
    interlocutors: tuple[str, ...] = ("operator", "operator-*")
    """Sources, as shell patterns, that speak to the mind: what they tell it breaks in, what they ask is answered in the
    stream. Speaking to it gives them no other power, and no trust."""
    addressed: Share = 0.97
    """Level of what they tell it; a question has its own, since its answer depends on none."""
    speak_at: Share = 0.08
    """Level from which a percept is told directly to connected subminds; every percept is left as a trace."""
    unacknowledged: int = Field(default=1024, ge=16)
    """Percepts that may wait for the environment before no more perceptions are taken in."""
    resend_after: Seconds = 10.0
    """Time after which an unacknowledged post is repeated."""
    false_alarms: float = Field(default=1e-3, gt=0, lt=0.1)
    """Telemetry: an alarm is what had, by all that its series showed before, at most this chance at a reading."""
    readings: int = Field(default=8192, ge=8)
    """Telemetry: readings of a series after which what was seen before counts half."""
    series: int = Field(default=5000, ge=1)
    """Telemetry: series remembered; the ones unused longest go first."""
    image_pixels: int = Field(default=40_000_000, ge=1)
    """Images with more pixels are not decoded but said to be too large."""
