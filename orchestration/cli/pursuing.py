"""What a mind pursues: the goals and values that it has, and those that it proposes."""

from typing import Annotated

import typer
from rich.text import Text

from environment.goals import CAP, GoalAct, GoalLayer, StandingGoal
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.growing import By
from orchestration.cli.options import Json
from orchestration.cli.output import bar, clock, tell
from orchestration.cli.remote import Server, ask
from orchestration.cli.safety import safe
from orchestration.client.growth import caller
from orchestration.pb.submind.v1 import knowledge_pb2


def goals(
    at: Server,
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="Its id or its words; left out: list them.")] = "",
    grant: Annotated[bool, typer.Option("--grant", help="What is proposed.")] = False,
    refuse: Annotated[bool, typer.Option("--refuse", help="It is not proposed again.")] = False,
    set_: Annotated[bool, typer.Option("--set", help="Hold it, proposed or not.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Hold it no more.")] = False,
    weight: Annotated[float, typer.Option(min=0, max=CAP, help="With --set; 0: as it is, or 0.3.")] = 0.0,
    identity: Annotated[bool, typer.Option("--identity", help="With --set: a value, not a goal.")] = False,
    by: By = None,
    json: Json = False,
) -> None:
    """List values, goals and what is proposed for either; or grant, refuse, set or drop one."""
    wanted = {GoalAct.GRANT: grant, GoalAct.REFUSE: refuse, GoalAct.SET: set_, GoalAct.DROP: drop}
    acts = [act for act, given in wanted.items() if given]
    if len(acts) != bool(goal):
        raise Failure("name a goal and say one thing of it: --grant, --refuse, --set or --drop", MISUSED)
    if acts:
        layer = GoalLayer.IDENTITY if identity else GoalLayer.NONE
        more = {"layer": layer, "weight": weight, "by": by or caller()}
        found = [ask(at, lambda mind: mind.set_goal(goal, acts[0], **more))]
    else:
        found = ask(at, lambda mind: mind.goals())
    tell(found, knowledge_pb2.StandingGoal, _shown, json=json, nothing="nothing is pursued or proposed")


def _shown(one: StandingGoal) -> Text:
    line = Text(overflow="fold")
    if one.id:
        line.append(f"{one.id} ", style="dim").append(f"{bar(one.weight)} ", style="yellow")
    line.append(f"{one.layer.value if one.held else ''} ", style="green").append(safe(one.text), style="bold")
    if one.proposed is not GoalLayer.NONE:
        line.append(f" proposed: {one.proposed.value}", style="magenta")
    if one.evidence:
        kinds = ", ".join(sorted({signal.kind.value for signal in one.evidence}))
        span = f"{clock(one.evidence[0].at)} to {clock(one.evidence[-1].at)}"
        line.append(f"  {len(one.evidence)} days, {span} ({kinds})", style="dim")
    return line.append(f" — {safe(one.by)}", style="dim") if one.by else line
