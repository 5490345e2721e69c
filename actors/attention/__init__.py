"""Attention: which few of the salient traces become conscious."""
