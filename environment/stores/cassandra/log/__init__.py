"""The perception log."""
