"""What a shell is tried with: a core that does no more than it is given to, and a driver that remembers."""

from actors.core import Description, Inward


class Plain(Inward):
    """Remembers what it was told, with when, and wants the same each time."""

    name = "own"

    def __init__(self, *effects):
        self.effects, self.told = effects, []

    def handle(self, event, now):
        self.told.append((now, event))
        return list(self.effects)

    def describe(self):
        return Description("cognitive", "listen")

    def snapshot(self):
        return b""

    def restore(self, state):
        raise AssertionError(state)


class Out:
    """Remembers what was sent to whom."""

    def __init__(self):
        self.sent = []

    def send(self, sender, to, event, priority):
        self.sent.append((to, event))
