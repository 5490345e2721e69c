"""The names of a mind's metrics: one table, used by whoever counts and whoever shows.

A name stands without the ``submind_`` prefix that Prometheus shows it under. ``_total`` counts up from the start of its
actor; ``_seconds`` is a histogram, flattened in a report into ``NAME_sum``, ``NAME_count`` and ``NAME_bucket:LE``; any
other is a gauge. A name may carry one label value after a colon: ``limit_hits:mailbox``.
"""

from __future__ import annotations

from typing import Final

PERCEPTIONS_PROCESSED: Final = "perceptions_processed_total"
TRACES_POSTED: Final = "traces_posted_total"
TRACES_REVISED: Final = "traces_revised_total"
TRACES_REINFORCED: Final = "traces_reinforced_total"
TRACES_RETIRED: Final = "traces_retired_total"
TRACES_LIVE: Final = "traces_live"
CRAWLS: Final = "crawls_total"
THOUGHTS_CONSCIOUS: Final = "thoughts_conscious_total"
SEGUES: Final = "segues_total"
ATTENTION_THRESHOLD: Final = "attention_threshold"
WORKING_MEMORY: Final = "working_memory"

EVENTS_HANDLED: Final = "events_handled_total"
MESSAGES_SENT: Final = "messages_sent_total"
MESSAGES_RECEIVED: Final = "messages_received_total"
MESSAGES_DROPPED: Final = "messages_dropped_total"
MAILBOX_DEPTH: Final = "mailbox_depth"
HANDLE_SECONDS: Final = "handle_seconds"
STORE_COMMIT_SECONDS: Final = "store_commit_seconds"
STORE_COMMITS: Final = "store_commits_total"
STORE_REFUSALS: Final = "store_refusals_total"
RESTARTS: Final = "restarts_total"

GENERATIONS: Final = "generations_total"
GENERATIONS_CACHED: Final = "generations_cached_total"
FALLBACKS: Final = "fallbacks_total"
GENERATE_SECONDS: Final = "generate_seconds"
GENERATE_SECONDS_SUM: Final = "generate_seconds_sum"
GENERATE_SECONDS_COUNT: Final = "generate_seconds_count"
TOKENS_IN: Final = "tokens_in_total"
TOKENS_OUT: Final = "tokens_out_total"
COST: Final = "cost_total"
BUDGET_LEFT: Final = "budget_left"

CONNECTIONS_LTP: Final = "connections_ltp"
CONNECTIONS_TRANSIENT: Final = "connections_transient"

LIMIT_HITS: Final = "limit_hits"

HELP: Final[dict[str, str]] = {
    PERCEPTIONS_PROCESSED: "Perceptions a perceptual submind has taken from the log.",
    TRACES_POSTED: "Traces made durable.",
    TRACES_REVISED: "Revisions of traces made durable.",
    TRACES_REINFORCED: "Reinforcements that raised a trace.",
    TRACES_RETIRED: "Traces that sank below the floor.",
    TRACES_LIVE: "Traces above the floor.",
    CRAWLS: "Crawls answered.",
    THOUGHTS_CONSCIOUS: "Thoughts appended to the stream.",
    SEGUES: "Segues appended to the stream.",
    ATTENTION_THRESHOLD: "Percentile among winners from which a candidate becomes conscious, 0..1.",
    WORKING_MEMORY: "Slots of working memory in use.",
    EVENTS_HANDLED: "Events handled by the core.",
    MESSAGES_SENT: "Events sent to other actors.",
    MESSAGES_RECEIVED: "Events received from other actors.",
    MESSAGES_DROPPED: "Events dropped by a full mailbox or outbox.",
    MAILBOX_DEPTH: "Events waiting.",
    HANDLE_SECONDS: "Time to handle one event, without its writes.",
    STORE_COMMIT_SECONDS: "Time to commit the writes of one step.",
    STORE_COMMITS: "Commits made.",
    STORE_REFUSALS: "Commits the store refused, to be made again later.",
    RESTARTS: "Times the actor was started again.",
    GENERATIONS: "Requests answered by the substrate.",
    GENERATIONS_CACHED: "Requests answered without paying again.",
    FALLBACKS: "Requests answered by another substrate than the configured one.",
    GENERATE_SECONDS: "Time the substrate took to answer.",
    TOKENS_IN: "Tokens sent to the substrate.",
    TOKENS_OUT: "Tokens received from the substrate.",
    COST: "Cost of the substrate, in the currency of the configured prices.",
    BUDGET_LEFT: "Tokens left in the budget.",
    CONNECTIONS_LTP: "Strong connections held.",
    CONNECTIONS_TRANSIENT: "Transient connections held.",
    LIMIT_HITS: "Times a configured limit was met.",
}
"""What each metric means, for people."""


def limit_hit(limit: str) -> str:
    """The name under which hits of ``limit`` are counted."""
    return f"{LIMIT_HITS}:{limit}"


def limit_of(metric: str) -> str | None:
    """The limit that ``metric`` counts hits of; None when it counts something else."""
    prefix, colon, limit = metric.partition(":")
    return limit if colon and prefix in {LIMIT_HITS, f"{LIMIT_HITS}_total"} else None
