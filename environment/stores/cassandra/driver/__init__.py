"""How the servers are reached: address, session, and what their errors mean."""
