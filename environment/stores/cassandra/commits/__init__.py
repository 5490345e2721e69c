"""Deciding on what is written, whole, and writing it out."""
