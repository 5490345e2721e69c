"""Matters: what lines, readings and thoughts of several sources are about, followed until it is settled."""
