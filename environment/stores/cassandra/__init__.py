"""The clustered backend: Apache Cassandra 5 (or 4), reached through one bridge from the driver to asyncio."""
