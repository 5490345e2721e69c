"""What the processes of a mind agree on: who leads, who lives where, how it is configured, what it may still spend.

``opening.open_coordination`` gives either agreement through etcd or, without any configured, the certainty of being
alone. Nothing is imported here: the tree of settings holds this room's section.
"""
