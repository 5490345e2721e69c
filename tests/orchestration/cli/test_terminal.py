"""On a terminal: colours, and nothing that outside text could do to it."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.orchestration.cli.conftest import environ

HOSTILE = "the boiler \x1b[2J\x1b]0;owned\x07 burst \u202eright to left\u202c \x9b31m and [red]bold[/red] water runs"


def on_terminal(*args: str) -> str:
    """What a command writes to a terminal."""
    screen, inside = pty.openpty()
    command = [sys.executable, "-m", "orchestration.cli", *args]
    with subprocess.Popen(
        command, stdin=inside, stdout=inside, stderr=inside, env=environ(TERM="xterm-256color"), close_fds=True
    ) as process:
        os.close(inside)
        shown = b""
        while True:
            try:
                chunk = os.read(screen, 65536)
            except OSError:  # the other end is closed
                break
            if not chunk:
                break
            shown += chunk
        assert process.wait(120) == 0, shown.decode()
    os.close(screen)
    return shown.decode()


def test_thoughts_are_coloured_and_cannot_steer_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "day.jsonl"
    file.write_text(json.dumps({"source": f"ops{HOSTILE}"[:20].replace("\x1b", ""), "time": 1000, "text": HOSTILE}))
    shown = on_terminal("replay", str(file), "--budget", "1")
    assert "\x1b[36m" in shown, "times are cyan"
    assert "boiler" in shown
    assert "[red]bold[/red]" in shown
    assert not {"\x07", "\x9b", "\u202e"} & set(shown)
    assert "\x1b[2J" not in shown
    assert "\x1b]0;" not in shown
