"""The configuration of a mind, as one typed tree: a field for each room, composed of the sections the rooms define.

A setting comes from, in rising order: its default, the YAML file named by ``--mind``, the environment variable
``SUBMIND__SECTION__FIELD``, a flag. ``orchestration.loading`` reads them; nothing here looks at the environment.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, create_model, field_validator, model_validator

from actors.attention.settings import AttentionSettings
from actors.knowledge.settings import KnowledgeSettings
from actors.matters.settings import MattersSettings
from actors.metacognition.settings import MetacognitionSettings
from actors.perception.settings import PerceptionSettings
from actors.settings import CognitiveSettings, ShellSettings
from actors.stream.settings import StreamSettings
from actors.substrate.settings import SubstrateSettings
from actors.thinking.settings import ThinkingSettings
from environment.config import Section
from environment.messages import Instant
from environment.settings import EnvironmentSettings
from orchestration.access.settings import AccessSettings, ClientSettings
from orchestration.faculties import added, faculties, many, names_of, perceives, roles
from orchestration.feed.settings import FeedSettings
from orchestration.front.settings import FrontSettings
from orchestration.gateway.settings import GatewaySettings
from orchestration.growth.settings import GrowthSettings
from orchestration.host.settings import HostSettings, StoreSettings
from orchestration.membership.settings import CoordinationSettings
from orchestration.runtime.settings import RuntimeSettings
from orchestration.telemetry.settings import TelemetrySettings
from orchestration.view.settings import ViewSettings

S = TypeVar("S", bound=Section)

NAME = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
"""A DNS label that starts with a letter: names become directories, addresses and label values."""

RESERVED = frozenset(faculty.role for faculty in faculties() if faculty.always)
"""Actors that every mind has: no submind may take their names."""


def _instant(value: object) -> object:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError("a time is written as in 2026-03-03T06:00:00Z, or as seconds since 1970") from None
    if isinstance(value, datetime):
        return value.replace(tzinfo=value.tzinfo or UTC).timestamp()
    return value


Moment = Annotated[Instant, BeforeValidator(_instant), Field(allow_inf_nan=False)]
"""An instant: RFC 3339 (UTC where no offset is given), or seconds since 1970."""


def _name(value: str) -> str:
    if NAME.fullmatch(value) is None:
        raise ValueError(
            "a name is at most 63 small letters, digits and hyphens, begins with a letter and does not end in a hyphen"
        )
    return value


MOST = 100_000
"""Subminds that a mind may be configured to have."""

_GOALS = 16


PERCEPTUAL, COGNITIVE, METACOGNITIVE = "perceptual", "cognitive", "metacognitive"


def _role(value: str) -> str:
    if value not in roles():
        raise ValueError(f"a submind is one of: {', '.join(roles())}")
    return value


class SubmindSettings(Section):
    """A submind of a mind."""

    name: Annotated[str, Field(min_length=1)]
    """Its address, unique in the mind: small letters, digits and hyphens. A perceptual submind is called after what
    it perceives (``text``, ``telemetry``, ``image``), a metacognitive one after what it does (``monitoring``,
    ``control``)."""
    role: Annotated[str, AfterValidator(_role)] = COGNITIVE
    """``perceptual``, ``cognitive`` or ``metacognitive``, or what a package brings along that is installed besides."""
    goals: Annotated[
        tuple[Annotated[str, Field(min_length=3, max_length=500)], ...], Field(min_length=1, max_length=MOST)
    ]
    """What it is after, in plain sentences, at most 16. A thought is relevant to a submind as far as it is near one of
    these."""
    count: int = Field(default=1, ge=1, le=MOST)
    """More than 1: so many cognitive subminds called ``NAME-1``, ``NAME-2`` and so on, each after one of ``goals``, in
    turn. See ``runtime.subminds_per_actor`` for how they share processes."""

    def everyone(self) -> Iterator[Self]:
        """Whom this describes: itself, or as many as there are to be."""
        if self.count == 1:
            yield self
            return
        for number in range(self.count):
            goal = self.goals[number % len(self.goals)]
            update = {"name": f"{self.name}-{number + 1}", "goals": (goal,), "count": 1}
            yield self.model_copy(update=update)

    @property
    def goal(self) -> str:
        """Its goals as one line, as people read them."""
        return " ".join(self.goals)

    @field_validator("name")
    @classmethod
    def _named(cls, value: str) -> str:
        if value in RESERVED:
            raise ValueError(f"every mind has an actor of that name already: choose another than {sorted(RESERVED)}")
        return _name(value)

    @model_validator(mode="after")
    def _named_by_role(self) -> Self:
        allowed = names_of(self.role)
        if allowed and self.name not in allowed:
            raise ValueError(f"a {self.role} submind is called one of: {', '.join(allowed)}")
        if self.count > 1 and not many(self.role):
            raise ValueError(f"there is one {self.role} submind of each name: `count` is for cognitive ones")
        if self.count > 1:
            _name(f"{self.name}-{self.count}")
        elif len(self.goals) > _GOALS:
            raise ValueError(
                f"a submind has at most {_GOALS} goals; to share more among several, say how many: `count`"
            )
        if not allowed and any(self.name in names_of(role) for role in roles()):
            raise ValueError(f"{self.name!r} is kept for a submind of another role: choose another name")
        return self


def _submind(role: str, name: str, *goals: str) -> SubmindSettings:
    return SubmindSettings(name=name, role=role, goals=goals)


DEFAULT_SUBMINDS = (
    _submind(PERCEPTUAL, "text", "Hear what is said and written, and fold what only repeats."),
    _submind(PERCEPTUAL, "telemetry", "Put into words where a reading shifts, spikes or falls silent."),
    _submind(PERCEPTUAL, "image", "Say what can be said of a picture."),
    _submind(
        COGNITIVE,
        "association",
        "Connect things that different sources say at different times about the same person, place, thing or cause.",
    ),
    _submind(
        COGNITIVE,
        "anomaly",
        "Notice what departs from routine: the first time, the unusual, the sudden change, the thing that is missing.",
    ),
    _submind(
        COGNITIVE,
        "concern",
        "Notice danger, harm, failure, loss, illness and distress, and who or what would suffer from it.",
    ),
    _submind(
        COGNITIVE,
        "continuity",
        "Follow open matters until they are settled: what is still waiting, what has come back, what is solved,"
        " and which alarm turned out to be nothing.",
    ),
    _submind(
        COGNITIVE,
        "intention",
        "Notice requests, promises, decisions, plans and deadlines, and whether somebody keeps them.",
    ),
    _submind(
        METACOGNITIVE,
        "monitoring",
        "Watch how this mind works: its rates, loops, repetition and budget.",
    ),
    _submind(
        METACOGNITIVE,
        "control",
        "Propose changes of attention when monitoring shows that it lets too much or too little through.",
    ),
)
"""Three that perceive, five that think about the world, two that think about the mind."""


class ClockSettings(Section):
    """What time it is to the mind. By default the wall's; a *catch-up clock* starts in the past and runs fast."""

    start: Moment | None = None
    """Mind time at which a catch-up begins, for example ``2026-03-03T06:00:00Z``. Empty: no catch-up."""
    speed: float = Field(default=1200.0, ge=1, le=1e6)
    """Seconds of mind time in a second of wall time until mind time meets the wall; from there on it is the wall."""
    origin: Moment | None = None
    """Wall time at which mind time was ``start``. Empty: when the mind was first started so, as one wants."""


