"""Access as the settings of a mind have it."""

from pathlib import Path

from orchestration.access.gate import Access
from orchestration.clock import wall
from orchestration.settings import Settings


def access_of(settings: Settings, folder: Path | None = None) -> Access:
    """Who may call the mind of ``settings``. Raises ``BadCredentials`` naming the file that cannot be used.

    ``folder``: the data directory, where the audit log is kept; None where there is none.
    """
    return Access(
        settings.access,
        mind=settings.mind.name,
        wall=wall,
        operator_token=settings.gateway.token_file,
        operators=settings.perception.interlocutors,
        folder=folder,
    )
