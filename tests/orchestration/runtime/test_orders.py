"""What the mind process tells its actors, while some of them have another version's image."""

import os
import pickle

import pytest

from orchestration.clock import WallClock
from orchestration.links.addresses import Endpoint
from orchestration.runtime.orders import ActorOrders, RunOrders
from orchestration.settings import Settings
from orchestration.wiring import plan


@pytest.mark.parametrize("missing", [0, 1, 3, 6])
def test_what_an_older_version_does_not_say_is_as_it_was_then(tmp_path, missing, monkeypatch):
    settings = Settings()
    run = RunOrders(settings, tmp_path, tmp_path, WallClock(), seed=1)
    here = Endpoint("here", "nowhere")
    orders = ActorOrders(run, "stream", plan(settings)[:1], 3, os.getpid(), "here", 1, here, life=missing)
    values = orders.__getstate__()
    monkeypatch.setattr(ActorOrders, "__getstate__", lambda _: values[: len(values) - missing])
    found = pickle.loads(pickle.dumps(orders))  # noqa: S301 - our own bytes
    assert found.life == 0
    assert (found.name, found.fence, found.directory, found.roster) == ("stream", 3, here, 0)
    assert (found.parts, found.moved) == ({}, ())
    monkeypatch.setattr(ActorOrders, "__getstate__", lambda _: [*values, "what a newer version says"])
    assert pickle.loads(pickle.dumps(orders)) == orders  # noqa: S301 - our own bytes
