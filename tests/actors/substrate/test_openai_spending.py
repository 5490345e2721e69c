"""What answers of a server cost: budgets that hold, answers that are paid for once."""

import asyncio

from actors.substrate.cache import MemoryAnswers
from actors.substrate.ports import Act, Depth
from actors.substrate.prompts import forms, most_tokens, prompt
from environment.stores.sqlite import open_stores
from environment.stores.sqlite.answer_cache import open_answers
from orchestration.runtime.worker.ledgers import StoreLedgers
from tests.actors.substrate.conftest import Clock, request


async def test_a_spent_budget_sends_nothing_and_refills_with_mind_time(make, server):
    clock = Clock()
    most = most_tokens(prompt(request("0")), forms({})[0]) + 120
    substrate = make(budget={"tokens_per_hour": most + 250}, clock=clock)
    assert (await substrate.generate(request("0"))).fallback == ""
    assert (await substrate.generate(request("1"))).fallback == ""
    assert (await substrate.generate(request("2"))).fallback == ""
    third = await substrate.generate(request("3"))
    assert third.fallback == f"budget spent: {most + 250} tokens an hour"
    assert len(server.seen) == 3
    assert substrate.status()["circuit"] == "closed"
    clock.now += 3700
    assert (await substrate.generate(request("4"))).fallback == ""


async def test_an_answer_lost_on_the_way_stays_charged(make, server, day):
    server.plan(day(delay=5), day(status=500))
    substrate = make(timeout=1.0, attempts=1)
    before = substrate.status()["tokens_left_hour"]
    await substrate.generate(request("0"))
    charged = before - substrate.status()["tokens_left_hour"]
    assert charged == most_tokens(prompt(request("0")), forms({})[0]) + 120
    await substrate.generate(request("1"))
    assert before - substrate.status()["tokens_left_hour"] == charged


async def test_a_cost_limit_holds(make, server):
    substrate = make(budget={"cost_per_day": 0.0001})
    answer = await substrate.generate(request(depth=Depth.DEEP))
    assert answer.fallback.startswith("budget spent: 0.0001 cost a day")
    assert server.seen == []


async def test_spending_survives_a_restart(make, server, tmp_path):
    stores = await open_stores(tmp_path, "m")
    clock = Clock()
    first = make(ledgers=StoreLedgers(stores, 0), clock=clock)
    await first.generate(request("0"))
    await stores.close()
    again = await open_stores(tmp_path, "m")
    second = make(ledgers=StoreLedgers(again, 0), clock=clock)
    await second.generate(request("1"))
    assert second.status()["tokens_left_hour"] == 200_000 - 220
    await again.close()


async def test_a_store_that_cannot_save_spending_means_no_spending(make, server, tmp_path):
    stores = await open_stores(tmp_path, "m")
    await stores.close()
    answer = await make(ledgers=StoreLedgers(stores, 0)).generate(request())
    assert answer.fallback == "mind.db has been closed"
    assert server.seen == []


async def test_the_same_request_is_paid_for_once(make, server):
    substrate = make()
    first = await substrate.generate(request())
    again = await substrate.generate(request(author="somebody else"))
    assert (again.text, again.cached, again.cost, again.tokens_in) == (first.text, True, 0.0, 0)
    assert len(server.seen) == 1
    assert substrate.status()["cache_hits"] == 1
    await substrate.generate(request(act=Act.RECALL))
    await substrate.generate(request(depth=Depth.DEEP))
    await substrate.generate(request(max_tokens=50))
    assert len(server.seen) == 4


async def test_equal_requests_at_once_share_one_flight(make, server, day):
    server.always = day(delay=0.1)
    substrate = make()
    answers = await asyncio.gather(*(substrate.generate(request()) for _ in range(20)))
    assert len({a.text for a in answers}) == 1
    assert sum(a.cost > 0 for a in answers) == 1
    assert len(server.seen) == 1


async def test_one_who_leaves_does_not_end_the_flight(make, server, day):
    server.always = day(delay=0.2)
    substrate = make()
    leaving = asyncio.create_task(substrate.generate(request()))
    staying = asyncio.create_task(substrate.generate(request()))
    await asyncio.sleep(0.05)
    leaving.cancel()
    assert (await staying).text == "compressor b"
    assert len(server.seen) == 1


async def test_answers_outlive_a_restart(make, server, tmp_path):
    cache = await open_answers(tmp_path, "m")
    first = await make(cache=cache).generate(request())
    await cache.close()
    cache = await open_answers(tmp_path, "m")
    again = await make(cache=cache).generate(request())
    assert (again.text, again.cached) == (first.text, True)
    assert len(server.seen) == 1
    await cache.close()


async def test_a_fallback_is_not_remembered(make, server, day):
    server.plan(*[day(status=500)] * 3)
    substrate = make()
    assert (await substrate.generate(request())).fallback
    assert not (await substrate.generate(request())).fallback


async def test_a_broken_cache_costs_money_not_thoughts(make, server, tmp_path):
    cache = await open_answers(tmp_path, "m")
    await cache.close()
    substrate = make(cache=cache)
    assert (await substrate.generate(request())).text == "compressor b"
    assert substrate.status()["cache_failures"] == 2


async def test_a_garbled_kept_answer_is_asked_for_again(make, server):
    cache = MemoryAnswers()
    substrate = make(cache=cache)
    await substrate.generate(request())
    await cache.put(dict.fromkeys(cache._answers, b"\x80nonsense"))
    assert (await substrate.generate(request())).text == "compressor c"
