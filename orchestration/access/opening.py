"""Access as the settings of a mind have it."""

from __future__ import annotations

from orchestration.access.gate import Access
from orchestration.clock import wall
from orchestration.settings import Settings


def access_of(settings: Settings) -> Access:
    """Who may call the mind of ``settings``. Raises ``BadCredentials`` naming the file that cannot be used."""
    return Access(settings.access, mind=settings.mind.name, wall=wall, operator_token=settings.gateway.token_file)
