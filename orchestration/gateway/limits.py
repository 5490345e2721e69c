"""What may come in: the checks behind the schema's, as narrow as they were configured, and the trust given."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from math import isfinite

from environment.messages import Instant, NewPerception, PerceptionBatch
from orchestration.gateway.errors import IntakeRejected
from orchestration.gateway.settings import IntakeSettings
from orchestration.schema.errors import FieldViolation

EARLIEST: Instant = -62_135_596_800.0
"""The year 1, the first that a timestamp can say."""
SOURCE_BYTES, KEY_BYTES, LABEL_NAME_BYTES, READING_NAME_BYTES = 256, 256, 128, 256
AT_MOST = "trust_at_most"
"""A label that says how far a perception is to be trusted at most, 0..1, whatever its source is. None raises trust."""
_SHOWN = 16
"""Violations looked for in one batch; then looking stops."""
_REMEMBERED = 4096
"""Sources that are remembered."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def lowered(trust: float, labels: Mapping[str, str]) -> float:
    """``trust``, or less where a label that was checked says so."""
    return min(trust, float(labels[AT_MOST])) if AT_MOST in labels else trust


def _is_share(text: str) -> bool:
    try:
        return 0.0 <= float(text) <= 1.0
    except ValueError:
        return False


def utf8_size(text: str) -> int:
    """Bytes of a text in UTF-8. Raises ``ValueError`` where it holds half of a surrogate pair."""
    return len(text) if text.isascii() else len(text.encode("utf-8"))


class IntakeLimits:
    """Checks batches and counts what was refused by which setting (``hits``, by the setting's name)."""

    def __init__(self, settings: IntakeSettings) -> None:
        self._settings = settings
        self._known: dict[str, float] = {}
        """Sources whose name was found well formed, and how far they are trusted."""
        self.hits: Counter[str] = Counter()

    def trust_of(self, source: str) -> float:
        """How far a source is trusted, 0..1: by its name alone, whatever it says of itself."""
        known = self._known.get(source)
        if known is not None:
            return known
        patterns = self._settings.trust.items()
        return next((number for glob, number in patterns if fnmatchcase(source, glob)), self._settings.trust_unknown)

    @property
    def known_trust(self) -> Callable[[str], float | None]:
        """How far a source is trusted whose name was found well formed before; None for any other."""
        return self._known.get

    def size_of_plain(self, batch: PerceptionBatch, sent: int, now: Instant) -> int | None:
        """Bytes of payload of a batch in which nothing needs a closer look; None where something does.

        Plain is what most perceptions are: a text of a source known from before. The batch came by the wire in ``sent``
        bytes, so its texts are Unicode; its trust is what ``known_trust`` said, None where that was nothing. A plain
        batch keeps every rule of the schema and of the settings, which is found out here column by column.
        """
        settings, texts, times = self._settings, batch.text, batch.time
        if (
            not 0 < len(batch) <= settings.batch
            or not all(texts)
            or any(batch.telemetry)
            or any(batch.image)
            or None in batch.trust
            or not EARLIEST <= min(times) <= max(times) <= now + settings.far_future
            or any(map(str.isspace, filter(None, texts)))
        ):
            return None
        joined = "".join(filter(None, texts))
        if sent > settings.text_bytes and any(utf8_size(text) > settings.text_bytes for text in filter(None, texts)):
            return None
        keys = list(filter(None, batch.key))
        if keys and (max(map(len, keys)) > KEY_BYTES or not "".join(keys).isascii()):
            return None
        if any(batch.labels) and not all(map(self._plain_labels, batch.labels)):
            return None
        return utf8_size(joined)

    def _plain_labels(self, labels: Mapping[str, str]) -> bool:
        if len(labels) > self._settings.labels or AT_MOST in labels:
            return False
        most = self._settings.label_bytes
        return all(
            0 < len(name) <= LABEL_NAME_BYTES and name.isascii() and len(value) <= most and value.isascii()
            for name, value in labels.items()
        )

    def check(self, batch: Sequence[NewPerception], now: Instant) -> int:
        """Bytes of payload in the batch. Raises ``IntakeRejected`` naming what is wrong."""
        if not batch:
            raise IntakeRejected("perceptions", "at least one perception is needed")
        if len(batch) > self._settings.batch:
            self.hits["batch"] += 1
            raise IntakeRejected(
                "perceptions", f"{len(batch)} perceptions are more than the {self._settings.batch} a batch may have"
            )
        horizon, total = now + self._settings.far_future, 0
        found: list[FieldViolation] = []
        for index, perception in enumerate(batch):
            check = _Check(self._settings, self.hits, f"perceptions[{index}].")
            total += check.perception(perception, horizon)
            found += check.found
            if len(found) >= _SHOWN:
                break
            if not check.found:
                self._remember(perception.source)
        if found:
            raise IntakeRejected.of(found[:_SHOWN])
        return total

    def _remember(self, source: str) -> None:
        if source in self._known:
            return
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[source] = self.trust_of(source)