class MindSettings(Section):
    """Who the mind is."""

    name: str = "mind"
    """Small letters, digits and hyphens. Nothing crosses between minds of different names."""
    goals: Annotated[tuple[Annotated[str, Field(min_length=3, max_length=500)], ...], Field(max_length=16)] = (
        "Notice what matters to the people I work for before they have to ask, say it once, and leave the rest unsaid.",
    )
    """What the whole mind is after: attention weighs every thought against these."""
    subminds: Annotated[tuple[SubmindSettings, ...], Field(min_length=1, max_length=MOST)] = DEFAULT_SUBMINDS
    """Who lives in it. A list given here replaces the default one as a whole."""
    clock: ClockSettings = ClockSettings()
    """What time it is to the mind."""

    def everyone(self) -> Iterator[SubmindSettings]:
        """Every submind, those of which there are several one by one."""
        return (one for submind in self.subminds for one in submind.everyone())

    @field_validator("name")
    @classmethod
    def _named(cls, value: str) -> str:
        return _name(value)

    @field_validator("subminds")
    @classmethod
    def _distinct(cls, value: tuple[SubmindSettings, ...]) -> tuple[SubmindSettings, ...]:
        total = sum(submind.count for submind in value)
        if total > MOST:
            raise ValueError(f"a mind is configured with at most {MOST:,} subminds, not {total:,}")
        counts = Counter(one.name for submind in value for one in submind.everyone())
        twice = sorted(name for name, count in counts.items() if count > 1)
        if twice:
            raise ValueError(
                f"each submind needs a name of its own, and {', '.join(twice[:8])} is there more than once"
            )
        if not any(perceives(submind.role) for submind in value):
            raise ValueError("a mind without a perceptual submind (text, telemetry or image) would never hear anything")
        return value


