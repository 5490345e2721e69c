"""What reaches a terminal cannot break it."""

import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from environment.messages import EntryKind, PerceptionRef, StreamEntry
from environment.severity import Severity
from orchestration.cli.output import bar, clock, entry_line
from orchestration.cli.safety import safe
from tests.actors import making
from tests.orchestration.cli.conftest import environ, submind

HOSTILE = "a\x1b[2J\x1b]0;title\x07b\u202ec\u2066d\u200fe\x00f\r\ng\x9b31mh\u2028i\U000e0041j"


def entry(text: str, source: str = "log", **changes: object) -> StreamEntry:
    given: dict[str, object] = {"time": 0.0, "salience": 0.8, "perceptions": (PerceptionRef("p-1", 0.0, source),)}
    made: StreamEntry = making.entry(7, text=text, **(given | changes))
    return made


@given(st.text())
def test_safe_text_is_one_line_of_visible_characters(text: str) -> None:
    for character in safe(text):
        assert unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"}
        assert unicodedata.bidirectional(character) not in set("LRE RLE PDF LRO RLO LRI RLI FSI PDI".split())


def test_words_of_every_script_survive() -> None:
    text = "Grüße, 東京, שלום, مرحبا, 👩 ok"
    assert safe(text) == text


def test_an_entry_with_hostile_text_and_source_stays_on_its_line() -> None:
    line = entry_line(entry(HOSTILE, HOSTILE)).plain
    assert "\x1b" not in line
    assert "\n" not in line
    assert "[bold]" in entry_line(entry("[bold]not markup[/bold]")).plain


def test_many_sources_are_shortened_and_a_segue_is_marked() -> None:
    refs = tuple(PerceptionRef(f"p-{n}", 0.0, f"s{n}") for n in range(9))
    assert "[s0, s1, s2, s3, …]" in entry_line(entry("x", perceptions=refs)).plain
    assert "⤷ over" in entry_line(entry("over", kind=EntryKind.SEGUE)).plain


def test_what_is_critical_says_so_and_what_is_likely_has_the_longer_bar() -> None:
    assert "▮▮▮▮▯ critical [ops] x" in entry_line(entry("x", "ops", severity=Severity.CRITICAL)).plain
    assert "▮▯▯▯▯ [ops] x" in entry_line(entry("x", "ops", salience=0.2)).plain


@given(st.floats())
def test_no_number_breaks_bar_or_clock(value: float) -> None:
    assert clock(value)
    assert len(bar(min(max(value, -1e9), 1e9) if value == value else 0.0)) == 5  # noqa: PLR0124 - not a number


async def test_a_locale_without_utf_8_costs_characters_and_no_answer(tmp_path: Path) -> None:
    file = tmp_path / "day.log"
    file.write_text(
        "2026-03-03T06:00:00Z Gäste: 零件到了 😀 water is flooding the hall, the pump failed, two are trapped\n",
        encoding="utf-8",
    )
    plain = environ(PYTHONIOENCODING="ascii")
    told = await submind("replay", file, "--budget", "1", env=plain)
    assert (told.code, "G?ste" in told.out) == (0, True), told
    assert "零件到了 😀" in (await submind("replay", file, "--budget", "1", "--json", env=plain)).objects[0]["text"]
