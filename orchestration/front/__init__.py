"""Gateway and feed as processes of their own, apart from the mind: stateless, and as many as one likes."""
