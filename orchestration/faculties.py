"""Which faculties a mind may have: those of this package, and those that other packages bring along."""

from functools import cache
from importlib.metadata import entry_points

from actors.attention.faculty import FACULTY as ATTENTION
from actors.environment.faculty import FACULTY as ENVIRONMENT
from actors.faculty import Faculty
from actors.growth import Divided
from actors.knowledge.faculty import FACULTY as KNOWLEDGE
from actors.matters.faculty import FACULTY as MATTERS
from actors.metacognition.faculty import CONTROL_FACULTY, MONITORING_FACULTY
from actors.perception.faculty import FACULTY as PERCEPTUAL
from actors.stream.faculty import FACULTY as STREAM
from actors.submind.faculty import FACULTY as COGNITIVE
from actors.thinking.faculty import FACULTY as THINKING

GROUP = "submind.faculties"
"""The group of entry points under which a package that is installed offers its ``Faculty``."""

BUILT_IN = (
    ENVIRONMENT,
    STREAM,
    ATTENTION,
    THINKING,
    MATTERS,
    KNOWLEDGE,
    PERCEPTUAL,
    COGNITIVE,
    MONITORING_FACULTY,
    CONTROL_FACULTY,
)
"""Those of this package, in the order in which their actors are born."""


@cache
def added() -> tuple[Faculty, ...]:
    """Those of other packages, by the names of their entry points. Raises ``TypeError`` for one that is none."""
    found = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        faculty = point.load()
        if not isinstance(faculty, Faculty):
            raise TypeError(f"the entry point {point.name} of {GROUP} is a {type(faculty).__name__}, not a Faculty")
        found.append(faculty)
    return tuple(found)


@cache
def faculties() -> tuple[Faculty, ...]:
    """All of them."""
    return BUILT_IN + added()


@cache
def faculty_of(role: str, name: str) -> Faculty:
    """The faculty of an actor. Raises ``LookupError`` where none is installed here."""
    for faculty in faculties():
        if faculty.role == role and (name in faculty.names or not faculty.names):
            return faculty
    raise LookupError(f"no faculty has a {role!r} {name!r}: is the package that brings it along installed here?")


@cache
def roles() -> tuple[str, ...]:
    """What a submind of ``mind.subminds`` may be."""
    return tuple(dict.fromkeys(faculty.role for faculty in faculties() if not faculty.always))


def about(role: str) -> str:
    """What those of a role work on."""
    return next(faculty.about for faculty in faculties() if faculty.role == role)


def names_of(role: str) -> tuple[str, ...]:
    """What subminds of a role may be called; empty: any name that no other role keeps."""
    return tuple(name for faculty in faculties() if faculty.role == role for name in faculty.names)


def many(role: str) -> bool:
    """Whether there may be any number of a role."""
    return any(faculty.many for faculty in faculties() if faculty.role == role)


def page_places() -> dict[str, dict[str, str | int]]:
    """Where the page shows the actors of each role: place and rank, lowest rank first."""
    ordered = sorted(faculties(), key=lambda faculty: faculty.rank)
    return {faculty.role: {"place": faculty.place, "rank": faculty.rank} for faculty in ordered}


def growing_roles() -> tuple[str, ...]:
    """Roles of those that are told of a birth of their own: they may divide and retire."""
    return tuple(dict.fromkeys(faculty.role for faculty in faculties() if Divided in faculty.accepts))


def perceives(role: str) -> bool:
    """Whether those of a role read the perception log."""
    return any(faculty.perceives for faculty in faculties() if faculty.role == role)
