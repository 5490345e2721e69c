"""``submind doctor``: what a mind needs on this machine, each fault with its fix."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from orchestration.cli import options
from orchestration.cli.doctor import checks
from orchestration.cli.doctor.checks import Finding, State
from orchestration.cli.doctor.clusters import clusters
from orchestration.cli.output import console, emit
from orchestration.cli.safety import safe
from orchestration.loading import SettingsError, load_settings
from orchestration.settings import Settings

_MARKS = {State.GOOD: ("✓", "green"), State.DOUBTFUL: ("!", "yellow"), State.BAD: ("✗", "bold red")}


def doctor(
    mind: options.MindFile = None,
    data_dir: options.DataDir = options.HERE,
    store: options.StoreAddress = None,
    coordination: options.CoordinationAddress = None,
    grpc: options.Grpc = None,
    http: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="The page.")] = None,
    token_file: options.TokenFile = None,
    ca: options.Ca = None,
    cert: options.Cert = None,
    key: options.Key = None,
    json: options.Json = False,
) -> None:
    """Check what a mind needs on this machine. Exit code 1 when something keeps it from running."""
    flags: dict[str, tuple[str, object]] = {
        "--store": ("store.address", store),
        "--coordination": ("coordination.address", coordination),
        "--grpc": ("gateway.listen", grpc),
        "--http": ("feed.listen", http),
        "--token-file": ("gateway.token_file", token_file),
        "--ca": ("client.ca_file", ca),
        "--cert": ("client.cert_file", cert),
        "--key": ("client.key_file", key),
    }
    findings = list(checks.machine())
    try:
        settings = load_settings(mind, flags=flags)
        findings.append(Finding("settings", State.GOOD, str(mind) if mind else "defaults and environment"))
    except SettingsError as error:
        settings = Settings()
        findings += [Finding("settings", State.BAD, problem, "correct that place") for problem in error.problems]
    findings += checks.embedder(settings)
    findings += checks.place(data_dir)
    findings += asyncio.run(clusters(settings))
    status, running = asyncio.run(checks.server(_showing(token_file, settings)))
    findings += checks.ports(settings, running=running)
    findings.append(status)
    for finding in findings:
        _show(finding, json=json)
    raise typer.Exit(1 if any(finding.state is State.BAD for finding in findings) else 0)


def _showing(token_file: Path | None, settings: Settings) -> Settings:
    """The settings to call a mind that runs with: what stands on the command line is shown, whatever a file names."""
    if token_file is None:
        return settings
    return settings.model_copy(update={"client": settings.client.model_copy(update={"token_file": token_file})})


def _show(finding: Finding, *, json: bool) -> None:
    if json:
        emit({"check": finding.check, "state": finding.state.value, "found": finding.found, "fix": finding.fix})
        return
    mark, style = _MARKS[finding.state]
    line = Text.assemble((mark, style), f" {finding.check:<10} ", safe(finding.found))
    if finding.fix:
        line.append(f"\n  {'':<10} → {safe(finding.fix)}", style="bold" if finding.state is State.BAD else "")
    console().print(line)
