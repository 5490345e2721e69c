"""``submind clone``: another mind that begins with all that one is, in the same store or elsewhere."""

from pathlib import Path
from typing import Annotated

import typer
import yaml
from pydantic import ValidationError

from environment.errors import MoveRefused
from environment.stores.backup.restored import Archived, Cloned
from environment.stores.opening import directory_of
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.moving.backing import RATE, SUFFIX, KeptIn, Named, Rate, take, taken_from
from orchestration.cli.moving.restoring import Restoring, configuration_in
from orchestration.cli.options import HERE, Json, MindFile, StoreAddress
from orchestration.loading import load_settings
from orchestration.settings import Settings

_OF_A_PLACE = ("store", "coordination", "gateway", "feed", "access", "client", "host", "front", "runtime", "telemetry")
"""Sections that say where a mind lives and who may come in: a clone has its own."""


class _Cloning(Restoring):
    """One run of the command, but for the snapshot."""

    kind = Cloned


def clone(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the clone: no mind of that name is there.")],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A snapshot to begin with. Default: one taken now.")
    ] = None,
    mind: MindFile = None,
    store: StoreAddress = None,
    data_dir: KeptIn = None,
    parent: Named = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|ADDRESS",
            help="Where the clone is kept. Default: the same cluster; for files, the directory NAME beside the mind's.",
        ),
    ] = None,
    rate: Rate = RATE,
    json: Json = False,
) -> None:
    """Begin another mind with all that one is, while that one runs and goes on undisturbed.

    The clone has the memory, layers, subminds, connections and settings of its parent as of one moment, knows whom it
    comes from (`submind status`), and shares nothing with it: name, terms of leading, tokens, audit log, drained nodes
    and addresses are its own. The command may be killed at any time: until the clone is whole no host starts it, and
    given again it goes on where it was. Exit code 1 when what arrived differs.
    """
    settings = taken_from(mind, store, parent)
    address = settings.store.address or str(data_dir or HERE)
    here = directory_of(address)
    place = to or (address if here is None else str(here.resolve().parent / name))
    own = load_settings(mind, flags={"NAME": ("mind.name", name), "--to": ("store.address", place)})
    if name == (Archived(file).manifest.mind if file else settings.mind.name):
        raise Failure(f"a clone has a name of its own, which tokens and leaders go by: {name} is its parent", MISUSED)
    beside = directory_of(place)
    restoring = _Cloning(own, place, beside or data_dir, json=json)
    taken = file or (beside.resolve().parent if beside else data_dir or Path()) / f".{name}.clone{SUFFIX}"
    if not taken.exists():
        take(settings, data_dir, taken, rate, json=json)
    elif file is None:
        restoring.note(f"going on with {taken}, which an earlier run took")
    try:
        code = restoring.all_of(taken, name)
    except MoveRefused:
        if file is None:
            taken.unlink()
        raise
    if code == 0 and beside is not None:
        restoring.note(_leave_settings(Archived(taken), name, beside / "mind.yaml"))
    if code == 0 and file is None:
        taken.unlink()
    raise typer.Exit(code)


def _leave_settings(source: Archived, name: str, path: Path) -> str:
    """Write what the parent worked with last, but for where it lives; what became of that, in a sentence."""
    last = configuration_in(source)
    try:
        found = Settings.model_validate_json(last.body if last else "{}")
    except ValidationError as error:
        return f"its parent's settings are of another version, and stay in the store: {error.error_count()} do not fit"
    values = found.model_dump(mode="json", exclude_defaults=True, exclude=set(_OF_A_PLACE))
    values["mind"] = {**values.get("mind", {}), "name": name}
    intake = found.gateway.intake.model_dump(mode="json", exclude_defaults=True)
    values |= {"gateway": {"intake": intake}} if intake else {}
    try:
        with path.open("x", encoding="utf-8") as file:
            yaml.safe_dump(values, file, sort_keys=False, allow_unicode=True)
    except FileExistsError:
        return f"{path} is there already, and stays as it is"
    return f"{path} has its settings: it runs with these and with addresses and tokens of its own"
