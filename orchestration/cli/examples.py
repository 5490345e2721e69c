"""What one types: an example or two for every command, shown at the end of its ``--help``."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "run": ("submind run --mind harbour/mind.yaml --data-dir harbour/data", "submind run --example"),
    "serve": (
        "submind serve --store 'cassandra://db1,db2/minds?dc=dc1' --coordination etcd://e1:2379 --mind mind.yaml",
    ),
    "perceive": (
        "submind perceive app.log --follow --source app",
        "journalctl -f -o short-iso | submind perceive - --source web-1",
    ),
    "watch": ("submind watch", "submind watch --from 1 --min-salience 0.7 --json | jq -r .text"),
    "replay": ("submind replay yesterday.jsonl --budget 20", "submind replay --data-dir mind-data --since 2026-03-03"),
    "evolve": ("submind evolve day.jsonl --labels day.csv --budget 24 --vary attention.worth=0.3..0.7",),
    "explain": ("submind explain 12",),
    "ask": ("submind ask 'who muted the pager?'", "submind ask 'what broke in hall 3?' 'and who was told?' --json"),
    "recall": ("submind recall 'what broke last Tuesday' --context", "submind recall compressor --source chat --json"),
    "remember": ("submind remember 'the spare key hangs behind the boiler'",),
    "mcp": ("submind mcp --token-file token", "submind mcp --http 127.0.0.1:8765"),
    "matters": ("submind matters", "submind matters --open --json | jq -r .title"),
    "matter": ("submind matter m-3f",),
    "digest": ("submind digest", "submind digest --since 2026-03-03"),
    "know": ("submind know Mags", "submind know 'cold room 2' --at 2026-03-03T12:00Z --json | jq .facts"),
    "believe": ("submind believe 'van 7' location",),
    "contradictions": ("submind contradictions --all",),
    "sleep": ("submind sleep -n 7",),
    "correct": ("submind correct 'van 7' location 'bay 3'", "submind correct Mags phone"),
    "goals": ("submind goals", "submind goals boiler --grant", "submind goals 'cold chain' --set --weight 0.6"),
    "mark": (
        "submind mark 12 --useful",
        "submind mark 12 --mute 2h --of template",
        "submind mark m-3f --settled",
        "submind mark 12 --remind 'tomorrow 9:00'",
        "submind mark 12 --undo",
    ),
    "marks": ("submind marks", "submind marks --json | jq -r .id"),
    "forget": (
        "submind forget 'Mags Okoro' --dry-run",
        "submind forget --source radio --yes --json",
        "submind forget --since 2026-03-03 --until 2026-03-04",
        "submind forget --list",
    ),
    "hold": ("submind hold add 'Mags Okoro' --reason 'case 12'",),
    "hold add": ("submind hold add --source radio --reason 'case 12'",),
    "hold list": ("submind hold list --json",),
    "hold release": ("submind hold release h-0123456789abcdef0123",),
    "search": ("submind search 'a smell of warm metal' --since 2026-03-03 -k 5",),
    "subminds": ("submind subminds", "submind subminds --json | jq -r .name"),
    "connections": ("submind connections --submind causes", "submind connections --submind causes --history --follow"),
    "status": ("submind status", "submind status --grpc mind.example.org:50051 --token-file token --ca ca.crt"),
    "nodes": ("submind nodes",),
    "drain": ("submind drain worker-2 --wait 300", "submind drain worker-2 --undo"),
    "restart": ("submind restart causes people",),
    "growth": ("submind growth --after 40", "submind growth --follow"),
    "freeze": ("submind freeze --reason 'too many births since noon'",),
    "thaw": ("submind thaw --reason 'found out why'",),
    "approve": ("submind approve g-12 --reason 'it has too much to do'",),
    "reject": ("submind reject g-12 --reason 'not today'",),
    "init": ("submind init harbour --name harbour",),
    "migrate": ("submind migrate --store 'cassandra://db1,db2/minds?dc=dc1' --check",),
    "configure": ("submind configure attention.per_hour=3 --coordination etcd://e1:2379", "submind configure --list"),
    "audit": ("submind audit --data-dir mind-data --refused --since 2026-03-03",),
    "token": ("submind token new web-1 --scope perceive --file tokens.yaml > web-1.token",),
    "token new": (
        "submind token new web-1 --scope perceive --expires 90d --file tokens.yaml > web-1.token",
        "submind token new page -s watch -s operate --file tokens.yaml",
    ),
    "token list": ("submind token list --file tokens.yaml",),
    "token revoke": ("submind token revoke web-1 --file tokens.yaml",),
    "backup": ("submind backup --to backups --data-dir mind-data --keep 7",),
    "snapshot": ("submind snapshot --to before-the-move.submind --data-dir mind-data",),
    "clone": ("submind clone twin --data-dir mind-data", "submind clone twin before-the-move.submind --to twin-data"),
    "diff": ("submind diff mind-data twin#twin", "submind diff before.submind after.submind --limit 5"),
    "merge": ("submind merge twin#twin --entity 'van 7' --dry-run",),
    "restore": (
        "submind restore backups/harbour.submind --check",
        "submind restore backups/harbour.submind --data-dir new-data",
    ),
    "doctor": ("submind doctor --mind mind.yaml --data-dir mind-data",),
}
"""Command, or command and what it is told to do, to lines for a shell."""


def shown(command: str) -> str | None:
    """The examples of a command as the end of its help; a line each."""
    lines = EXAMPLES.get(command)
    return None if lines is None else "\n\n".join((f"Example{'s' if len(lines) > 1 else ''}:", *lines))
