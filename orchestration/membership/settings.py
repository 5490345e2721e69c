"""Configuration of what the processes of a mind agree on."""

from typing import Self

from pydantic import Field, model_validator

from environment.config import Seconds, Section


class CoordinationSettings(Section):
    """Where agreement is found, and how long silence is borne."""

    address: str | None = None
    """``etcd://HOST:PORT,HOST:PORT?username=…&password_file=…&ca_file=…&cert_file=…&key_file=…``; everything after the
    hosts may be left out. Empty: this process is alone, and leads."""
    lease: Seconds = Field(default=10.0, ge=2, le=600)
    """How long a leader is believed without a sign of life. A mind whose leader died is without one for about
    this long."""
    connect_timeout: Seconds = Field(default=5.0, gt=0, le=120)
    """Time within which etcd answers at the start, or is said to be away."""
    request_timeout: Seconds = Field(default=2.0, gt=0, le=60)
    """Time for one answer. At most a third of the lease, so that a sign of life can be given again in time."""
    history: int = Field(default=200, ge=1, le=10_000)
    """Versions of the live configuration that etcd keeps; the oldest go first."""

    @model_validator(mode="after")
    def _in_time(self) -> Self:
        if self.request_timeout > self.lease / 3:
            raise ValueError(
                f"request_timeout is {self.request_timeout:g}s and may be at most a third of lease ({self.lease:g}s)"
            )
        return self
