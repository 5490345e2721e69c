"""Where a mind lives: nodes, drain, restart."""

import asyncio
from typing import Annotated

import typer
from rich.text import Text

from environment.messages import SubmindReport, SubmindState
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import Json
from orchestration.cli.output import console, rows, tell
from orchestration.cli.remote import Server, ask, connected
from orchestration.cli.safety import safe
from orchestration.pb.submind.v1.nodes_pb2 import Node

_LOOK = 0.5


def nodes(at: Server, json: Json = False) -> None:
    """List the nodes of the Ray cluster that the mind lives on, and who lives where."""
    found, unschedulable = ask(at, lambda mind: mind.nodes().listed())
    columns, nothing = "node id address state >taken >others >of +who", "no nodes: the mind has a Ray of its own"
    rows(found, columns, _row, lambda node: node, json=json, nothing=f"{nothing} on one machine, or does not run")
    left = [{"unschedulable": safe(name), "reason": safe(why)} for name, why in unschedulable.items()]
    tell(left, None, lambda one: Text("  ! {unschedulable} has no place: {reason}".format(**one), "yellow"), json=json)


def drain(
    at: Server,
    node: Annotated[str, typer.Argument(metavar="NODE", help="Name, address, id or its beginning.")],
    undo: Annotated[bool, typer.Option("--undo", help="Let it take subminds again.")] = False,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="How long to wait until nobody is left there.")
    ] = 120.0,
) -> None:
    """Have a node give up its subminds without loss and take no others, until it is gone or --undo.

    Exit code 1 when somebody is left there in the end, because the others have no room.
    """
    left = asyncio.run(_drain(at, node, undo=undo, wait=wait))
    if left:
        raise Failure(f"still there: {', '.join(left)}; `submind nodes` shows where there is room")
    console().print(f"{safe(node)} takes subminds again" if undo else f"{safe(node)} is empty")


def restart(
    at: Server,
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Who. Default: everybody.")] = None,
) -> None:
    """Have subminds save, end and live on in new processes, one after the other, while the mind goes on."""
    asyncio.run(_restart(at, names or []))


async def _drain(at: Server, node: str, *, undo: bool, wait: float) -> list[str]:
    async with connected(at) as client:
        await client.nodes().drain(node, undo=undo)
        until = asyncio.get_running_loop().time() + wait
        while not undo:
            found, _ = await client.nodes().listed()
            left = next((list(one.actors) for one in found if one.drained and _means(one, node)), [])
            if not left or asyncio.get_running_loop().time() > until:
                return left
            await asyncio.sleep(_LOOK)
    return []


async def _restart(at: Server, names: list[str]) -> None:
    async with connected(at) as client:
        living = [report.name for report in await client.subminds() if not _is_gone(report)]
        unknown = [name for name in names if name not in living]
        if unknown:
            raise Failure(f"nobody alive is called {', '.join(unknown)}; there are: {', '.join(living)}", MISUSED)
        renewed: set[str] = set()
        for name in names or living:
            if name not in renewed:
                together = await client.nodes().restart(name)
                renewed |= set(together)
                console().print(f"{safe(', '.join(together))}: renewed")


def _is_gone(report: SubmindReport) -> bool:
    """Whether nobody is to be renewed: one that stopped without a reason is only moving."""
    stopped = report.state is SubmindState.STOPPED and bool(report.reason)
    return stopped or report.state is SubmindState.QUARANTINED


def _means(node: Node, wanted: str) -> bool:
    return wanted in {node.name, node.address} or node.id.startswith(wanted)


def _row(node: Node) -> tuple[str | Text, ...]:
    place, figures = (node.id[:8], safe(node.address)), (node.taken, node.others, node.total)
    shown = (f"{figure:g}" for figure in figures)
    return Text(safe(node.name), style="bold"), *place, _state(node), *shown, safe(", ".join(node.actors))


def _state(node: Node) -> Text:
    if node.barred:
        return Text(f"barred: {safe(node.barred)}", style="red")
    return Text("drained", style="yellow") if node.drained else Text("takes subminds", style="green")
