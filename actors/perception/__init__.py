"""Perceptual subminds: raw input into events, repetition folded, each event appraised."""
