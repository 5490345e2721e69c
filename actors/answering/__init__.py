"""Answering who asks the mind something, by rule, from what was perceived."""
