"""``submind evolve``: settings bred by replay against what somebody says is worth telling; none is put to work."""

import asyncio
import csv
import math
import random
import statistics
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
import yaml

from actors.attention.pacing import Budget
from environment.marks import MARKS, MarkKind
from environment.messages import NewPerception
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.input.lines import Format
from orchestration.cli.options import HERE, MindFile
from orchestration.cli.output import console
from orchestration.cli.replaying import History, LoggedIn, ThoughtBudget, logged
from orchestration.cli.times import moment
from orchestration.loading import Layer, SettingsError, from_flags, load_settings, overlaid
from orchestration.settings import Settings
from orchestration.simulation.evolution import Gene, MomentLabel, Variant, breed, judged, ranked
from orchestration.simulation.replay import replay
from orchestration.store_factory import open_mind

_BRED_ON = 2 / 3
"""Share of the useful labels, the earlier ones, on which variants are bred; the rest is for the comparison."""
_LEAST = 3
_DROPPED = 0.05
"""Share of the lines that each seed leaves out: the noise of a day that might have been."""
_SURE = 2.0
"""Standard errors that a gain must be above."""
_Labels: TypeAlias = list[MomentLabel]


def evolve(
    vary: Annotated[list[str], typer.Option(metavar="PATH=LOW..HIGH", help="A number to vary; durations in seconds.")],
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="A history, as for submind replay.")] = None,
    labels: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Columns time or key; useful (yes, no), story.")
    ] = None,
    mind: MindFile = None,
    data_dir: LoggedIn = None,
    budget: ThoughtBudget = None,
    within: Annotated[float, typer.Option(min=0, metavar="SECONDS", help="Of a moment, a thought tells it.")] = 60.0,
    population: Annotated[int, typer.Option(min=2, max=1000, help="Variants in a generation.")] = 6,
    generations: Annotated[int, typer.Option(min=1, max=1000)] = 4,
    seeds: Annotated[int, typer.Option(min=2, max=100, help="Replays of each variant, and again to compare.")] = 3,
    minutes: Annotated[float, typer.Option(min=0, help="After so many no further variant is begun.")] = 30.0,
    seed: Annotated[int, typer.Option(metavar="S", help="The same seed breeds the same.")] = 0,
) -> None:
    """Breed settings by replay against what is labelled as worth telling; print the best as a piece of a mind.yaml.

    Without FILE, what the mind of --data-dir, or of the store of its settings, perceived; without --labels, what people
    marked there as useful or not. Variants are bred on the earlier two thirds of the labels; then the best and what is
    there now are compared on the rest, with other seeds, each of which leaves out some lines. Nothing is put to work.
    Exit code 1 where nothing was better beyond the noise.
    """
    settings = load_settings(mind)
    genes = [_gene(settings, each) for each in vary]
    if labels is None and file is not None:
        raise Failure("say what is worth telling: --labels CSV, or a mind with marks: --data-dir", MISUSED)
    if file is None:
        lines = asyncio.run(logged(settings, data_dir or HERE, -math.inf, math.inf))
    else:
        lines = list(History(settings, file, None, Format.AUTO).read())
    lines.sort(key=lambda one: one.time)
    bred_on, apart = _parted(_labels(labels, lines) if labels else asyncio.run(_marks(settings, data_dir or HERE)))
    end = time.monotonic() + 60 * minutes

    async def judge(variant: Variant, of: _Labels = bred_on, drawn: Iterable[int] = range(seeds)) -> list[float] | None:
        tried = _set_to(settings, genes, variant)
        return None if tried is None else [judged(await _told(tried, lines, budget, s), of, within) for s in drawn]

    async def bred() -> tuple[int, Variant, list[list[float]]]:
        scores = await breed(
            genes,
            judge,
            population=population,
            generations=generations,
            chance=random.Random(seed),  # noqa: S311 - no secret
            due=lambda: time.monotonic() >= end,
            told=lambda text: console(error=True).print(text, style="dim"),
        )
        best, others = ranked(scores)[0], range(seeds, 2 * seeds)
        pair = tuple(gene.now for gene in genes), best
        return len(scores), best, [await judge(each, apart, others) or [] for each in pair]

    count, best, pair = asyncio.run(bred())
    cut = ", stopped by --minutes" if time.monotonic() >= end else ""
    console().print(f"# the best of {count} variants{cut}; on labels kept apart, {seeds} other seeds:")
    better = _compared(*pair)
    console().print(yaml.safe_dump(_layer(genes, best).values, sort_keys=False).rstrip())
    raise typer.Exit(0 if better else 1)


