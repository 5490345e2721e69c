"""Logs: one JSON object a line, with ids, without secrets, safe on a terminal, shared by processes."""

import io
import json
import logging
import os
import secrets
import subprocess
import sys
import textwrap
from pathlib import Path

import jwt
import pytest
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestration.telemetry.escape import escape
from orchestration.telemetry.logs import configure_logs
from orchestration.telemetry.settings import LogSettings

ROOT = str(Path(__file__).parents[3])
TOKEN = "a-token-of-some-length"  # noqa: S105 - made for this test


@pytest.fixture(autouse=True)
def as_it_was():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    for handler in root.handlers[:]:
        if handler not in handlers:
            root.removeHandler(handler)
            handler.close()
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def logging_to(file, **options):
    secrets = options.pop("secrets", ())
    configure_logs(
        LogSettings(stderr="off", level="debug", **options), file=file, secrets=secrets, fields={"process": "host"}
    )
    return structlog.get_logger("submind.test")


def fail(why):
    raise ValueError(why)


def lines(file):
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_a_line_says_what_where_and_in_whose_name(tmp_path):
    log = logging_to(tmp_path / "submind.log")
    with structlog.contextvars.bound_contextvars(mind="alpha", request="r1"):
        with structlog.contextvars.bound_contextvars(submind="causes", trace_id="t-1"):
            log.info("posted", count=3)
        log.warning("slow")
    log.info("idle")
    posted, slow, idle = lines(tmp_path / "submind.log")
    assert (posted["event"], posted["level"], posted["count"]) == ("posted", "info", 3)
    assert {name: posted[name] for name in ("mind", "request", "submind", "trace_id", "process")} == {
        "mind": "alpha", "request": "r1", "submind": "causes", "trace_id": "t-1", "process": "host",
    }  # fmt: skip
    assert posted["time"].endswith("Z")
    assert posted["logger"] == "submind.test"
    assert (slow["level"], "submind" in slow) == ("warning", False)
    assert "mind" not in idle


def test_libraries_and_their_errors_come_out_in_the_same_form(tmp_path):
    logging_to(tmp_path / "submind.log")
    try:
        fail("bad thing")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("failed %s", "badly", extra={"where": "here"})
    (line,) = lines(tmp_path / "submind.log")
    assert (line["event"], line["logger"], line["level"], line["where"]) == (
        "failed badly",
        "uvicorn.error",
        "error",
        "here",
    )
    assert "ValueError: bad thing" in line["exception"]


def test_secrets_do_not_appear(tmp_path):
    log = logging_to(tmp_path / "submind.log", secrets=[TOKEN])
    log.info(
        "asked with %s",
        TOKEN,
        headers={"Authorization": f"Bearer {TOKEN}", "x": f"Bearer {TOKEN}abc"},
        api_key="sk-123456789",
        url="http://host/v1?token=hunter22&k=3",
        said="my key is sk-abcdefgh1234",
        nested=[{"password": "hunter22"}],
        tokens_in=7,
        max_tokens=120,
    )
    logging.getLogger("httpx").warning("GET /?api_key=hunter22 Bearer hunter22")
    text = (tmp_path / "submind.log").read_text()
    assert TOKEN not in text
    assert "hunter22" not in text
    assert "sk-" not in text
    line = lines(tmp_path / "submind.log")[0]
    assert (line["tokens_in"], line["max_tokens"]) == (7, 120)
    assert line["url"].endswith("&k=3")


def test_tokens_of_ours_and_of_identity_providers_do_not_appear_wherever_they_were_put(tmp_path):
    log = logging_to(tmp_path / "submind.log")
    ours = [f"submind_{secrets.token_urlsafe(32)}" for _ in range(50)]
    theirs = jwt.encode({"sub": "ann"}, "k" * 32, "HS256")
    for each in (*ours, theirs):
        log.info("audit", action=f"GET /v1/{each}", by=f"<{each}>")
    metric = "submind_access_certificate_expiry_timestamp_seconds"  # as long as a token
    log.info("asked for %s", metric)
    text = (tmp_path / "submind.log").read_text()
    assert not [each for each in (*ours, theirs) if each in text]
    assert text.count("GET /v1/[redacted]") == len(ours) + 1
    assert metric in text


