"""Processes of a mind, as far as their mail goes: real sockets, a directory, actors that note what they hear."""

import random
import secrets
from contextlib import AsyncExitStack

from actors.events import Reinforce
from orchestration.links.credentials import new_credentials
from orchestration.links.directory import Directory
from orchestration.links.links import Links
from orchestration.links.settings import LinkSettings

SETTINGS = LinkSettings(linger=0.001, retry=0.01, retry_most=0.05)


def event(number):
    return Reinforce(str(number), "me", 0.1)


def mail(*numbers):
    return [(event(number), 0.5) for number in numbers]


class Listener:
    """An actor that notes what it hears."""

    def __init__(self):
        self.heard, self.batches, self.stopped, self.configured, self.room = [], 0, False, [], True

    def deliver(self, events):
        self.batches += 1
        self.heard += [event.trace_id for event, _ in events]
        return self.room

    def configure(self, event):
        self.configured.append(event)

    def health(self):
        return {"born": 1.0}

    def stop(self):
        self.stopped = True


class Mesh:
    """A directory and the processes that know it. ``machines`` apart, they meet over TCP only."""

    def __init__(self, tmp_path, settings=SETTINGS):
        self.tmp_path, self.settings = tmp_path, settings
        self.credentials = new_credentials()
        self._stack = AsyncExitStack()
        self.directory = Directory(self.place("mind"), settings, credentials=self.credentials, host="127.0.0.1")

    def place(self, machine):
        return self.tmp_path / machine

    async def __aenter__(self):
        await self.directory.open()
        self._stack.push_async_callback(self.directory.close)
        return self

    async def __aexit__(self, *error):
        await self._stack.aclose()

    def links(self, process, *, machine="mind", settings=None, credentials=None, life=None, number=0):
        """The links of a process that is not open yet."""
        links = Links(
            process,
            life or secrets.token_hex(4),
            self.directory.endpoint,
            self.place(machine),
            settings or self.settings,
            random.Random(1),
            credentials=self.credentials if credentials is None else credentials,
            host="127.0.0.1",
            number=number,
        )
        self._stack.push_async_callback(links.close)
        return links

    async def start(self, *names, process=None, **options):
        """A process with listeners of these names; its links and them."""
        links = self.links(process or names[0], **options)
        listeners = [Listener() for _ in names]
        for name, listener in zip(names, listeners, strict=True):
            links.register(name, listener)
        await links.open()
        return links, *listeners