class _Check:
    """Looks at one perception and collects what is wrong with it."""

    def __init__(self, settings: IntakeSettings, hits: Counter[str], path: str) -> None:
        self._settings = settings
        self._hits = hits
        self._path = path
        self.found: list[FieldViolation] = []

    def perception(self, perception: NewPerception, horizon: Instant) -> int:
        """Bytes of payload."""
        if self._text("source", perception.source, SOURCE_BYTES) == 0:
            self._wrong("source", "a source is needed: who or what perceived this")
        elif _CONTROL.search(perception.source):
            self._wrong("source", "control characters are not allowed in a source")
        self._time(perception.time, horizon)
        if perception.key is not None:
            self._text("key", perception.key, KEY_BYTES)
        size = self._labels(perception)
        payloads = (perception.text is not None, perception.telemetry is not None, perception.image is not None)
        if sum(payloads) != 1:
            self._wrong("payload", "exactly one of text, telemetry and image is needed")
            return size
        return size + self._payload(perception)

    def _wrong(self, field: str, why: str, setting: str | None = None) -> None:
        self.found.append(FieldViolation(self._path + field, why))
        if setting is not None:
            self._hits[setting] += 1

    def _text(self, field: str, text: str, most: int, setting: str | None = None) -> int:
        """Bytes of a text, whose length and encoding are checked."""
        try:
            size = utf8_size(text)
        except ValueError:
            self._wrong(field, "this is not Unicode text: it holds half of a surrogate pair")
            return -1
        if size > most:
            self._wrong(field, f"{size} bytes are more than the {most} allowed", setting)
        return size

    def _time(self, time: Instant, horizon: Instant) -> None:
        if not isfinite(time) or time < EARLIEST:
            self._wrong("time", "this is not a time between the year 1 and now")
        elif time > horizon:
            ahead = time - horizon + self._settings.far_future
            self._wrong(
                "time",
                f"this is {ahead:.0f} s ahead of the server's clock; at most {self._settings.far_future:g} s are"
                " allowed: check the clock and the time zone of the source",
                "far_future",
            )

    def _labels(self, perception: NewPerception) -> int:
        labels, size = perception.labels, 0
        if len(labels) > self._settings.labels:
            self._wrong("labels", f"{len(labels)} labels are more than the {self._settings.labels} allowed", "labels")
            return 0
        if not _is_share(labels.get(AT_MOST, "1")):
            self._wrong("labels", f"{AT_MOST} must be a number from 0 to 1")
        for name, value in labels.items():
            if self._text("labels", name, LABEL_NAME_BYTES) == 0:
                self._wrong("labels", "a label needs a name")
            size += self._text("labels", value, self._settings.label_bytes, "label_bytes")
        return size

    def _payload(self, perception: NewPerception) -> int:
        if perception.text is not None:
            size = self._text("text", perception.text, self._settings.text_bytes, "text_bytes")
            if size >= 0 and not perception.text.strip():
                self._wrong("text", "there is nothing in this text but white space")
            return size
        if perception.telemetry is not None:
            return self._telemetry(perception.telemetry)
        return self._image(perception)

    def _telemetry(self, telemetry: Mapping[str, float]) -> int:
        if not telemetry:
            self._wrong("telemetry", "at least one named number is needed")
            return 0
        most = self._settings.telemetry_names
        if len(telemetry) > most:
            self._wrong("telemetry", f"{len(telemetry)} readings are more than the {most} allowed", "telemetry_names")
            return 0
        size = 0
        for name, value in telemetry.items():
            if self._text("telemetry", name, READING_NAME_BYTES) == 0:
                self._wrong("telemetry", "a reading needs a name")
            if not isfinite(value):
                self._wrong("telemetry", "a reading must be a finite number")
            size += len(name) + 8
        return size

    def _image(self, perception: NewPerception) -> int:
        image = perception.image
        if image is None or not image.data:
            self._wrong("image.data", "the image is empty")
            return 0
        if image.media_type not in self._settings.media_types:
            allowed = ", ".join(sorted(self._settings.media_types))
            self._wrong("image.media_type", f"this mind can look at {allowed}", "media_types")
        if len(image.data) > self._settings.image_bytes:
            why = f"{len(image.data)} bytes are more than the {self._settings.image_bytes} allowed"
            self._wrong("image.data", why, "image_bytes")
        return len(image.data)
