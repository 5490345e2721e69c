"""A mind in one file: taken while it runs, read as a store is read."""
