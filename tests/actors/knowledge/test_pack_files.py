from __future__ import annotations

from pathlib import Path

import pytest

from actors.knowledge.pack_files import read_packs
from environment.errors import BadPack

EXAMPLES = Path(__file__).parents[3] / "examples" / "packs"


def read(tmp_path, name, said, most=100):
    (tmp_path / name).write_bytes(said if isinstance(said, bytes) else said.encode())
    return read_packs([tmp_path / name], 0.9, most)


def test_the_packs_of_the_example_are_read_with_their_facts():
    sections = read_packs(sorted(EXAMPLES.iterdir()), 0.8, 100)
    assert {one.pack for one in sections} == {"assets.csv", "partners.jsonld", "runbook.md"}
    facts = {fact for one in sections for fact in one.facts}
    assert ("van 9", "location", "bay 3") in facts
    assert ("room 1", "phone", "") not in facts
    assert ("Norvane Refrigeration", "alias", "Norvane") in facts
    assert ("coldgw-1", "supplier", "Norvane Refrigeration") in facts
    assert ("Quillhaven", "contact point", "Rosa Imbert") in facts
    (stops,) = [one for one in sections if one.section.endswith("When a compressor stops")]
    assert stops.section == "Cold rooms / When a compressor stops"
    assert stops.source == "pack runbook.md: Cold rooms / When a compressor stops"
    assert "night line" in stops.text
    assert {one.trust for one in sections} == {0.8}


def test_a_long_section_is_told_in_pieces_and_none_of_it_is_lost(tmp_path):
    words = [f"word{n}" for n in range(900)]
    said = "# Long\n" + "\n\n".join(" ".join(words[n : n + 30]) for n in range(0, 900, 30))
    sections = read(tmp_path, "long.md", f"{said}\n```\n# no heading\n```\n## Short\nlast")
    assert {one.section for one in sections} == {"Long", "Long / Short"}
    assert max(len(one.text) for one in sections) < 1600
    assert [w for one in sections for w in one.text.split() if w.startswith("word")] == words
    assert any("# no heading" in one.text for one in sections)


def test_what_is_left_as_it_was_keeps_its_id_in_another_version(tmp_path):
    first = {one.section: one.id for one in read(tmp_path, "a.csv", "name,place\nvan,yard\nkey,desk\n")}
    second = {one.section: one.id for one in read(tmp_path, "a.csv", "name,place\nkey,desk\nvan,hall\n")}
    assert first["key"] == second["key"]
    assert first["van"] != second["van"]


@pytest.mark.parametrize(
    ("name", "said", "line", "why"),
    [
        ("a.csv", "name,place\nvan,yard\nkey\n", 3, "1 values for 2 columns"),
        ("a.csv", "name,place\n,yard\n", 2, "it has no name"),
        ("a.csv", "name,name\nvan,yard\n", 1, "names of its columns"),
        ("a.csv", "name\nvan\n", 1, "names of its columns"),
        ("a.csv", 'name,place\n"van"x,yard\n', 2, "expected after"),
        ("a.csv", "name,place\n", 0, "nothing in it"),
        ("a.md", "\n  \n", 0, "nothing in it"),
        ("a.md", b"# one\n\xff\n", 2, "not UTF-8"),
        ("a.jsonld", '{"name": "van",\n  "place" "yard"}', 2, "it is not JSON"),
        ("a.json", '{"@graph": [{"name": "van"}, {"place": "yard"}]}', 0, "node 2 has no name"),
        ("a.json", '"van"', 1, "JSON-LD is an object"),
        ("a.txt", "van", 0, "a pack is Markdown"),
        ("a.md", "x" * (4 << 20) + "y", 0, "divide it"),
    ],
)
def test_what_cannot_be_learnt_is_told_with_file_and_line(tmp_path, name, said, line, why):
    with pytest.raises(BadPack) as told:
        read(tmp_path, name, said)
    assert told.value.line == line
    assert why in str(told.value)
    assert str(told.value).startswith(f"{tmp_path / name}{f', line {line}' if line else ''}: ")


def test_packs_are_bounded_and_told_apart(tmp_path):
    with pytest.raises(BadPack, match=r"line 4: packs may have 2 sections in all"):
        read(tmp_path, "a.csv", "name,place\nvan,yard\nkey,desk\ncar,yard\n", most=2)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.csv").write_text("name,place\nvan,yard\n")
    with pytest.raises(BadPack, match="another pack has that name"):
        read_packs([tmp_path / "b" / "a.csv"] * 2, 0.9, 10)
    with pytest.raises(BadPack, match="it cannot be read: No such file"):
        read_packs([tmp_path / "none.md"], 0.9, 10)
