"""The keeper of the subliminal environment: the one writer of a shard's traces."""
