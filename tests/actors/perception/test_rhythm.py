import random

from hypothesis import strategies as st

from actors.perception.rhythm import Rhythm, Watch

KEY = ("heartbeat", "ok")


def beating(times, watch=None, rhythm=None, key=KEY):
    watch = watch or Watch(8, 4.0)
    rhythm = rhythm or Rhythm(times[0])
    back = [t for t in times[1:] if watch.beat(key, rhythm, t)]
    return watch, rhythm, back


def test_what_came_regularly_falls_silent_once_and_comes_back_once():
    watch, rhythm, back = beating([60.0 * i for i in range(20)])
    assert back == []
    last = 60.0 * 19
    assert watch.silences(last + 239, lambda _: rhythm) == []
    assert watch.silences(last + 241, lambda _: rhythm) == [KEY]
    assert watch.silences(last + 9999, lambda _: rhythm) == []
    assert watch.beat(KEY, rhythm, last + 9999)
    assert not watch.beat(KEY, rhythm, last + 10_059)


def test_a_second_silence_is_named_too_after_more_regularity():
    watch, rhythm, _ = beating([60.0 * i for i in range(500)])
    now = 60.0 * 499
    named = 0
    for _ in range(4):
        now += 3600
        named += len(watch.silences(now, lambda _: rhythm))
        for _ in range(200):
            now += 60
            watch.beat(KEY, rhythm, now)
            named += len(watch.silences(now, lambda _: rhythm))
    assert named == 4


def test_what_comes_by_chance_is_never_silent():
    chance = random.Random(3)
    times = [0.0]
    for _ in range(500):
        times.append(times[-1] + chance.expovariate(1 / 60))
    watch, rhythm, _ = beating(times)
    assert watch.silences(times[-1] + 1e6, lambda _: rhythm) == []


def test_a_silence_that_ended_before_anybody_looked_is_still_a_return():
    watch, rhythm, _ = beating([60.0 * i for i in range(20)])
    assert watch.beat(KEY, rhythm, 60.0 * 19 + 3600)


def test_what_always_comes_late_is_not_silent():
    watch, rhythm = Watch(8, 4.0), Rhythm(0.0)
    other = Rhythm(3600.0)
    for i in range(1, 200):
        watch.beat(("prompt", ""), other, 3600.0 + 60 * i)
        watch.beat(KEY, rhythm, 60.0 * i)
        assert KEY not in watch.silences(3600.0 + 60 * i, lambda k: rhythm if k == KEY else other)
    silent = watch.silences(3600.0 + 60 * 199 + 7200, lambda k: rhythm if k == KEY else other)
    assert sorted(silent) == [KEY, ("prompt", "")]


def test_the_forgotten_are_not_named():
    watch, rhythm, _ = beating([60.0 * i for i in range(20)])
    watch.forget(KEY)
    assert watch.silences(1e6, lambda _: rhythm) == []
    assert watch.due() is None


def test_memory_does_not_grow_with_jitter_or_churn():
    chance = random.Random(1)
    watch = Watch(3, 4.0)
    rhythms = {}
    for i in range(30_000):
        key = ("s", str(i // 300))
        if key not in rhythms:
            rhythms[key] = Rhythm(10.0 * i)
            if len(rhythms) > 5:
                gone = next(iter(rhythms))
                del rhythms[gone]
                watch.forget(gone)
        watch.beat(key, rhythms[key], 10.0 * i + chance.uniform(0, 3))
    assert len(watch._waiting) <= 5
    assert len(watch._due) <= 2 * 5 + 65


steps = st.lists(st.tuples(st.integers(0, 2), st.sampled_from([10.0, 10.5, 11.0, 60.0])), min_size=1, max_size=200)
