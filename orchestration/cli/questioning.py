"""``submind ask``: a question to a running mind, and what it knows."""

from __future__ import annotations

from typing import Annotated

import typer

from actors.answering.answer import Reply
from actors.answering.question import asks
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import Json
from orchestration.cli.output import console, emit
from orchestration.cli.remote import Server, calling
from orchestration.cli.remote import ask as answered
from orchestration.cli.safety import safe
from orchestration.client.mind import MindClient
from orchestration.pb.submind.v1 import environment_pb2
from orchestration.schema.convert import encode

app = typer.Typer(add_completion=False)

_NOT_THINKING = {"starting", "down"}


@app.command()
@calling
def ask(
    at: Server,
    questions: Annotated[
        list[str],
        typer.Argument(metavar="QUESTION…", help="In words; several are a conversation: later ones may point back."),
    ],
    json: Json = False,
) -> None:
    """Ask what the mind knows, from all it keeps of what was perceived. Exit code 1 when the last is not known."""
    if not all(question.strip() for question in questions):
        raise Failure("there is nothing to answer: give a question in words", MISUSED)

    async def converse(mind: MindClient) -> list[tuple[Reply, str]]:
        return [await mind.question(one, questions[max(0, n - 16) : n]) for n, one in enumerate(questions)]

    found = answered(at, converse)
    for question, (answer, state) in zip(questions, found, strict=True):
        if json:
            emit(encode(environment_pb2.AskResponse, answer, state=state, asks=asks(question)))
            continue
        if state in _NOT_THINKING:
            console(error=True).print(f"the mind is {state}: this is what has been perceived", style="yellow")
        console().print("\n".join(safe(line) for line in answer.text.split("\n")), markup=False, highlight=False)
    if not found[-1][0].known:
        raise typer.Exit(1)
