"""The record of what a mind worked with: every configuration that was put to work."""

from dataclasses import dataclass

from environment.collections import RESERVED, Collection, Collections, WriteDocument
from environment.messages import Instant


@dataclass(frozen=True, slots=True)
class Configuration:
    """The working configuration of a mind, as it was put to work."""

    version: int
    """From 1, growing with every change."""
    at: Instant
    """Wall time at which it was put to work."""
    by: str
    """Who changed it."""
    body: str
    """The settings as JSON text."""


CONFIGURATIONS = Collection(f"{RESERVED}configurations", Configuration)


def write_configuration(configuration: Configuration) -> WriteDocument:
    """A configuration was put to work. Its commit raises ``StaleRevision`` where its version is another's already."""
    return CONFIGURATIONS.write(f"{configuration.version:012}", configuration, base=0, time=configuration.at)


async def read_configurations(collections: Collections, limit: int = 100) -> list[Configuration]:
    """The latest working configurations, newest first."""
    found = await collections.scan(CONFIGURATIONS.name, limit=limit, backwards=True)
    return [CONFIGURATIONS.value(document) for document in found]
