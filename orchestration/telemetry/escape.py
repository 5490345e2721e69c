"""Showing outside text where a control character could do harm: in a log, on a terminal."""

import re

_INVISIBLE = "\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
_IN_JSON = re.compile(f"[{_INVISIBLE}]|[\U000e0000-\U000e007f]")
_ANYWHERE = re.compile(f"[\x00-\x1f{_INVISIBLE}]|[\U000e0000-\U000e007f]")


def escape(text: str) -> str:
    r"""The text with every control, direction and invisible character as ``\uXXXX``; a newline counts as one."""
    return _ANYWHERE.sub(_code, text)


def escape_json(line: str) -> str:
    """The same for a line of JSON, which stays the same JSON: such characters stand only within its strings."""
    return _IN_JSON.sub(_code, line)


def _code(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
