"""The command line: ``submind COMMAND``. Each command's module is imported only when it is used.

Exit codes: 0 done, 1 failed, 2 used wrongly. What is expected to go wrong is told in a sentence on standard error.
"""

import importlib
import inspect
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from orchestration.cli.examples import shown
from orchestration.cli.failure import Failure, told
from orchestration.cli.options import Group
from orchestration.cli.safety import safe

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("running", "Start a mind and show its stream of consciousness."),
    "serve": ("serving", "Gateway and page apart from the mind: many, stateless, behind them whoever leads."),
    "perceive": ("perceiving", "Send lines or JSON lines to a mind as perceptions."),
    "watch": ("watching", "Follow the stream of consciousness, live and resumable."),
    "replay": ("replaying", "What would this mind have noticed? Virtual time, no server."),
    "evolve": ("evolving", "Settings bred by replay against labels; none is put to work."),
    "explain": ("asking", "The lineage of a thought, down to its perceptions."),
    "ask": ("questioning", "Ask what the mind knows, with times and sources."),
    "recall": ("recalling", "Find what was perceived, by words, meaning, time and who said it."),
    "remember": ("recalling", "Tell the mind something that it is to keep."),
    "matters": ("following", "What is going on, and what is owed."),
    "matter": ("following", "One matter: its course, line by line, and where it stands."),
    "digest": ("following", "What happened since you last looked, in a screenful."),
    "know": ("knowing", "Everything known of somebody or something, now or at a time."),
    "believe": ("knowing", "Why something is believed, down to what was perceived."),
    "contradictions": ("knowing", "What sources deny each other, and nothing has settled."),
    "sleep": ("knowing", "What the mind made of its memory while it slept."),
    "correct": ("knowing", "Say what is right; what was held is kept as wrong."),
    "goals": ("pursuing", "What the mind pursues and proposes: grant, refuse, set, drop."),
    "mark": ("marking", "Say of an entry or a matter: useful, not, wrong, muted, settled, remind me."),
    "marks": ("marking", "What was said of entries and matters, and what is muted."),
    "forget": ("holding", "Forget everything of a person, a source or a stretch of time, for good."),
    "hold": ("holding", "Legal holds: what may not be forgotten, neither on request nor by age."),
    "search": ("asking", "Find traces by meaning."),
    "subminds": ("asking", "Who lives in the mind, and how they are."),
    "connections": ("asking", "Who is connected to whom, about what, how strongly."),
    "status": ("asking", "Rates, limits, budget and health."),
    "mcp": ("tooling", "Offer recall, remember, ask, matters and the stream to other agents."),
    "nodes": ("noding", "The nodes of the Ray cluster that the mind lives on, and who lives where."),
    "drain": ("noding", "Have a node give up its subminds without loss."),
    "restart": ("noding", "Renew the processes of subminds, one after the other."),
    "growth": ("growing", "Who was born, what waits for an approval, and the audit log."),
    "freeze": ("growing", "Stop all growth at once, until it is thawed."),
    "thaw": ("growing", "Let growth go on, within its bounds."),
    "approve": ("growing", "Permit a birth or an end that waits for approval."),
    "reject": ("growing", "Refuse a birth or an end that waits for approval."),
    "pack": ("teaching", "Innate knowledge of a mind that lives: added, listed, taken away."),
    "init": ("preparing", "Write a commented mind.yaml to begin with."),
    "migrate": ("moving.migrating", "Bring the tables of a mind's Cassandra to this version's schema."),
    "configure": ("configuring", "Change settings of a mind while it runs, and see who changed what."),
    "audit": ("auditing", "Who did what to the mind: orders, changes, log-ins, refusals."),
    "token": ("tokens", "Make, list and revoke the tokens that callers show."),
    "backup": ("moving.backing", "Copy a mind into one file, whole, while it runs."),
    "snapshot": ("moving.backing", "The same as backup: a file to clone or compare."),
    "clone": ("moving.cloning", "Begin another mind with all that one is, while that runs."),
    "diff": ("moving.differing", "What one mind knows and another does not."),
    "merge": ("moving.merging", "Tell a mind chosen memories of another, with their origin."),
    "restore": ("moving.restoring", "A mind out of a backup, into a place where there is none."),
    "doctor": ("doctor.examining", "Check what a mind needs on this machine, with the fix for each fault."),
}
"""Command to (module of this package, what it does). The module has it under its name: a function, or a ``Group``."""


def command_of(name: str) -> Any:
    """A command, imported. One that takes ``at`` is handed the mind it calls."""
    found = getattr(importlib.import_module(f"{__name__}.{COMMANDS[name][0]}"), name)
    told, functions = (found.help, found.commands) if isinstance(found, Group) else (None, {name: found})
    made = typer.Typer(add_completion=False, no_args_is_help=True, help=told)
    for below, function in functions.items():
        if "at" in inspect.signature(function).parameters:
            from orchestration.cli.remote import calling  # noqa: PLC0415 - gRPC, where it is used

            function = calling(function)  # noqa: PLW2901
        made.command(below)(function)
    return get_command(made)


class LazyCommand(TyperCommand):
    """A command that is told about in the help, and imported when it is called."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the real command, in which it is then invoked."""
        command = command_of(self.name or "")
        _teach(command, self.name or "")
        return command.make_context(info_name, args, parent=parent, **extra)


def _teach(command: Any, name: str) -> None:
    """Let the help of a command, and of those below it, end with what one types."""
    command.epilog = shown(name)
    for below in getattr(command, "commands", {}).values():
        _teach(below, f"{name} {below.name}")


class CommandGroup(TyperGroup):
    """All commands, none of them imported yet."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, (_, summary) in COMMANDS.items():
            self.add_command(LazyCommand(name, help=summary))


app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"submind {version('submind')}")
        raise typer.Exit


@app.callback()
def submind(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """An always-on mind made of many small agents: perceptions in, a stream of consciousness out."""


def main(args: Sequence[str] | None = None) -> None:
    """Run a command and exit."""
    _open_standard_streams()
    try:
        get_command(app).main(args, prog_name="submind")
    except Failure as failure:
        sys.exit(_end(failure))
    except BrokenPipeError:  # the reader of our output has gone: so do we, without a word at interpreter exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(1)
    except Exception as error:
        failure_told = told(error)
        if failure_told is None:
            raise
        sys.exit(_end(failure_told))


def _open_standard_streams() -> None:
    """Let what was closed lead nowhere: else the next file or connection took its number, and our words with it."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a locale without UTF-8 costs characters, not the answer


def _end(failure: Failure) -> int:
    for line in str(failure).splitlines():
        typer.echo(f"submind: {safe(line)}", err=True)
    return failure.code
