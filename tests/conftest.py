"""Fixtures that every room's tests may ask for."""

pytest_plugins = ["tests.servers.fixtures"]
