"""A line of input as a perception: plain text with the time it begins with, or a JSON object."""

import base64
import binascii
import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from environment.logs.records import from_object, taken_apart
from environment.messages import Image, Instant, NewPerception

PAYLOADS: Final = ("text", "telemetry", "image")
KEYS: Final = ("source", "time", "key", "labels", *PAYLOADS)
MOST_BYTES: Final = 32 * 1024 * 1024
"""Of an image, and of a line."""
_OBJECT: Final = re.compile(r'\s*\{\s*["}]')
_REMEMBERED: Final = 400_000
_DAY: Final = 86_400.0
_LATEST: Final = 253_402_300_799.0
"""The end of the year 9999; what is given in milliseconds lies far behind it."""
_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
)


class BadLine(ValueError):
    """A line that cannot become a perception; the message says why. The lines after it can."""


class Format(StrEnum):
    """How to read lines."""

    AUTO = "auto"
    """Each line as what it looks like."""
    LINES = "lines"
    """Plain text, whatever it looks like."""
    JSON = "json"
    """A JSON object on each line."""


@dataclass(slots=True)
class Occurrences:
    """How often something was seen, among the latest some hundred thousand different things."""

    _new: dict[bytes, int]
    _old: dict[bytes, int]

    def __init__(self) -> None:
        self._new, self._old = {}, {}

    def count(self, thing: bytes) -> int:
        """1 for the first time."""
        number = self._new.get(thing) or self._old.get(thing, 0)
        if len(self._new) >= _REMEMBERED:
            self._new, self._old = {}, self._new
        self._new[thing] = number + 1
        return number + 1


@dataclass(slots=True)
class LineReader:
    """Turns the lines of one input into perceptions, in order.

    A key is given to every line that has none. Where the input can be sent again (``repeatable``), and wherever the
    line itself carries its time, the key follows from source, time, content and how many equal lines came before:
    sending the same again adds nothing. Other lines get a key of this run: equal words spoken twice were said twice.

    Until the first plain line, a line that begins like a JSON object must be one. After it, a JSON object may be
    something that a log quotes: it is taken at its word except for whose word it is, so its ``source`` and ``key`` are
    passed over and it can name no file; one that is not quite a perception is a plain line like any other. The JSON of
    a structured logger is a line of its log anywhere.
    """

    source: str
    """Of lines that name none."""
    now: Callable[[], Instant]
    """What time it is."""
    run: str
    """Unlike that of any other run: keys of this run begin with it."""
    repeatable: bool
    directory: Path
    """What paths of images start from."""
    format: Format = Format.AUTO
    zone: tzinfo | None = None
    """Of times without an offset in plain lines; None: this machine's."""
    labels: Mapping[str, str] | None = None
    """Put on every perception; what a JSON line says itself comes first."""
    unknown: Callable[[], Instant] | None = None
    """When a line happened that has no time, before any that has one; None: now."""
    quoted: int = 0
    """JSON lines among plain ones."""
    unstamped: int = 0
    """Lines without a time of their own."""
    garbled: int = 0
    """Lines that are not UTF-8 throughout."""
    _plain: bool = False
    _last: Instant | None = None
    _number: int = 0
    _seen: Occurrences | None = None

    def read(self, raw: bytes) -> NewPerception | None:
        """The perception in a line, None for an empty one. Raises ``BadLine``."""
        line = raw.decode("utf-8", errors="replace").rstrip("\r\n")
        if not line.strip():
            return None
        self._number += 1
        self.garbled += "\ufffd" in line and b"\xef\xbf\xbd" not in raw
        if self.format is Format.JSON:
            return self._object(_parse(line), quoted=False)
        if self.format is Format.AUTO and _OBJECT.match(line):
            if not self._plain:
                return self._object(_parse(line), quoted=False)
            try:
                value = _parse(line)
                perception = self._object(value, quoted=True)
            except BadLine:
                pass
            else:
                self.quoted += any(name in value for name in PAYLOADS)
                return perception
        self._plain = True
        found = taken_apart(line, self.now(), self.zone)
        return self._perception(self.source, found.time, text=found.text, follows=True)

    def _object(self, value: Mapping[str, Any], *, quoted: bool) -> NewPerception:
        given = [name for name in PAYLOADS if value.get(name) is not None]
        record = from_object(value, self.now(), self.zone) if not given else None
        if record is not None:  # whose word it is, a log does not say: its fields are nobody's source, key or labels
            return self._perception(self.source, record.time, text=record.text, follows=True)
        others = {name: _other(name, value[name], quoted) for name in value if name not in KEYS}
        if len(given) != 1:
            there = " and ".join(given) or "none"
            raise BadLine(f"exactly one of text, telemetry and image is needed, {there} is there")
        source = self.source if quoted else _string(value, "source") or self.source
        return self._perception(
            source,
            _time(value.get("time")),
            text=_string(value, "text"),
            telemetry=_telemetry(value.get("telemetry")),
            image=_image(value.get("image"), None if quoted else self.directory),
            key=None if quoted else _string(value, "key"),
            labels=others | _labels(value.get("labels")),
        )

    def _perception(
        self,
        source: str,
        time: Instant | None,
        *,
        text: str | None = None,
        telemetry: Mapping[str, float] | None = None,
        image: Image | None = None,
        key: str | None = None,
        labels: Mapping[str, str] | None = None,
        follows: bool = False,
    ) -> NewPerception:
        now = self.now()
        if time is not None:
            self._last = time
        return NewPerception(
            source=source,
            time=self._when(now, follows=follows) if time is None else time,
            received=now,
            text=text,
            telemetry=telemetry,
            image=image,
            key=key or self._key(source, time, text, telemetry, image),
            labels={**(self.labels or {}), **(labels or {})},
        )

    def _when(self, now: Instant, *, follows: bool) -> Instant:
        """When a line happened that does not say: a plain one with the line before it, where that had a time."""
        self.unstamped += 1
        if self._last is not None and (follows or self.unknown) and self._last <= now + _DAY:
            return self._last
        return self.unknown() if self.unknown else now

    def _key(
        self,
        source: str,
        time: Instant | None,
        text: str | None,
        telemetry: Mapping[str, float] | None,
        image: Image | None,
    ) -> str:
        if time is None and not self.repeatable:
            return f"{self.run}-{self._number}"
        content = [source, time, text, sorted(telemetry.items()) if telemetry else None]
        digest = hashlib.sha256(json.dumps(content).encode())
        if image is not None:
            digest.update(image.data)
        if self._seen is None:
            self._seen = Occurrences()
        occurrence = self._seen.count(digest.digest()[:12])
        digest.update(str(occurrence).encode())
        return f"line-{digest.hexdigest()[:32]}"


