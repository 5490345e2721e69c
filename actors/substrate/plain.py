"""Outside text made fit to be shown and quoted: one line, nothing invisible, nothing that steers a terminal."""

import re

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_SPACES = re.compile(r"\s+")
_PILED = re.compile(r"([\u0300-\u036f]{2})[\u0300-\u036f]+")
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u3164\ufe00-\ufe0f\uffa0]"
)


def plain(text: str, limit: int = 20_000) -> str:
    """The visible part of ``text`` on one line, at most ``limit`` characters.

    Terminal sequences, controls, bidirectional and zero-width marks, lone surrogates, private and unassigned characters
    go; every kind of space becomes one space; combining marks pile up two high at most. Twice is the same as once.
    """
    text = text[: limit * 2]
    if not text.isprintable():
        text = _ESCAPE.sub(" ", text)
        text = "".join(c if c.isprintable() else " " if c.isspace() or c < " " else "" for c in text)
    if not text.isascii():
        text = _PILED.sub(r"\1", _INVISIBLE.sub("", text))
    return _SPACES.sub(" ", text).strip()[:limit].rstrip()


def clip(text: str, limit: int) -> str:
    """``text`` within ``limit`` characters, cut between words where there are any, with an ellipsis where cut."""
    if len(text) <= limit:
        return text
    head = text[: max(limit - 1, 1)]
    at = head.rfind(" ")
    if at >= limit // 3 and not text[len(head)].isspace():
        head = head[:at]
    return head.rstrip(" ,;:.–—-(“") + "…"
