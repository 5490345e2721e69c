"""Metacognition: monitoring watches the mind, control proposes what to change (Nelson and Narens, 1990)."""
