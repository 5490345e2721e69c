"""Fixtures that every room's tests may ask for."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.servers.fixtures"]

# That a busy machine is slow to draw an example, or to run it, is no fault of what is tested.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")
