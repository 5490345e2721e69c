"""The promises of ``environment.ports``, as one class of tests that every backend passes.

A backend's test module derives a class from ``StoreContract`` and gives it the fixture ``backend``: a ``Backend``.
"""

import pytest

from tests.environment.stores.making import Backend
from tests.environment.stores.promises.forgetting import ForgettingPromises
from tests.environment.stores.promises.lives import LifePromises
from tests.environment.stores.promises.perceptions import PerceptionPromises
from tests.environment.stores.promises.registry import RegistryPromises
from tests.environment.stores.promises.stream import StreamPromises
from tests.environment.stores.promises.together import CommonPromises
from tests.environment.stores.promises.traces import TracePromises


class StoreContract(
    ForgettingPromises,
    PerceptionPromises,
    TracePromises,
    StreamPromises,
    RegistryPromises,
    LifePromises,
    CommonPromises,
):
    """Every promise of the ports."""

    @pytest.fixture
    async def stores(self, backend: Backend):
        opened = await backend.open("alpha")
        yield opened
        await opened.close()
