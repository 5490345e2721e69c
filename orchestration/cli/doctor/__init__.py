"""The checks of ``submind doctor``."""
