"""Temporal binding: conscious thoughts in order, numbered, with segues between neighbours that diverge."""
