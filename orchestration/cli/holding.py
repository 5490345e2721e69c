"""Forgetting on request, and legal holds."""

import asyncio
import sys
from typing import Annotated

import typer

from orchestration.cli.failure import FAILED, MISUSED, Failure
from orchestration.cli.growing import By
from orchestration.cli.options import Group, Json
from orchestration.cli.output import clock, console, tell
from orchestration.cli.remote import Server, ask, connected
from orchestration.cli.safety import safe
from orchestration.cli.times import moment
from orchestration.client.erasing import ErasureClient, forget_target
from orchestration.client.growth import caller
from orchestration.pb.submind.v1 import forgetting_pb2 as pb
from orchestration.schema.fields import words
from orchestration.schema.times import seconds_of

_LOOK = 0.5
_WITHIN = 600.0
_STATES, _KINDS = words(pb.ForgetState.DESCRIPTOR), words(pb.ScopeKind.DESCRIPTOR)

Person = Annotated[str, typer.Argument(metavar="PERSON", help="Any name of theirs; all that are known are meant.")]
Source = Annotated[str, typer.Option(metavar="NAME", help="Everything that came from this source.")]
Since = Annotated[str, typer.Option(metavar="TIME", help="Everything from this event time on.")]
Until = Annotated[str, typer.Option(metavar="TIME", help="Everything before this event time.")]
Perceived = Annotated[str, typer.Option("--perception", metavar="ID", help="One perception: p-…")]


def forget(
    at: Server,
    person: Person = "",
    source: Source = "",
    since: Since = "",
    until: Until = "",
    perception: Perceived = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether it is meant.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="What was asked for so far, and what came of it.")] = False,
    by: By = None,
    json: Json = False,
) -> None:
    """Forget everything of somebody, of a source or of a stretch of time, in every table; it cannot be undone."""
    if not (yes or dry_run or listed or sys.stdin.isatty()):
        raise Failure("this cannot be undone: say --yes where nobody can be asked, or --dry-run", MISUSED)
    target = None if listed else _target(person, source, since, until, perception)

    async def do() -> None:
        async with connected(at, within=_WITHIN) as mind:
            erasure = mind.erasure(by or caller())
            if target is None:
                tell(await erasure.forgotten(), None, _record, json=json)
            else:
                await _forget(erasure, target, dry_run=dry_run, yes=yes, json=json)

    asyncio.run(do())


async def _forget(erasure: ErasureClient, target: pb.ForgetTarget, *, dry_run: bool, yes: bool, json: bool) -> None:
    if dry_run or not yes:
        would = await erasure.forget(target, dry_run=True)
        names = f" of {', '.join(map(safe, would.names))}" if would.names else ""
        tell([would], None, lambda one: f"would be forgotten{names}: {_counts(one.record)}", json=json)
        if dry_run:
            return
        if not await asyncio.to_thread(typer.confirm, "Forget this for good?", err=True):
            raise Failure("nothing was forgotten", FAILED)
    record = (await erasure.forget(target)).record
    while record.state not in {pb.FORGET_STATE_DONE, pb.FORGET_STATE_REFUSED}:
        state = record.state
        console(error=True).print(f"{record.id} {_STATES[state]}")
        while record.state == state:
            await asyncio.sleep(_LOOK)
            record = next(one for one in await erasure.forgotten() if one.id == record.id)
    tell([record], None, _record, json=json)
    if record.state == pb.FORGET_STATE_REFUSED:
        raise Failure(f"nothing was forgotten: {record.reason}", FAILED)


def add(
    at: Server,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")],
    person: Person = "",
    source: Source = "",
    since: Since = "",
    until: Until = "",
    perception: Perceived = "",
    by: By = None,
    json: Json = False,
) -> None:
    """Have everything of somebody, of a source or of a stretch of time kept."""
    target = _target(person, source, since, until, perception)
    tell([ask(at, lambda mind: mind.erasure(by or caller()).hold(target, reason))], None, _hold, json=json)


def listing(at: Server, json: Json = False) -> None:
    """List the holds that stand, the latest first."""
    found = ask(at, lambda mind: mind.erasure().holds())
    tell(found, None, _hold, json=json, nothing="nothing is held")


def release(
    at: Server, name: Annotated[str, typer.Argument(metavar="ID", help="h-…")], by: By = None, json: Json = False
) -> None:
    """Let go of a hold."""
    released = ask(at, lambda mind: mind.erasure(by or caller()).release(name))
    tell([released], None, lambda one: f"released: {_hold(one)}", json=json)


def _target(person: str, source: str, since: str, until: str, perception: str) -> pb.ForgetTarget:
    if sum(map(bool, (person, source, since or until, perception))) != 1:
        raise Failure("say one of PERSON, --source, --perception, or --since and --until", MISUSED)
    ends = {name: moment(f"--{name}", text) if text else None for name, text in (("since", since), ("until", until))}
    return forget_target(person, source=source, perception=perception, **ends)


def _record(record: pb.ForgetRecord) -> str:
    head = f"{record.id} {clock(seconds_of(record.at))} {_STATES[record.state]} ({_KINDS[record.kind]}, by {record.by})"
    return f"{safe(head)} {safe(record.reason) or _counts(record)}"


def _counts(record: pb.ForgetRecord) -> str:
    """``3 perceptions, 2 traces; without the words: 1 entries``."""
    gone, left = (
        ", ".join(f"{count} {table}" for table, count in sorted(counts.items()))
        for counts in (record.removed, record.redacted)
    )
    return f"{gone or 'nothing'}{'; without the words: ' if left else ''}{left}"


def _hold(one: pb.LegalHold) -> str:
    return safe(f"{one.id} {_KINDS[one.kind]} “{one.title}”: {one.reason} — {one.by}, {clock(seconds_of(one.at))}")


hold = Group("What may not be forgotten, until it is released.", {"add": add, "list": listing, "release": release})
