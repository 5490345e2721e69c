"""From settings to a substrate and an embedder: the one place that picks."""

import random
from collections.abc import Callable
from pathlib import Path

from actors.substrate.budget import Account, LedgerStore, Limits, Turns
from actors.substrate.cache import AnswerCache, CachingSubstrate, MemoryAnswers
from actors.substrate.embedding import WordLlamaEmbedder
from actors.substrate.extractive import ExtractiveSubstrate
from actors.substrate.ports import Depth, Embedder, Substrate
from actors.substrate.prompts import VERSION
from actors.substrate.settings import SubstrateSettings
from environment.messages import Instant

_LONGEST_KEY = 10_000


def build_substrate(
    settings: SubstrateSettings,
    now: Callable[[], Instant],
    cache: AnswerCache | None = None,
    *,
    account: str = "mind",
    shares: float = 1,
    ledgers: LedgerStore | None = None,
    in_turns: Turns | None = None,
    chance: random.Random | None = None,
    opened: Callable[[Account], None] | None = None,
) -> Substrate:
    """The substrate that ``settings`` name.

    ``now`` is the clock that budgets read: the wall's of a living mind, in a replay that of the history. ``account``
    names the process's ledger in ``ledgers``, and ``shares`` says how many processes the budget is divided among: the
    share of each cannot be exceeded, so the total cannot either. Those that have one ``account``, undivided, change it
    ``in_turns``. Without ``ledgers`` a restart forgets what was spent.
    ``opened`` is told the account, whose limits may then be changed. Raises ``ValueError`` for an unfit key file.
    """
    if settings.kind == "extractive":
        return ExtractiveSubstrate()
    from actors.substrate.openai import OpenAISubstrate  # noqa: PLC0415 - a mind without a server loads no HTTP client

    budget = Account(account, Limits.share(settings.budget, shares), now, ledgers, in_turns)
    if opened is not None:
        opened(budget)
    model = OpenAISubstrate(settings, read_key(settings), budget, chance or random.SystemRandom())

    def name_of(depth: Depth) -> str:
        return f"{settings.server.base_url} {model.model(depth).name} {settings.server.temperature}"

    answers = MemoryAnswers(settings.cache_rows) if cache is None else cache
    return CachingSubstrate(model, answers, name_of, VERSION)


def build_embedder(
    settings: SubstrateSettings,
    now: Callable[[], Instant] | None = None,
    cache: AnswerCache | None = None,
    *,
    account: str = "embedder",
    shares: float = 1,
    ledgers: LedgerStore | None = None,
    in_turns: Turns | None = None,
    chance: random.Random | None = None,
    opened: Callable[[Account], None] | None = None,
) -> Embedder:
    """The embedder that ``settings`` name; an embedder on a server needs a clock, as ``build_substrate`` does.

    Its ledger is one of the ``shares`` of the same budget: count embedders as well as substrates.
    """
    if settings.embedder.kind == "wordllama":
        return WordLlamaEmbedder(settings.embedder.max_chars)
    if settings.embedder.kind == "onnx":
        from actors.substrate.onnx import OnnxEmbedder  # noqa: PLC0415 - an extra

        return OnnxEmbedder(settings.embedder)
    if now is None:
        raise ValueError("an embedder on a server spends a budget: give it a clock as `now`")
    from actors.substrate.openai import OpenAIEmbedder  # noqa: PLC0415 - as above

    budget = Account(account, Limits.share(settings.budget, shares), now, ledgers, in_turns)
    if opened is not None:
        opened(budget)
    answers = MemoryAnswers(settings.cache_rows) if cache is None else cache
    return OpenAIEmbedder(settings, read_key(settings), budget, answers, chance or random.SystemRandom())


def read_key(settings: SubstrateSettings) -> str:
    """The key in ``server.api_key_file``; empty without one. Raises ``ValueError`` that names the file alone."""
    path: Path | None = settings.server.api_key_file
    if path is None:
        return ""
    try:
        key = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"substrate.server.api_key_file {path} cannot be read: {type(error).__name__}") from None
    if not key or len(key) > _LONGEST_KEY or not key.isprintable() or " " in key:
        raise ValueError(f"substrate.server.api_key_file {path} must hold one key on one line and nothing else")
    return key
