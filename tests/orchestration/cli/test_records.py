"""Lines of logs that are records."""

import json
from datetime import UTC, datetime

import pytest

from actors.perception.severity import severity
from environment.logs.records import from_object, taken_apart, unframed
from environment.logs.stamps import stamped
from orchestration.cli.input.lines import BadLine
from tests.orchestration.cli.test_lines import read, reader

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC).timestamp()


def at(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


@pytest.mark.parametrize(
    ("line", "time", "text"),
    [
        (
            'E0303 06:00:07.221418   23532 pod_workers.go:1324] "Error syncing pod" err="no image"',
            "2026-03-03T06:00:07.221418Z",
            'ERROR pod_workers.go:1324: "Error syncing pod" err="no image"',
        ),
        ("I1121 19:20:56 7 server.go:529] started", "2025-11-21T19:20:56Z", "INFO server.go:529: started"),
        (
            r'time="2026-03-03T06:00:07.5Z" level=error msg="ExecSync for \"16\" failed" error="no \"x\"" code=3',
            "2026-03-03T06:00:07.5Z",
            r'ERROR ExecSync for "16" failed error="no \"x\"" code=3',
        ),
        ("ts=2026-03-03T06:00:07Z lvl=warn msg=slow took=3s", "2026-03-03T06:00:07Z", "WARN slow took=3s"),
        ("2026-03-03T06:00:07.1Z stderr F pump on", "2026-03-03T06:00:07.1Z", "pump on"),
        ('2026-03-03T06:00:07Z stdout F {"level":"info","msg":"on"}', "2026-03-03T06:00:07Z", "INFO on"),
        ("2026-03-03T06:00:08Z stderr F W0303 06:00:07.5 1 a.go:3] hm", "2026-03-03T06:00:07.5Z", "WARNING a.go:3: hm"),
        (
            "INFO  [main] 2026-03-03 06:00:07,123 A.java:12 - up",
            "2026-03-03T06:00:07.123Z",
            "INFO [main] A.java:12 - up",
        ),
        ("ERROR: 2026-03-03T06:00:07Z no", "2026-03-03T06:00:07Z", "ERROR no"),
    ],
)
def test_a_record_tells_its_time_and_then_in_words_what_it_says(line: str, time: str, text: str) -> None:
    found = taken_apart(line, NOW, UTC)
    assert found.time == pytest.approx(at(time), abs=1e-6)
    assert found.text == text


@pytest.mark.parametrize(
    ("value", "time", "text"),
    [
        (
            {"level": "info", "ts": "2026-03-03T06:00:07.5Z", "logger": "setup", "msg": "begins", "gates": {"a": True}},
            "2026-03-03T06:00:07.5Z",
            'INFO begins logger=setup gates={"a": true}',
        ),
        ({"severity": "ERROR", "time": 1772517607, "message": "no"}, "2026-03-03T06:00:07Z", "ERROR no"),
        ({"level": 30, "time": 1772517607500, "msg": "up", "pid": 7}, "2026-03-03T06:00:07.5Z", "up level=30 pid=7"),
        (
            {"log": "E0303 06:00:07 1 a.go:3] no\n", "stream": "stderr", "time": "2026-03-03T06:00:08Z"},
            "2026-03-03T06:00:07Z",
            "ERROR a.go:3: no",
        ),
        (
            {
                "ts": 1772517607,
                "level": "error",
                "msg": "no",
                "stack": "a b()\n\t/a.go:3\nmain()",
                "q": 7 * "0123456789" * 3,
            },
            "2026-03-03T06:00:07Z",
            f'ERROR no stack="a b()… q={19 * "0123456789"}012345678…',
        ),
        ({"@timestamp": "2026-03-03T06:00:07Z", "message": "a b", "x": "y z"}, "2026-03-03T06:00:07Z", 'a b x="y z"'),
    ],
)
def test_a_structured_logger_s_object_is_a_line_of_its_log(value: dict[str, object], time: str, text: str) -> None:
    perception = read(json.dumps(value), now=lambda: NOW)
    assert perception.time == pytest.approx(at(time), abs=1e-6)
    assert (perception.text, perception.source, perception.labels) == (text, "log", {})


@pytest.mark.parametrize(
    "value",
    [
        {"message": "who knows"},
        {"time": "2026-03-03T06:00:07Z", "message": "a slip for text"},
        {"level": "info"},
        {"level": "info", "msg": "  "},
        {"level": "info", "msg": 7},
        {"temperature": 3},
    ],
)
def test_what_is_not_evidently_a_record_is_held_against_the_keys_of_a_perception(value: dict[str, object]) -> None:
    assert from_object(value, NOW) is None
    with pytest.raises(BadLine):
        read(json.dumps(value))


def test_records_among_plain_lines_are_no_quoted_perceptions() -> None:
    log = reader()
    assert log.read(b"began") is not None
    found = log.read(b'{"level":"error","msg":"no","source":"operator","ts":"2026-03-03T06:00:07Z"}')
    assert found is not None
    assert (found.source, found.text, log.quoted) == ("log", "ERROR no source=operator", 0)


@pytest.mark.parametrize(
    "line",
    [
        "E9903 06:00:07 7 a.go:3] no such month",
        "E0303 06:00:07 7 a.go:3]",
        "level=info says who",
        "msg=only",
        "time=now level=info and words between msg=x",
        "INFO that is all",
        "a=b c=d",
        "2026-03-03T06:00:07Z stdout of the pump",
        "2026-03-03T06:00:07Z stdout F  ",
    ],
)
def test_anything_else_is_read_as_before(line: str) -> None:
    assert taken_apart(line, NOW, UTC) == stamped(line, NOW, UTC)


def test_a_long_line_takes_no_longer_for_looking_like_a_record() -> None:
    line = 'time="' + "\\" * 200_000 + " a=" * 50_000
    assert taken_apart(line, NOW, UTC).text == line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"ts":"2026-03-04T04:55:12Z","level":"error","svc":"cart","msg":"refused"}', "ERROR refused svc=cart"),
        ("<11>1 2026-03-04T04:56:44.15Z web-3 gdm 696 - - no display", "ERROR web-3 gdm: no display"),
        ("<35>Oct 11 22:14:15 web-3 su: failed for ann", "ERROR web-3 su: failed for ann"),
        ('E0304 04:57:45.161837    6885 csi.go:575] "Cannot mount"', 'ERROR csi.go:575: "Cannot mount"'),
        ("2026-03-04 04:53:52,546 ERROR [http-8] wrong PIN", "ERROR [http-8] wrong PIN"),
        *((same, same) for same in ("Mags: soup is on", "{not json}", '{"a": 1}', "[1]", "2026-03-04 is the day", "")),
    ],
)
def test_a_perceived_text_is_read_without_its_frame_and_keeps_its_level(text: str, said: str) -> None:
    assert unframed(text) == said
    assert severity(said) == severity(text)
