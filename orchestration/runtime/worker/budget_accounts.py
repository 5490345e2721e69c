"""What the actors of a process think with, and from which part of the budgets that is paid."""

import asyncio
import math
import random
from collections.abc import Callable, Sequence
from functools import partial

import structlog

from actors.substrate.budget import Account, LedgerStore, Limits
from actors.substrate.ports import Embedder, Substrate
from environment.errors import StoreUnavailable, SubliminalError
from environment.ports import Stores
from orchestration.clock import wall
from orchestration.links.control import BudgetTransfer
from orchestration.runtime.orders import ActorOrders
from orchestration.runtime.worker.ledgers import InheritedLedgers, StoreLedgers, turn
from orchestration.store_factory import embedded_in

_ALL = "~all"
"""What the account of all processes is called; no actor can be called so."""
_log = structlog.get_logger(__name__)


def shares_of(orders: ActorOrders) -> float:
    """How often what a process may spend goes into the whole: an embedder on a server has an account beside each."""
    if _together(orders):
        return 1.0
    return _into(orders, sum(orders.parts.get(plan.name, 1.0) for plan in orders.plans))  # a pack has those of all


def _together(orders: ActorOrders) -> bool:
    """Whether all processes of the mind draw on one account: where it is kept in files, which all of them reach."""
    return embedded_in(orders.run.settings, orders.run.data_dir) is not None


def _into(orders: ActorOrders, parts: float) -> float:
    """How often so many parts of a configured submind go into the whole."""
    accounts = 2 if orders.run.settings.substrate.embedder.kind == "openai" else 1
    return max(1.0, orders.shares * accounts / parts) if parts > 0 else math.inf


async def thinking(orders: ActorOrders, stores: Stores, accounts: list[Account]) -> tuple[Substrate, Embedder]:
    """What the actor thinks with; accounts it is paid from go into ``accounts``.

    Budgets go by the wall: money is spent there, and a mind that catches up with the past lives many days in one of it.
    Answers of a server are shared by all actors of this machine, so none is paid for twice. What was spent is kept in
    the mind's stores, which it takes along to any machine: by an account of all where those are files, else by one of
    each process.
    """
    from actors.substrate.build import build_embedder, build_substrate  # noqa: PLC0415 - numpy, half a second

    run, name = orders.run, orders.name
    settings = run.settings.substrate
    if settings.kind == "extractive" and settings.embedder.kind == "wordllama":
        return build_substrate(settings, wall), build_embedder(settings, wall)
    from actors.substrate.lengths import told_apart  # noqa: PLC0415 - as above
    from environment.stores.sqlite.answer_cache import open_answers  # noqa: PLC0415 - only minds that ask a server

    answers = await open_answers(run.data_dir, run.settings.mind.name, rows=settings.cache_rows)
    ledgers: LedgerStore = StoreLedgers(stores, orders.fence)
    together = partial(turn, run.data_dir / "spending.lock") if _together(orders) else None
    if orders.parent and together is None:
        ledgers = InheritedLedgers(ledgers, name, orders.parent)
    shares = shares_of(orders)
    chance = random.SystemRandom()
    made = (
        build_substrate(
            settings,
            wall,
            answers,
            account=name if together is None else _ALL,
            shares=shares,
            ledgers=ledgers,
            in_turns=together,
            chance=chance,
            opened=accounts.append,
        ),
        build_embedder(
            settings,
            wall,
            answers,
            account=f"{name}/embed" if together is None else _ALL,
            shares=shares,
            ledgers=ledgers,
            in_turns=together,
            chance=chance,
            opened=accounts.append,
        ),
    )
    inherit(accounts, orders, orders.predecessors, orders.moved)
    while True:
        try:
            embedder, said = await told_apart(made[1], settings.embedder, stores.collections)
            if said:
                await stores.commit(said, orders.fence)
        except StoreUnavailable as error:  # it is not ours to end for that
            await asyncio.sleep(max(error.retry_after, run.settings.runtime.store_retry))
        else:
            return made[0], embedder


def inherit(
    accounts: Sequence[Account], orders: ActorOrders, predecessors: Sequence[str], moved: Sequence[BudgetTransfer]
) -> None:
    """Have the accounts of a process take over those of processes that ended, and parts of those of others."""
    if _together(orders):
        return
    budget = orders.run.settings.substrate.budget
    for account in accounts:
        which = account.name.removeprefix(orders.name)
        account.inherit(gone + which for gone in predecessors)
        for one in moved:
            part, rest = (Limits.share(budget, _into(orders, parts)) for parts in (one.part, one.rest))
            account.take(one.key, one.process + which, part, rest)


async def settle_in(accounts: Sequence[Account], confirm: Callable[[], None]) -> None:
    """Confirm once all that others spent is counted. Where the store refuses, nobody is told: it is asked again."""
    try:
        for account in accounts:
            await account.settle_in()
    except SubliminalError as error:
        _log.warning("share_not_confirmed", reason=str(error))
    else:
        confirm()
