"""What a line declares itself to be: the severities that machines write, 0 (nothing, or routine) to 5.

Sources: RFC 5424 (priority in angle brackets), klog's leading letter, level fields of JSON, words of level in capitals
or brackets, status codes of HTTP. A declaration is believed as far as it is rare where it comes from.
"""

import re

DEBUG, WARNING, ERROR, CRITICAL, EMERGENCY = 0, 2, 3, 4, 5
_SYSLOG = (EMERGENCY, EMERGENCY, CRITICAL, ERROR, WARNING, 1, DEBUG, DEBUG)
"""Of RFC 5424's emergency, alert, critical, error, warning, notice, informational, debug."""
_WORDS = {
    **dict.fromkeys(("emerg", "emergency", "panic", "alert", "fatal"), EMERGENCY),
    **dict.fromkeys(("crit", "critical", "severe", "failure"), CRITICAL),
    **dict.fromkeys(("error", "err", "e"), ERROR),
    **dict.fromkeys(("warning", "warn", "w"), WARNING),
    "notice": 1,
    "f": EMERGENCY,
}
_PRIORITY = re.compile(r"<(\d{1,3})>")
_KLOG = re.compile(r"([EFIW])\d{4} \d\d:\d\d:\d\d")
_FIELD = re.compile(r"""["']?\b(?:level|lvl|severity|loglevel)["']?\s*[:=]\s*["']?(\w+)""", re.IGNORECASE)
_CAPITALS = re.compile(
    r"\b(EMERG(?:ENCY)?|PANIC|ALERT|FATAL|CRIT(?:ICAL)?|SEVERE|FAILURE|ERR(?:OR)?|WARN(?:ING)?|NOTICE|INFO|DEBUG|TRACE)\b"
    r"|\[(emerg|alert|crit|critical|fatal|error|warn|warning|notice|info|debug)\]"
)
_HTTP = re.compile(r'HTTP/\d(?:\.\d)?" (\d{3})\b')
_HEAD = 160
"""Characters in which a level is looked for."""


def severity(text: str) -> int:
    """What a line says that it is."""
    if found := _PRIORITY.match(text):
        return _SYSLOG[int(found[1]) % 8]
    if found := _KLOG.match(text):
        return _WORDS.get(found[1].lower(), DEBUG)
    if found := _FIELD.search(text):
        return _WORDS.get(found[1].lower(), DEBUG)
    if found := _HTTP.search(text):
        return ERROR if found[1] >= "500" else DEBUG
    if found := _CAPITALS.search(text, 0, _HEAD):
        return _WORDS.get((found[1] or found[2]).lower(), DEBUG)
    return DEBUG
