"""Cassandra passes the contract: every test with minds of its own in one keyspace."""

import secrets

import pytest

from environment.stores.opening import open_stores
from tests.environment.stores.contract import StoreContract
from tests.environment.stores.making import Backend
from tests.environment.stores.promises.collections import CollectionPromises


class TestCassandra(StoreContract, CollectionPromises):
    @pytest.fixture
    def backend(self, shared_keyspace):
        own = secrets.token_hex(6)
        place = f"{shared_keyspace}?dc={shared_keyspace.dc}"
        return Backend(lambda mind, **writer: open_stores(place, f"{own}-{mind}", **writer))
