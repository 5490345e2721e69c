"""What a running mind knows: of somebody or something, why, what is denied, what is right, what sleep did."""

from typing import Annotated

import typer
from rich.text import Text

from actors.knowledge.fact import Contradiction, Fact, FactStanding, SleepReport
from actors.knowledge.page import Belief, Neighbourhood
from environment.identity import perception_seq
from orchestration.cli.growing import By
from orchestration.cli.options import Json
from orchestration.cli.output import bar, clock, console, emit, tell
from orchestration.cli.remote import Server, ask
from orchestration.cli.safety import safe
from orchestration.cli.times import moment
from orchestration.client.growth import caller
from orchestration.pb.submind.v1 import knowledge_pb2, matters_pb2
from orchestration.schema.convert import encode

_STYLE = {FactStanding.DISPUTED: "red", FactStanding.WRONG: "dim strike"}
_OTHERS = 12
_SLEPT = ("gists", "merged", "faded", "contradictions", "rehearsed")

Name = Annotated[str, typer.Argument(metavar="ENTITY", help="Any of its names.")]


def know(
    at: Server,
    entity: Name,
    when: Annotated[str | None, typer.Option("--at", metavar="TIME", help="What was so then.")] = None,
    known: Annotated[str | None, typer.Option(metavar="TIME", help="Only what was learnt until then.")] = None,
    graph: Annotated[int, typer.Option(metavar="N", min=0, max=300, help="The N nearest instead, and how.")] = 0,
    json: Json = False,
) -> None:
    """Tell everything known of somebody or something: what is so, what was, who denies it, with whom it has to do."""
    if graph:
        _near(ask(at, lambda mind: mind.neighbourhood(entity, graph)), json=json)
        return
    then = moment("--at", when) if when else None
    learnt = moment("--known", known) if known else None
    page = ask(at, lambda mind: mind.know(entity, then, learnt))
    if json:
        emit(encode(knowledge_pb2.EntityPage, page))
        return
    out = console()
    also = f" ({', '.join(safe(one) for one in page.aliases)})" if page.aliases else ""
    head = Text(safe(page.name), style="bold").append(also, style="dim")
    out.print(head.append(f"  last {clock(page.last.time)} by {safe(page.last.source)}", style="dim"))
    for fact in (*page.facts, *page.others[:_OTHERS]):
        out.print(_told(fact, over=fact not in page.facts))
    for fact in (one for one in page.elsewhere if one.open):
        out.print(_told(fact, over=False, of=fact.subject))
    for loop in (*page.owes, *page.owed):
        word = "owes" if loop in page.owes else "waits for"
        out.print(Text(f"{word}, due {clock(loop.due)} ", style="magenta").append(safe(loop.text), style=""))
    if page.neighbours:
        near = ", ".join(f"{safe(one.name)} ({safe(one.kind)})" for one in page.neighbours[:8])
        out.print(Text(f"near: {near}", style="dim"))


def believe(
    at: Server,
    entity: Name,
    relation: Annotated[str, typer.Argument(metavar="RELATION", help="As `submind know` names it.")] = "",
    json: Json = False,
) -> None:
    """Tell why something is believed of an entity, down to what was perceived."""
    tell(ask(at, lambda mind: mind.believe(entity, relation)), knowledge_pb2.Belief, _believed, json=json)


def _believed(one: Belief) -> Text:
    shown = [_told(one.fact, over=not one.fact.open)]
    for part in one.evidence:
        line = Text(f"  {clock(part.perception.time)} ", style="cyan").append(
            f"[{safe(part.perception.source)}] ", style="green"
        )
        gone = f"{part.perception.id}{', not kept any more' if perception_seq(part.perception.id) else ''}"
        shown.append(line.append(safe(part.text) or gone, style=""))
    return Text("\n").join(shown)


def correct(
    at: Server,
    entity: Name,
    relation: Annotated[str, typer.Argument(metavar="RELATION", help="As `submind know` names it.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="What is right; left out: nothing said is.")] = "",
    by: By = None,
    json: Json = False,
) -> None:
    """Say what is right; what was held is kept as wrong, and contradictions about it are settled."""
    done = ask(at, lambda mind: mind.correct(entity, relation, value, by or caller()))
    said = f"{safe(entity)}: {safe(relation)} is {safe(value)}" if value else f"no {safe(relation)} of {safe(entity)}"
    shown = Text(f"{said}  (submind mark {done.id} --undo takes it back)")
    tell([done], matters_pb2.Mark, lambda _: shown, json=json)


def contradictions(
    at: Server, every: Annotated[bool, typer.Option("--all", help="Settled ones as well.")] = False, json: Json = False
) -> None:
    """List what sources deny each other, the latest first."""
    found = ask(at, lambda mind: mind.contradictions(settled=every))
    tell(found, knowledge_pb2.Contradiction, _denied, json=json, nothing="nothing is denied")


def _denied(one: Contradiction) -> Text:
    line = Text(f"{clock(one.opened)} ", style="cyan", overflow="fold")
    line.append(f"{safe(one.subject)}, {safe(one.relation)}: ", style="bold")
    line.append(" or ".join(safe(value) for value in one.values), style="green" if one.settled else "red")
    return line.append(f"  {safe(one.how)}", style="dim")


def _near(found: Neighbourhood, *, json: bool) -> None:
    if json:
        emit(encode(knowledge_pb2.Neighbourhood, found))
        return
    names = {one.id: safe(one.name) for one in found.entities}
    for edge in sorted(found.edges, key=lambda each: -each.strength):
        line = Text(f"{bar(edge.strength)} ", style="yellow", overflow="fold").append(names[edge.one], style="bold")
        line.append(f"  {safe(edge.kind)}  ", style="dim").append(names[edge.other], style="bold")
        console().print(line.append(f"  {clock(edge.used)}", style="dim"))


def sleep(
    at: Server,
    limit: Annotated[int, typer.Option("-n", min=1, max=1000, help="How many sleeps, the latest last.")] = 1,
    json: Json = False,
) -> None:
    """Tell what the mind made of its memory while it slept: gists, what was merged, faded, denied, rehearsed."""
    found = reversed(ask(at, lambda mind: mind.sleeps(limit)))
    tell(found, knowledge_pb2.SleepReport, _slept, json=json, nothing="it has not slept yet")


def _slept(one: SleepReport) -> Text:
    head = Text(f"{clock(one.at)} ", style="cyan").append("slept", style="bold")
    shown = [head.append(f"  {safe(one.reason)}, {one.perceptions} texts since {clock(one.since)}", style="dim")]
    for name in _SLEPT:
        part = getattr(one, name)
        if part.count:
            shown.append(Text(f"  {name}: {part.count}", style="bold"))
        for line in part.lines:
            said = Text("    ").append(f"{safe(line.entity)}: ", style="green")
            shown.append(said.append(safe(line.text)).append(f"  {safe(line.why)}", style="dim"))
    return Text("\n").join(shown)


def _told(fact: Fact, *, over: bool, of: str = "") -> Text:
    line = Text(f"{bar(fact.confidence)} ", style="yellow", overflow="fold")
    line.append(f"{safe(fact.relation)}{' of ' if of else ''}{safe(of)}: ", style="dim" if over else "")
    line.append(safe(fact.value), style=_STYLE.get(fact.standing, "dim" if over else "bold"))
    until = f" until {clock(fact.until)}" if fact.until is not None else ""
    line.append(f"  since {clock(fact.since)}{until}, {safe(fact.evidence[-1].source)}", style="dim")
    return line.append(f"  {fact.standing.value}", style="red") if fact.standing is not FactStanding.HELD else line
