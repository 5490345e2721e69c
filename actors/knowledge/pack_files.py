"""Packs as people write them: Markdown, CSV and JSON-LD, checked where they are read."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from environment.errors import BadPack
from environment.packs import PackSection

_LONGEST = 1500
"""Characters of a section; a longer one is told in several."""
_BYTES = 4 << 20
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_ALIASES = {"alternate name", "alias", "aliases", "also known as"}


def read_packs(files: Sequence[Path], trust: float, most: int) -> list[PackSection]:
    """All sections of these files, each once. Raises ``BadPack`` where one cannot be read, or they are too many."""
    found: dict[str, PackSection] = {}
    names: set[str] = set()
    for file in files:
        if file.name in names:
            raise BadPack(str(file), 0, "another pack has that name: packs are told apart by the names of their files")
        names.add(file.name)
        found |= read_pack(str(file), pack_text(file), trust, most, len(found))
    return list(found.values())


def read_pack(file: str, text: str, trust: float, most: int, beside: int = 0) -> dict[str, PackSection]:
    """The sections of what a file says, by id; with those ``beside`` it at most ``most``. Raises ``BadPack``."""
    found: dict[str, PackSection] = {}
    kind = Path(file).suffix.lower()
    reader = {".md": _markdown, ".csv": _csv, ".jsonld": _jsonld, ".json": _jsonld}.get(kind)
    if reader is None:
        raise BadPack(file, 0, "a pack is Markdown (.md), CSV (.csv) or JSON-LD (.jsonld, .json)")
    for line, section, said, facts in reader(file, text):
        one = PackSection(Path(file).name, section, said, trust, tuple(facts))
        found[one.id] = one
        if beside + len(found) > most:
            raise BadPack(file, line, f"packs may have {most} sections in all (knowledge.pack_sections)")
    if not found:
        raise BadPack(file, 0, "there is nothing in it")
    return found


def pack_text(file: Path) -> str:
    """What a file says. Raises ``BadPack`` where it cannot be read, or is too long."""
    try:
        data = file.read_bytes()
        if len(data) > _BYTES:
            raise BadPack(str(file), 0, f"it has {len(data):,} bytes, {_BYTES:,} are read at most: divide it")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise BadPack(str(file), 0, f"it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadPack(str(file), data[: error.start].count(b"\n") + 1, "it is not UTF-8") from None


def _markdown(file: str, text: str) -> Iterator[tuple[int, str, str, list[tuple[str, str, str]]]]:
    heads: list[str] = []
    body: list[str] = []
    fenced, begin = False, 1

    def told() -> Iterator[tuple[int, str, str, list[tuple[str, str, str]]]]:
        section = " / ".join(filter(None, heads)) or Path(file).stem
        for said in _pieces("\n".join(body)):
            yield begin, section, f"{heads[-1]}\n{said}" if heads else said, []

    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        head = None if fenced else _HEADING.fullmatch(line)
        if head is None:
            body.append(line)
            continue
        yield from told()
        depth = len(head[1]) - 1
        heads[depth:] = [""] * (depth - len(heads)) + [head[2]]
        body, begin = [], number
    yield from told()


def _pieces(body: str) -> Iterator[str]:
    """A text in pieces that are not too long, cut between paragraphs, then lines, then anywhere."""
    body = body.strip()
    while len(body) > _LONGEST:
        at = max(body.rfind("\n\n", 1, _LONGEST), 0) or max(body.rfind("\n", 1, _LONGEST), 0) or _LONGEST
        yield body[:at].strip()
        body = body[at:].strip()
    if body:
        yield body


def _csv(file: str, text: str) -> Iterator[tuple[int, str, str, list[tuple[str, str, str]]]]:
    rows = csv.reader(text.splitlines(), strict=True)
    try:
        head = [name.strip() for name in next(rows, [])]
        if len(head) < 2 or not all(head) or len(set(head)) < len(head):  # noqa: PLR2004
            raise BadPack(file, 1, "it begins with the names of its columns, two or more, each once; the first one's "
                          "values are what the others are of")  # fmt: skip
        for row in rows:
            values = [value.strip() for value in row]
            if not any(values):
                continue
            if len(values) != len(head) or not values[0]:
                why = f"{len(values)} values for {len(head)} columns" if values[0] else f"it has no {head[0]}"
                raise BadPack(file, rows.line_num, why)
            yield rows.line_num, *_said(values[0], list(zip(head[1:], values[1:], strict=True)))
    except csv.Error as error:
        raise BadPack(file, rows.line_num, str(error)) from None


def _jsonld(file: str, text: str) -> Iterator[tuple[int, str, str, list[tuple[str, str, str]]]]:
    try:
        told = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadPack(file, error.lineno, f"it is not JSON: {error.msg}") from None
    nodes = told.get("@graph", [told]) if isinstance(told, dict) else told
    if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in nodes):
        raise BadPack(file, 1, "JSON-LD is an object, a list of objects, or an object with a list @graph")
    names = {node["@id"]: _called(node) for node in nodes if isinstance(node.get("@id"), str)}
    for number, node in enumerate(nodes, 1):
        name = _called(node)
        if not name:
            raise BadPack(file, 0, f"node {number} has no name")
        pairs = [
            ("is a" if key == "@type" else _relation(key), value)
            for key, given in node.items()
            if key == "@type" or (key[0:1] not in {"@", ""} and _relation(key) != "name")
            for value in _values(given, names)
        ]
        yield 0, *_said(name, pairs)


def _called(node: dict[str, Any]) -> str:
    name = next((node[key] for key in ("name", "schema:name", "@id") if isinstance(node.get(key), str)), "")
    return str(name).strip()


def _relation(key: str) -> str:
    """``schema:responsiblePerson`` as people say it."""
    return _WORDS.sub(" ", re.split(r"[:/#]", key)[-1]).lower().strip()


def _values(given: Any, names: dict[str, str]) -> Iterator[str]:
    match given:
        case list():
            for one in given:
                yield from _values(one, names)
        case {"@value": value}:
            yield from _values(value, names)
        case dict():
            yield names.get(given.get("@id", ""), "") or _called(given)
        case str() | bool() | int() | float():
            yield str(given)


def _said(of: str, pairs: Sequence[tuple[str, str]]) -> tuple[str, str, list[tuple[str, str, str]]]:
    """(What it is of, all of it in words, its facts)."""
    pairs = [(relation, value) for relation, value in pairs if value]
    text = ", ".join([of, *(f"{relation} {value}" for relation, value in pairs)])
    return of, f"{text}."[:_LONGEST], [(of, "alias" if r.lower() in _ALIASES else r, v) for r, v in pairs]
