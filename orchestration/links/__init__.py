"""How events travel between the actors of a mind, in one process, on one machine or on several."""
