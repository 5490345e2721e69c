"""The follower of matters declares itself."""

from actors.core import Core
from actors.effects import Note
from actors.events import Broadcast, Marked, Posted, Salient
from actors.faculty import BuildContext, Faculty
from actors.matters.settings import MattersSettings
from actors.names import MATTERS
from actors.substrate.settings import SubstrateSettings


async def _build(context: BuildContext) -> Core:
    from actors.matters import matter
    from actors.matters.core import MattersCore

    kept, unread = context.stores.collections, list[str]()
    matters = await matter.MATTERS.all_of(kept, unread=unread)
    loops = await matter.LOOPS.all_of(kept, unread=unread)
    if unread:  # better forgetful than dead: what goes on is found anew
        context.note(
            Note("matters_not_read", "warning", {"count": len(unread), "reason": "written by another version"})
        )
    model = context.section(SubstrateSettings).has_model
    return MattersCore(context.name, context.dim, matters, loops, context.section(MattersSettings), model=model)


FACULTY = Faculty(
    role=MATTERS,
    about="what is going on, until it is settled",
    build=_build,
    sections={"matters": MattersSettings, "substrate": SubstrateSettings},
    accepts=frozenset({Broadcast, Marked, Posted, Salient}),
    names=(MATTERS,),
    always=True,
    collections=frozenset({"matters", "loops"}),
    metrics={
        "matters_begun_total": "Matters that began.",
        "matters_merged_total": "Matters that turned out to be another one.",
        "matters_split_total": "Matters of which a part turned out to be another one.",
        "matters_settled_total": "Matters that a line settled, and that was said.",
        "matters_summed_total": "Summaries of matters that a model gave.",
        "matters_open": "Matters followed that are not settled.",
        "loops_opened_total": "Promises, requests and deadlines noticed.",
        "loops_closed_total": "Of these, how many a later line closed.",
        "loops_open": "Open loops followed.",
        "reminders_total": "Reminders of what falls due or was missed.",
    },
    from_zero=("matters_begun_total", "reminders_total"),
    tunable={
        (
            "matters.join",
            "matters.merge",
            "matters.lift",
            "matters.rest",
            "matters.notice",
            "matters.reminders_per_hour",
            "matters.summaries_per_hour",
        ): ("compared with one line or one loop at a time; what was joined or said stays so"),
    },
    place="apart",
    rank=4,
)
