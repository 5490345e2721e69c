"""How machines call what they measure, and how people say it."""

import math
import re

from actors.perception.wording import clean

_PARTS = re.compile(r"[\s_.\-/:]+|(?<=[a-z])(?=[A-Z])")
_LONGEST = 80
_UNITS = {
    "a": "A", "amps": "A", "ma": "mA", "v": "V", "volts": "V", "mv": "mV", "w": "W", "watts": "W", "kw": "kW",
    "kwh": "kWh", "hz": "Hz", "mhz": "MHz", "c": "°C", "celsius": "°C", "f": "°F", "kelvin": "K", "pct": "%",
    "percent": "%", "ms": "ms", "us": "µs", "s": "s", "sec": "s", "secs": "s", "seconds": "s", "min": "min",
    "minute": "min", "minutes": "min", "h": "h", "hour": "h", "hours": "h", "second": "s",
    "b": "B", "bytes": "B", "kb": "kB", "mb": "MB", "gb": "GB", "tb": "TB",
    "rpm": "rpm", "rps": "/s", "qps": "/s", "bar": "bar", "mbar": "mbar", "hpa": "hPa", "kpa": "kPa", "psi": "psi",
    "m": "m", "mm": "mm", "cm": "cm", "km": "km", "kmh": "km/h", "kg": "kg", "g": "g", "ppm": "ppm", "lux": "lx",
    "db": "dB", "l": "l",
}  # fmt: skip
_TIGHT = {"%", "/s"}
_TIMES = {"s", "min", "h"}
_SINGLE = frozenset(name for name in _UNITS if len(name) == 1)


def spoken(metric: str) -> tuple[str, str]:
    """(Words of a metric's name, its unit or nothing): ``room2_compressor_a`` is ``room2 compressor`` in ``A``."""
    parts = [part for part in _PARTS.split(clean(metric, _LONGEST)) if part]
    for size in (3, 2):  # count_per_min, vibration_mm_s
        if len(parts) > size and (unit := _rate(parts[-size:])):
            return " ".join(parts[:-size]), unit
    if len(parts) > 1 and parts[-2].lower() == "per":
        return " ".join(parts[:-2]) or "reading", f"/{_UNITS.get(parts[-1].lower(), parts[-1])}"
    unit = _UNITS.get(parts[-1].lower(), "") if len(parts) > 1 else ""
    return " ".join(parts[:-1] if unit else parts) or "reading", unit


def _rate(parts: list[str]) -> str:
    """``mm/s`` of ``mm_per_s`` or ``mm_s``: a unit by a unit of time; empty where it is none."""
    over, by = parts[0].lower(), parts[-1].lower()
    if over not in _UNITS or _UNITS.get(by) not in _TIMES or (len(parts) > 2 and parts[1].lower() != "per"):  # noqa: PLR2004
        return ""
    if len(parts) == 2 and over in _SINGLE:  # noqa: PLR2004 - room_a_s: a letter alone is as likely a name
        return ""
    return f"{_UNITS[over]}/{_UNITS[by]}"


def figure(value: float, unit: str = "") -> str:
    """A number as people say it, to three digits or whole, with its unit."""
    size = abs(value)
    if size and not 1e-3 <= size < 1e12:  # noqa: PLR2004  # beyond this digits are counted, not read
        text = f"{value:.2e}"
    elif size >= 100:  # noqa: PLR2004  # whole numbers say enough
        text = f"{value:.0f}"
    else:
        digits = 2 - math.floor(math.log10(size)) if size else 0
        text = f"{value:.{min(digits, 5)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    if not unit:
        return text
    return f"{text}{unit}" if unit in _TIGHT or unit.startswith("/") else f"{text} {unit}"


def ratio(before: float, after: float) -> str:
    """How much more: ``×1.5`` between numbers of one sign, else the difference."""
    if before * after > 0:
        times = after / before
        if times >= 10 or times <= 0.1:  # noqa: PLR2004  # one digit says enough
            return f"×{times:.2g}" if times < 1 else f"×{times:.0f}"
        return f"×{times:.1f}" if times >= 1 else f"×{times:.2f}"
    return f"{'+' if after > before else '-'}{figure(abs(after - before))}"


def listed(names: list[str], most: int = 4) -> str:
    """``a, b and c``, or ``a, b and 12 more``."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
