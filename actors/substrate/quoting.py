"""Holding a model to its material: it chooses among the sentences given, and the rule says what it chose.

So nothing untrue can be said, however small the model; where there is nothing to choose, there is nothing to ask.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from actors.substrate.extractive import bare
from actors.substrate.plain import clip
from actors.substrate.ports import Act, Material, Request, Role
from actors.substrate.sentences import sentences, speaker

_OPENING, _WHOLE, _MOST = 6, 120, 400
"""Words by which a sentence is chosen, characters of a text that is told as a whole, and of a sentence that is told."""
Choices = Mapping[str, Mapping[str, Material]]
"""By the name of a part: the sentences that it may be, by how they open."""


def choices(request: Request) -> Choices:
    """What of the material may be chosen; empty where nothing can. A reply may have two sentences.

    What is to be done is not chosen: the rule finds who was asked for it.
    """
    if request.act is Act.PLAN:
        return {}
    first, *rest = [m for m in request.materials if m.role is not Role.GOAL] or [Material(Role.EVENT, "")]
    if request.act is Act.REPLY:
        parts = dict.fromkeys(("answer", "also"), _openings(rest))
    else:
        parts = {"event": _openings([first]), "memory": _openings(rest)}
    return {name: found for name, found in parts.items() if len(found) > 1}


def _openings(materials: Iterable[Material]) -> dict[str, Material]:
    found: dict[str, Material] = {}
    for material in materials:
        text = bare(material.text)
        who = speaker(text)
        for sentence in sentences(text[len(who) :]) if len(text) > _WHOLE else [text[len(who) :]]:
            opening = " ".join(sentence.split()[:_OPENING])
            told = replace(material, text=clip(who + sentence, _MOST))
            found[opening if opening not in found else clip(sentence, _MOST)] = told
    return found


def chosen(said: str, request: Request, parts: Choices) -> Request | None:
    """The request with what was chosen of its material alone; None for an answer that chose nothing."""
    try:
        answer = json.loads(said)
    except (ValueError, RecursionError):
        return None
    named = answer if isinstance(answer, dict) else {}
    picked = {name: one for name, of in parts.items() if (one := of.get(str(named.get(name)))) is not None}
    if not picked:
        return None
    first, *rest = [m for m in request.materials if m.role is not Role.GOAL]
    if request.act is Act.REPLY:
        rest = list(dict.fromkeys(picked.values()))
    else:
        first, rest = picked.get("event", first), [picked["memory"]] if "memory" in picked else rest
    goals = [m for m in request.materials if m.role is Role.GOAL]
    return replace(request, materials=(first, *rest, *goals))
