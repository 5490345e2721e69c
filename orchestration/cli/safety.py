"""Outside text made fit for a terminal."""

import re

_BREAKS = re.compile(r"[\s\x85\u2028\u2029]+")
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def safe(text: str) -> str:
    """``text`` as one line without control, direction or invisible characters: it moves no cursor, reverses no word."""
    return _UNSEEN.sub("", _BREAKS.sub(" ", text)).strip()
