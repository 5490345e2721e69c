"""``submind ask``: a question to a running mind, and what it knows."""

from contextlib import aclosing
from typing import Annotated

import typer

from actors.answering.answer import NOTHING_YET
from environment.episodes.question import asks
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import Json
from orchestration.cli.output import console, emit
from orchestration.cli.remote import Server
from orchestration.cli.remote import ask as answered
from orchestration.cli.safety import safe
from orchestration.client.mind import MindClient
from orchestration.pb.submind.v1 import environment_pb2
from orchestration.schema.convert import encode

_NOT_THINKING = {"starting", "down"}


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

    known = answered(at, lambda mind: _converse(mind, questions, json=json))
    if not known:
        raise typer.Exit(1)


async def _converse(mind: MindClient, questions: list[str], *, json: bool) -> bool:
    """Tell the answers as they come; whether the last question is answered."""
    reply = NOTHING_YET
    for number, question in enumerate(questions):
        shown = ""
        async with aclosing(mind.question(question, questions[max(0, number - 16) : number])) as replies:
            async for reply, state in replies:
                if json:
                    emit(encode(environment_pb2.AskResponse, reply, state=state, asks=asks(question)))
                    continue
                if not shown and state in _NOT_THINKING:
                    console(error=True).print(f"the mind is {state}: this is what has been perceived", style="yellow")
                if reply.text != shown:
                    shown = reply.text
                    if reply.worded_by:
                        console(error=True).print(f"in the words of {safe(reply.worded_by)}:", style="dim")
                    told = "\n".join(safe(line) for line in shown.split("\n"))
                    console().print(told, markup=False, highlight=False)
                if reply.progress:
                    console(error=True).print(f"… {safe(reply.progress)}", style="dim")
    return reply.known
