"""A typed client of a running mind: perceive, watch, explain, search; resumes after disconnects."""

from orchestration.access.settings import ClientSettings
from orchestration.client.credentials import Credentials
from orchestration.client.errors import Busy, ClientError, Closed, Denied, NotFound, Rejected, Unavailable
from orchestration.client.mind import MindClient

__all__ = [
    "Busy",
    "ClientError",
    "ClientSettings",
    "Closed",
    "Credentials",
    "Denied",
    "MindClient",
    "NotFound",
    "Rejected",
    "Unavailable",
]
