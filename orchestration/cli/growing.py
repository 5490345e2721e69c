"""Who is born in a mind and who may be: freeze, thaw, approve, reject, growth."""

import asyncio
import re
from typing import Annotated

import typer
from rich.text import Text

from environment.population import GrowthEvent, GrowthKind
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import Json
from orchestration.cli.output import clock, console, emit, tell
from orchestration.cli.remote import Server, ask, connected
from orchestration.cli.safety import safe
from orchestration.client import MindClient
from orchestration.growth.admin import OrderOutcome, PopulationPage
from orchestration.pb.submind.v1 import growth_pb2 as pb
from orchestration.schema.convert import encode

Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why: it stands in the audit log.")]
By = Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who says so. Default: this user.")]
_ID = re.compile(r"(?:g-)?([1-9][0-9]{0,17})")
_STYLE = {
    GrowthKind.DIVIDED: "green",
    GrowthKind.RETIRED: "blue",
    GrowthKind.PROPOSED: "yellow",
    GrowthKind.REFUSED: "dim",
    GrowthKind.FROZEN: "red",
}
_NAMED = 6
"""Topics of an event that are named."""
_DOWN = "the mind process is down: {what} is written down, and holds when it is up again"


def freeze(at: Server, reason: Reason = "", by: By = None, json: Json = False) -> None:
    """Stop all growth at once: nobody is born or retires until `submind thaw`, over every restart."""
    outcome = ask(at, lambda mind: mind.growth(by).freeze(reason))
    _told(outcome, "growth is frozen", "growth was frozen already", "this", json=json)


def thaw(at: Server, reason: Reason = "", by: By = None, json: Json = False) -> None:
    """Let growth go on, within its bounds."""
    outcome = ask(at, lambda mind: mind.growth(by).thaw(reason))
    _told(outcome, "growth goes on", "growth was not frozen", "this", json=json)


def approve(
    at: Server,
    proposal: Annotated[str | None, typer.Argument(metavar="ID", help="A proposal that waits: g-12.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that wait now.")] = False,
    reason: Reason = "",
    by: By = None,
    json: Json = False,
) -> None:
    """Permit what a waiting proposal asks for, once; `submind growth` lists them."""
    if (proposal is None) is not everything:
        raise Failure("give the ID of a proposal that waits, or --all", MISUSED)
    wanted = None if proposal is None else _number(proposal)

    async def permit(mind: MindClient) -> list[OrderOutcome]:
        growth = mind.growth(by)
        if wanted is not None:
            return [await growth.approve(wanted, reason)]
        return [await growth.approve(event.seq, reason) for event in (await growth.population()).waiting]

    outcomes = ask(at, permit)
    for outcome in outcomes:
        _told(outcome, _about(outcome, "may now"), "", "the approval", json=json)
    if not outcomes:
        console(error=True).print("no proposal waits for an approval")


def reject(
    at: Server,
    proposal: Annotated[str, typer.Argument(metavar="ID", help="A proposal that waits: g-12.")],
    reason: Reason = "",
    by: By = None,
    json: Json = False,
) -> None:
    """Refuse a waiting proposal: its submind rests for a while."""
    wanted = _number(proposal)
    outcome = ask(at, lambda mind: mind.growth(by).reject(wanted, reason))
    _told(outcome, _about(outcome, "may not"), "", "this", json=json)


def growth(
    at: Server,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as it happens, until Ctrl-C.")] = False,
    after: Annotated[int, typer.Option(metavar="SEQ", min=0, help="Only events after this number.")] = 0,
    json: Json = False,
) -> None:
    """Show the population, what waits for an approval, and the audit log. With --json the log, an event a line."""
    if follow:
        asyncio.run(_follow(at, after, json=json))
        return
    events = ask(at, lambda mind: mind.growth().events(after))
    tell(events, pb.GrowthEvent, _event, json=json)
    population = ask(at, lambda mind: mind.growth().population())
    if json:
        emit(encode(pb.Population, population))
    else:
        _population(population)


async def _follow(at: Server, after: int, *, json: bool) -> None:
    async with connected(at) as mind:
        async for event in mind.growth().watch(after):
            tell([event], pb.GrowthEvent, _event, json=json)


def _number(name: str) -> int:
    match = _ID.fullmatch(name.strip())
    if match is None:
        raise Failure(f"{name}: a proposal is named as `submind growth` lists it, for example g-12", MISUSED)
    return int(match[1])


def _about(outcome: OrderOutcome, may: str) -> str:
    event = outcome.event
    return f"{event.submind} {may} {event.act} (g-{event.proposal})" if event is not None else ""


def _told(outcome: OrderOutcome, done: str, already: str, what: str, *, json: bool) -> None:
    """What came of an order; the mind process that is down is told of on standard error."""
    if json:
        emit(encode(pb.OrderOutcome, outcome))
    else:
        console().print(safe(done if outcome.event is not None else already))
    if not outcome.mind_runs:
        console(error=True).print(_DOWN.format(what=what))


def _event(event: GrowthEvent) -> Text:
    line = Text(f"{event.id:>6} ", style="dim")
    line.append(f"{clock(event.at)} ", style="cyan")
    line.append(f"{event.kind.value:<8} ", style=_STYLE.get(event.kind, ""))
    if event.submind:
        line.append(safe(event.submind), style="bold")
    if event.other:
        line.append(f" -> {safe(event.other)}")
    if event.kind in {GrowthKind.PROPOSED, GrowthKind.APPROVED, GrowthKind.REJECTED, GrowthKind.REFUSED}:
        line.append(f" {event.act}")
    if event.topics:
        more = f" and {len(event.topics) - _NAMED} more" if len(event.topics) > _NAMED else ""
        line.append(
            f" [{safe('; '.join(event.topics[:_NAMED]))}{more}]", style="green"
        )  # a label has commas of its own
    line.append(f" by {safe(event.by)}", style="dim")
    if event.reason:
        line.append(f": {safe(event.reason)}")
    return line


def _population(population: PopulationPage) -> None:
    out = console()
    born = sum(1 for member in population.members if member.living)
    out.print(
        f"{population.living} of at most {population.ceiling} subminds live, {born} of them born here; "
        f"{population.births} births in the last hour, {population.births_per_hour} at most"
    )
    if population.frozen is not None:
        why = f": {safe(population.frozen.reason)}" if population.frozen.reason else ""
        out.print(Text(f"frozen by {safe(population.frozen.by)}{why}", style="red"))
    for event in population.waiting:
        out.print(Text(f"{event.id} waits for an approval: {safe(event.submind)} wants to {event.act}", style="yellow"))
    if not population.mind_runs:
        console(error=True).print("the mind process is down: nobody is born until it is up again")