def _added_sections() -> type[Section]:
    fields: dict[str, Any] = {
        name: (kind, Field(default=kind(), description=f"Of {faculty.role}: {faculty.about}."))
        for faculty in added()
        for name, kind in faculty.sections.items()
    }
    return create_model("FacultySections", __base__=Section, __module__=__name__, **fields)


if TYPE_CHECKING:

    class FacultySections(Section):
        """The sections of faculties that other packages bring along."""

else:
    FacultySections = _added_sections()


class Settings(Section):
    """All of a mind's configuration."""

    mind: MindSettings = MindSettings()
    """Who the mind is."""
    store: StoreSettings = StoreSettings()
    """Where it is kept."""
    coordination: CoordinationSettings = CoordinationSettings()
    """What its processes agree on elsewhere, where there are several."""
    perception: PerceptionSettings = PerceptionSettings()
    """How raw input becomes events."""
    submind: CognitiveSettings = CognitiveSettings()
    """How a submind holds topics and connections, binds and crawls."""
    environment: EnvironmentSettings = EnvironmentSettings()
    """The subliminal environment: how traces evaporate, rise and go."""
    attention: AttentionSettings = AttentionSettings()
    """What becomes conscious, and how much of it."""
    stream: StreamSettings = StreamSettings()
    """The order of conscious thoughts, and the segues between them."""
    thinking: ThinkingSettings = ThinkingSettings()
    """What is done about a conscious thought."""
    matters: MattersSettings = MattersSettings()
    """What is followed until it is settled, and what is owed."""
    knowledge: KnowledgeSettings = KnowledgeSettings()
    """What is taken for a fact, and how long it is kept."""
    metacognition: MetacognitionSettings = MetacognitionSettings()
    """How the mind watches itself, and how far it may change itself."""
    substrate: SubstrateSettings = SubstrateSettings()
    """What the mind thinks with: by rule, or with language models on a server."""
    shell: ShellSettings = ShellSettings()
    """How every actor takes in its work."""
    gateway: GatewaySettings = GatewaySettings()
    """gRPC: where perceptions come in and readers are answered."""
    feed: FeedSettings = FeedSettings()
    """HTTP and the page."""
    access: AccessSettings = AccessSettings()
    """Who may do what: certificates, tokens with scopes, quotas, and the log of who did what."""
    client: ClientSettings = ClientSettings()
    """How commands reach a mind that runs."""
    view: ViewSettings = ViewSettings()
    """How a mind is looked at."""
    growth: GrowthSettings = GrowthSettings()
    """The bounds within which subminds divide and retire by themselves."""
    runtime: RuntimeSettings = RuntimeSettings()
    """How a living mind's actors talk, and how they are brought back."""
    faculties: FacultySections = FacultySections()
    """Of faculties that are installed besides those of this package."""
    telemetry: TelemetrySettings = TelemetrySettings()
    """What is logged, counted and traced."""
    host: HostSettings = HostSettings()
    """The process that people start."""
    front: FrontSettings = FrontSettings()
    """`submind serve`: gateway and feed in processes of their own."""


@dataclass(frozen=True, slots=True)
class SettingsUpdate:
    """What of the settings may change while a mind lives, as it is by now: what its processes are told."""

    version: int
    """Of the live configuration: the later one holds."""
    values: Mapping[str, Any] = field(repr=False)
    """By dotted path; checked where they were changed."""

    def over(self, settings: Settings) -> Settings:
        """``settings`` with these in their places; what another version of this code calls otherwise is left out."""
        for path, value in self.values.items():
            settings = _replaced(settings, path.split("."), value)
        return settings


def _replaced(section: S, path: list[str], value: object) -> S:
    name, *below = path
    if name not in type(section).model_fields:
        return section
    return section.model_copy(update={name: _replaced(getattr(section, name), below, value) if below else value})