def _compared(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether what came after is better than noise would have it, seed by seed; said with its figures."""
    for name, found in (("now", before), ("best", after)):
        console().print(f"# {name:<5} {statistics.fmean(found):.3f} ± {statistics.stdev(found):.3f}")
    gains = [then - now for then, now in zip(after, before, strict=True)]
    gain, error = statistics.fmean(gains), statistics.stdev(gains) / math.sqrt(len(gains))
    better = gain > _SURE * error
    verdict = "better" if better else "no better, as far as can be told from noise"
    console().print(f"# gain  {gain:+.3f} ± {error:.3f} (standard error): {verdict}")
    return better


async def _told(settings: Settings, lines: Sequence[NewPerception], budget: int | None, seed: int) -> list[Any]:
    """The stream over what a seed leaves of the history."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    kept = [one for one in lines if chance.random() >= _DROPPED]
    bound = Budget(budget, len(kept), kept[-1].time - kept[0].time) if budget and kept else None
    return [entry async for entry in replay(settings, kept, budget=bound, seed=seed)]


def _gene(settings: Settings, told: str) -> Gene:
    path, _, span = told.partition("=")
    now: Any = settings.model_dump()
    for name in path.split("."):
        now = now.get(name) if isinstance(now, dict) else None
    if isinstance(now, bool) or not isinstance(now, int | float):
        raise Failure(f"--vary {told}: there is no setting {path} that is a number", MISUSED)
    try:
        low, high = map(float, span.split(".."))
    except ValueError:
        low, high = 1.0, 0.0
    if not low < high:
        raise Failure(f"--vary {told}: write {path}=LOW..HIGH, the lower bound first", MISUSED)
    gene = Gene(path, float(now), low, high, isinstance(now, int))
    for bound in (low, high):  # what cannot be is said at once
        overlaid(settings, from_flags({f"--vary {told}": (path, gene.typed(gene.within(bound)))}))
    return gene


def _layer(genes: Sequence[Gene], variant: Variant) -> Layer:
    return from_flags({gene.path: (gene.path, gene.typed(value)) for gene, value in zip(genes, variant, strict=True)})


def _set_to(settings: Settings, genes: Sequence[Gene], variant: Variant) -> Settings | None:
    """The settings of a variant; None where they do not go together."""
    try:
        return overlaid(settings, _layer(genes, variant))
    except SettingsError:
        return None


def _labels(path: Path, lines: Sequence[NewPerception]) -> _Labels:
    keyed, found = {one.key: one for one in lines if one.key}, []
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if not {"time", "key"} & set(rows.fieldnames or ()):
            raise Failure(f"{path}: its first line names the columns, time or key among them", MISUSED)
        for row in rows:
            where, story, said = f"{path}, line {rows.line_num}:", row.get("story"), row.get("useful") or ""
            useful = {"yes": True, "no": False, "": story != ""}.get(said.strip().lower())
            if useful is None:
                raise Failure(f"{where} useful is yes or no, not {said!r}", MISUSED)
            if not row.get("key"):
                found.append(MomentLabel(moment(where, row.get("time") or ""), useful, story=story or ""))
            elif one := keyed.get(row["key"]):
                found.append(MomentLabel(one.time, useful, one.source, story or ""))
    return found


async def _marks(settings: Settings, data_dir: Path) -> _Labels:
    stores = await open_mind(settings, data_dir, "evolve")
    try:
        marks = (await MARKS.all_of(stores.collections)).values()
    finally:
        await stores.close()
    kinds = {MarkKind.USEFUL: True, MarkKind.NOT_USEFUL: False}
    return [
        MomentLabel(mark.perception.time, kinds[mark.kind], mark.perception.source)
        for mark in marks
        if mark.kind in kinds and not mark.undone and mark.perception
    ]


def _parted(labels: _Labels) -> tuple[_Labels, _Labels]:
    """Those to breed on and those kept apart, which are later."""
    useful = sorted(label.time for label in labels if label.useful)
    if len(useful) < _LEAST:
        raise Failure(f"{len(useful)} labels of what is useful are too few: {_LEAST} at least", MISUSED)
    cut = useful[math.floor(_BRED_ON * len(useful))]
    return [one for one in labels if one.time < cut], [one for one in labels if one.time >= cut]
