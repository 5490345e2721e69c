"""Where in etcd what is kept. Everything of a mind is under a prefix of its own, which ends in a slash."""

from dataclasses import dataclass

ROOT = "/submind/"


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one mind. Names of minds hold no slash, so no mind's prefix is the beginning of another's."""

    mind: str
    root: str = ROOT

    @property
    def prefix(self) -> str:
        """What all of this mind's keys begin with."""
        return f"{self.root}{self.mind}/"

    @property
    def leader(self) -> str:
        """Who leads; under a lease."""
        return f"{self.prefix}leader"

    @property
    def token(self) -> str:
        """The last fencing token given; for ever."""
        return f"{self.prefix}token"

    @property
    def configuration(self) -> str:
        """The newest live configuration."""
        return f"{self.prefix}configuration/current"

    @property
    def configurations(self) -> str:
        """Prefix of all versions that are kept."""
        return f"{self.prefix}configuration/versions/"

    def version(self, number: int) -> str:
        """A version of the live configuration."""
        return f"{self.configurations}{number:012d}"