def test_a_secret_in_a_traceback_does_not_appear(tmp_path):
    log = logging_to(tmp_path / "submind.log", secrets=[TOKEN])
    try:
        fail(f"cannot use {TOKEN}")
    except ValueError:
        log.exception("failed")
    assert TOKEN not in (tmp_path / "submind.log").read_text()


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text())
def test_outside_text_stays_on_its_line_and_moves_no_cursor(tmp_path, text):
    file = tmp_path / "submind.log"
    file.unlink(missing_ok=True)
    shown = io.StringIO()
    configure_logs(LogSettings(stderr="console", value_chars=10_000), file=file, stderr=shown)
    structlog.get_logger().info("heard", text=text, inside=[text, {"deep": text}])
    (line,) = lines(file)
    assert line["text"] == text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")
    assert line["inside"] == [text, {"deep": text}]
    for output in (file.read_text("utf-8"), shown.getvalue()):
        assert output.count("\n") == 1
        assert not set(output[:-1]) & set("\x00\x07\x1b\x7f\x9b\u202e\u2066\u2028\ufeff\r\n")


def test_long_texts_are_cut_and_say_so(tmp_path):
    log = logging_to(tmp_path / "log", value_chars=50)
    log.info("heard", text="w" * 1_000_000)
    (line,) = lines(tmp_path / "log")
    assert line["text"] == "w" * 50 + "… (999950 more)"


def test_processes_share_a_file_without_mixing_or_losing_lines(tmp_path):
    script = """
        import sys, structlog
        from pathlib import Path
        from orchestration.telemetry.logs import configure_logs
        from orchestration.telemetry.settings import LogSettings
        settings = LogSettings(stderr="off", file_bytes=150_000)
        configure_logs(settings, file=Path(sys.argv[1]), fields={"process": sys.argv[2]})
        log = structlog.get_logger()
        for number in range(300):
            log.info("heard", number=number, text="w" * 100)
    """
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "log"), str(each)],
            env=os.environ | {"PYTHONPATH": ROOT},
        )
        for each in range(3)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert {path.name: path.stat().st_size <= 150_000 for path in tmp_path.iterdir()} == {"log": True, "log.1": True}
    kept = lines(tmp_path / "log.1") + lines(tmp_path / "log")
    by_process = {str(each): [line["number"] for line in kept if line["process"] == str(each)] for each in range(3)}
    assert len(kept) == len({(line["process"], line["number"]) for line in kept})
    assert all(numbers == sorted(numbers) for numbers in by_process.values())
    assert len(kept) == 900


def test_what_a_full_disk_lost_is_counted_in_the_log_once_there_is_room(tmp_path):
    file = tmp_path / "log"
    code = f"""
        import resource, sys
        sys.path.insert(0, {ROOT!r})
        from pathlib import Path
        import structlog
        from orchestration.telemetry.logs import configure_logs
        from orchestration.telemetry.settings import LogSettings
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        configure_logs(LogSettings(stderr="off"), file=Path({str(file)!r}))
        log = structlog.get_logger("full")
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most))
        for number in range(100):
            log.info("line", number=number)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        log.info("line", number=100)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=True, capture_output=True, text=True, timeout=60
    )
    (said,) = done.stderr.splitlines()
    assert said.endswith("log lines are lost, 1 so far")
    *whole, torn, after, lost = file.read_text("utf-8").splitlines()
    kept = [json.loads(line)["number"] for line in whole]
    assert kept == list(range(len(kept)))
    assert 0 < len(torn) < len(whole[0])
    assert json.loads(after)["number"] == 100
    assert (json.loads(lost)["event"], json.loads(lost)["lines"]) == ("log_lines_lost", 100 - len(kept))


@given(st.text())
def test_escaping_leaves_nothing_that_acts(text):
    shown = escape(text)
    assert not set(shown) & set(map(chr, [*range(32), *range(127, 160), 0x202E, 0x2028, 0xFEFF, 0xD800, 0xE0041]))
    shown.encode("utf-8")


def test_escaping_leaves_words_alone():
    text = "Größe 3 µm – 日本語 «ok» 🙂 שלום"
    assert escape(text) == text
    assert escape("a\nb\x1b[2J\U000e0041") == "a\\u000ab\\u001b[2J\\udb40\\udc41"
