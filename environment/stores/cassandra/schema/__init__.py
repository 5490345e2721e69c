"""The tables, as numbered files, and how a keyspace is brought up to date."""
