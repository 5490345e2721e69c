"""Who speaks with whom is learned within a bound."""

from environment.episodes.company import Company


def test_memory_is_bounded_whoever_speaks():
    company = Company(most=50)
    for n in range(5000):
        company.heard(f"source {n % 997}", float(n), n)
    assert len(company._voices) <= 50
    assert len(company._pairs) <= 16 * 50


def test_a_line_follows_its_own_source_where_others_speak_by_chance():
    company, places = Company(), {}
    for n in range(600):  # five sources, each every fifth second
        source = f"machine {n % 5}"
        before = company.heard(source, float(n), n)
        assert n < 5 or before == places[source]
        places[source] = n


def test_what_was_long_ago_is_not_before_it():
    company = Company()
    assert company.heard("ada", 0.0, 0) == -1
    assert company.heard("ben", 20.0, 1) == 0
    assert company.heard("ada", 5000.0, 2) == -1
