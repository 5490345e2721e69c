"""The embedded backend: SQLite (WAL), one machine, no server, several processes."""

from environment.stores.sqlite.stores import SqliteStores, open_stores

__all__ = ["SqliteStores", "open_stores"]
