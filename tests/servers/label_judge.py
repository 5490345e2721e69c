"""A server that speaks the OpenAI protocol and rates events by their labels: a model that judges as well as one likes.

What else it is asked it answers with words that stand in no material, so that the rule's are used.
"""

import csv
import json
import random
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_EVENT = re.compile(
    r'^Event \d+(?: from ("(?:[^"\\]|\\.)*"))?(?:, ("(?:[^"\\]|\\.)*"))?: ("(?:[^"\\]|\\.)*")$', re.MULTILINE
)
_RATINGS = {"turn": 3, "settles": 3, "part": 1, "routine": 0}
EXAMPLES = Path(__file__).parents[2] / "examples"
Rate = Callable[[str, str, str], int | None]
"""Source, clock time and text of an event; None for one that it leaves out."""


def by_labels(noise: float, seed: int = 0) -> Rate:
    """Of the example's day: 3 for a turning point or an end of a story, 1 for another part of one, 0 for the rest.

    ``noise``: the share of ratings that are drawn at random instead.
    """
    with (EXAMPLES / "day.labels.csv").open(encoding="utf-8", newline="") as lines:
        ratings = {row["key"]: _RATINGS[row["part"]] for row in csv.DictReader(lines)}
    known: dict[tuple[str, str], int] = {}
    for line in map(json.loads, (EXAMPLES / "day.jsonl").read_text("utf-8").splitlines()):
        when = datetime.fromisoformat(line["time"]).astimezone(UTC).strftime("%H:%M")
        known[place] = max(known.get(place := (line["source"], when), 0), ratings[line["key"]])
    chance = random.Random(seed)

    def rate(source: str, when: str, _text: str) -> int:
        return chance.randrange(4) if chance.random() < noise else known.get((source, when), 0)

    return rate


@contextmanager
def judging(rate: Rate) -> Iterator[str]:
    """Its address, while it runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            notes = asked["messages"][-1]["content"]
            events = [[json.loads(part or '""') for part in found] for found in _EVENT.findall(notes)]
            rated = {str(n): want for n, event in enumerate(events, 1) if (want := rate(*event)) is not None}
            answer = {n: {"want": want, "why": "as its label says"} for n, want in rated.items()}
            text = json.dumps(answer) if events else "Quixotic zebras juggle marmalade."
            message = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
            body = json.dumps(message | {"usage": {"prompt_tokens": len(notes) // 4, "completion_tokens": 20}}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
        thread.join()
