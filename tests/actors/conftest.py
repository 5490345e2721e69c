"""The machine may be busy: hypothesis judges what comes out, not how long it took."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
