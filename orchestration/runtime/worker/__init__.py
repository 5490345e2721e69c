"""One process of actors: how those live, die and are looked after that share it."""