def garbled(lines: int) -> str:
    """What to say of lines that were not UTF-8."""
    are = "1 line is" if lines == 1 else f"{lines:,} lines are"
    return f"{are} not UTF-8: what cannot be read stands as \ufffd (`iconv -f ENCODING -t UTF-8` makes it readable)"


def _parse(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except RecursionError:
        raise BadLine("this JSON is nested too deeply") from None
    except ValueError as error:
        raise BadLine(f"this is not JSON ({error}); --format lines sends it as plain text") from None
    if not isinstance(value, dict):
        raise BadLine('a JSON object is needed, for example {"source": "door", "text": "it is open"}')
    return value


def _other(name: str, value: object, quoted: bool) -> str:
    """A key that a perception does not have, as a label; what is nearly one it has is a slip."""
    close = get_close_matches(name.lower(), KEYS, n=1, cutoff=0.7)
    if close:
        raise BadLine(f"there is no key {name!r}: did you mean {close[0]!r}?")
    if quoted or isinstance(value, dict | list):
        raise BadLine(
            f"there is no key {name!r}: known are {', '.join(KEYS)}; anything else goes under labels, as text"
        )
    return value if isinstance(value, str) else json.dumps(value)


def _string(value: Mapping[str, Any], name: str) -> str | None:
    found = value.get(name)
    if found is None or isinstance(found, str):
        return found
    raise BadLine(f"{name} must be text, not {json.dumps(found)[:40]}")


def _time(value: object) -> Instant | None:
    """RFC 3339, UTC where it has no offset, or seconds since 1970."""
    if value is None:
        return None
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            seconds = float(value)
            if abs(seconds) <= _LATEST:
                return seconds
    except (ValueError, OverflowError):
        pass
    shown = json.dumps(value)[:40]
    raise BadLine(f"time must be like 2026-03-03T06:00:00Z or seconds (not milliseconds) since 1970, not {shown}")


def _telemetry(value: object) -> Mapping[str, float] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not value:
        raise BadLine('telemetry must be named numbers, for example {"temperature_celsius": 21.5}')
    for name, reading in value.items():
        if isinstance(reading, bool) or not isinstance(reading, int | float) or not _is_double(reading):
            raise BadLine(f"the reading {name!r} must be a finite number, not {json.dumps(reading)[:40]}")
    return {name: float(reading) for name, reading in value.items()}


def _is_double(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _labels(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(told, str) for told in value.values()):
        raise BadLine('labels must be named texts, for example {"host": "web-1"}')
    return value


def _image(value: object, directory: Path | None) -> Image | None:
    """An image given as a path, from ``directory`` on, or as base64. ``directory`` None: no path may be given."""
    if value is None:
        return None
    form = 'image must be {"path": FILE} or {"data": BASE64, "media_type": "image/png"}'
    if (
        not isinstance(value, dict)
        or not set(value) <= {"path", "data", "media_type"}
        or ("path" in value) == ("data" in value)
    ):
        raise BadLine(form)
    if not all(isinstance(told, str) for told in value.values()):
        raise BadLine(form)
    if "path" in value:
        data = _read_image(value["path"], directory)
    else:
        try:
            data = base64.b64decode(value["data"], validate=True)
        except (binascii.Error, ValueError):
            raise BadLine("image.data must be base64, without line breaks") from None
    media_type = value.get("media_type") or _media_type(data)
    if not media_type:
        raise BadLine("the image is of no kind that is known here: name its media_type, for example image/png")
    return Image(data, media_type)


def _read_image(path: str, directory: Path | None) -> bytes:
    if directory is None:
        raise BadLine("an image among plain lines cannot name a file: --format json takes it")
    try:
        with (directory / path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise BadLine(f"the image {path!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MOST_BYTES:
        raise BadLine(f"the image {path!r} has more than {MOST_BYTES} bytes")
    return data


def _media_type(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for magic, media_type in _MAGIC if data.startswith(magic)), "")
