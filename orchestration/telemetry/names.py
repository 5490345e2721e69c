"""The names of a mind's metrics: one table, used by whoever counts and whoever shows.

A name stands without the ``submind_`` prefix that Prometheus shows it under. ``_total`` counts up from the start of its
actor; ``_seconds`` is a histogram, flattened in a report into ``NAME_sum``, ``NAME_count`` and ``NAME_bucket:LE``; any
other is a gauge. A name may carry one label value after a colon: ``limit_hits:mailbox``.

``HELP`` has those of actors, ``HOST`` those of a host and of the mind as a whole. ``docs/metrics.md`` is written from
both.
"""

from typing import Final, NamedTuple

from orchestration.faculties import faculties

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
WORDED: Final = "worded_total"
GENERATIONS_CACHED: Final = "generations_cached_total"
FALLBACKS: Final = "fallbacks_total"
FALLBACK_CAUSES: Final = "fallback_causes_total"
GENERATE_SECONDS: Final = "generate_seconds"
GENERATE_SECONDS_SUM: Final = "generate_seconds_sum"
GENERATE_SECONDS_COUNT: Final = "generate_seconds_count"
TOKENS_IN: Final = "tokens_in_total"
TOKENS_OUT: Final = "tokens_out_total"
COST: Final = "cost_total"
BUDGET_LEFT: Final = "budget_left"
BUDGET_LEFT_OF_ALL: Final = "budget_left_of_all"

READ_SECONDS: Final = "perception_to_read_seconds"
TRACE_SECONDS: Final = "perception_to_trace_seconds"
STREAM_SECONDS: Final = "perception_to_stream_seconds"
ACK_SECONDS: Final = "gateway_ack_seconds"
COMMIT_SECONDS: Final = "gateway_commit_seconds"

CONNECTIONS_LTP: Final = "connections_ltp"
CONNECTIONS_TRANSIENT: Final = "connections_transient"

LIMIT_HITS: Final = "limit_hits"

HELP: Final[dict[str, str]] = {
    "state_bytes": "Bytes of the state that it last saved: written whole each time.",
    "thoughts_total": "Thoughts made, and sent to the environment.",
    "reposts_total": "Times thoughts were sent again because the environment had not confirmed them.",
    "loops_ended_total": "Times thinking about the same again and again was ended.",
    "proposals_total": "Changes of attention proposed (by control) or taken up (by attention).",
    EVENTS_HANDLED: "Events handled by the core.",
    MESSAGES_SENT: "Events sent to other actors.",
    MESSAGES_RECEIVED: "Events received from other actors.",
    MESSAGES_DROPPED: "Events dropped by a full mailbox or outbox.",
    "messages_astray_total": "Events for somebody who does not live here.",
    "messages_doubled_total": "Events that arrived a second time and were not heard.",
    "messages_lost_total": "Events missing in a sender's numbers, as its receiver found.",
    "messages_unconfirmed_total": "Events that were on their way when a connection broke, as their sender found.",
    "held_back_total": "Times an actor without room held its senders back.",
    "peers_unreachable_total": "Times another process could not be reached.",
    MAILBOX_DEPTH: "Events waiting.",
    HANDLE_SECONDS: "Time to handle one event, without its writes.",
    STORE_COMMIT_SECONDS: "Time to commit the writes of one step.",
    STORE_COMMITS: "Commits made.",
    STORE_REFUSALS: "Commits the store refused, to be made again later.",
    RESTARTS: "Times the actor was started again.",
    GENERATIONS: "Requests answered by the substrate.",
    WORDED: "Requests for which a model found the words, or chose them, or that it judged: the others a rule did.",
    GENERATIONS_CACHED: "Requests answered without paying again.",
    FALLBACKS: "Requests answered by another substrate than the configured one.",
    FALLBACK_CAUSES: "The same by cause: server, budget, late, or what an answer made up: number, name, words.",
    GENERATE_SECONDS: "Time the substrate took to answer.",
    TOKENS_IN: "Tokens sent to the substrate.",
    TOKENS_OUT: "Tokens received from the substrate.",
    COST: "Cost of the substrate, in the currency of the configured prices.",
    BUDGET_LEFT: "Tokens left in the actor's share of the budget.",
    BUDGET_LEFT_OF_ALL: "Tokens left in the budget that all actors draw on, when this one last did.",
    "cache_hits": "Requests answered from memory since the process began.",
    "cache_shared": "Requests answered with what another actor had asked, since the process began.",
    CONNECTIONS_LTP: "Strong connections held.",
    CONNECTIONS_TRANSIENT: "Transient connections held.",
    "spans_waiting": "Spans that wait to be sent to the receiver of traces.",
    "spans_sent_total": "Spans that the receiver of traces has taken.",
    "spans_dropped_total": "Spans dropped because too many waited (telemetry.tracing.queue).",
    "spans_failed_total": "Spans given up because the receiver of traces did not take them.",
    "messages_not_taken_total": "Events of a kind that the actor does not take in.",
    LIMIT_HITS: "Times a configured limit was met.",
    **{name: told for faculty in faculties() for name, told in faculty.metrics.items()},
}
"""What each metric of an actor means, for people."""

HIGHEST: Final = frozenset(name for faculty in faculties() for name in faculty.highest)
"""Gauges of which the highest is shown where several actors are shown as one; others are added up."""

ALWAYS: Final[dict[str, tuple[str, ...]]] = {
    "": (
        EVENTS_HANDLED,
        MESSAGES_SENT,
        MESSAGES_RECEIVED,
        MESSAGES_DROPPED,
        "messages_lost_total",
        "messages_unconfirmed_total",
        "held_back_total",
        STORE_COMMITS,
        STORE_REFUSALS,
        RESTARTS,
        GENERATIONS,
        FALLBACKS,
        TOKENS_IN,
        TOKENS_OUT,
        COST,
    ),
    **{faculty.role: faculty.from_zero for faculty in faculties() if faculty.from_zero},
}
"""Counters shown as 0 before their first count, by role (empty: of all): what appears at 1 has, to Prometheus, not
increased."""


class Shown(NamedTuple):
    """How a figure of the host is shown."""

    name: str
    """After ``submind_``."""
    help: str


_INTAKE: Final = {
    "perceptions_acknowledged_total": "Perceptions that were answered, durable.",
    "perceptions_known_total": "... of these, those that were known by their key.",
    "intake_commits_total": "Commits of perceptions.",
    "intake_waiting": "Perceptions that wait for their commit.",
    "intake_waiting_bytes": "Bytes of perceptions that wait for their commit.",
}
_COORDINATION: Final = {
    "coordination_members": "Members of etcd that are configured.",
    "coordination_members_answering": "Members of etcd that answered lately.",
    "coordination_quorum": "1 while a member of etcd says that there is a quorum.",
    "coordination_leads": "1 while this host holds the lead in etcd.",
    "coordination_members_turned_from_total": "Times another member of etcd was asked because one did not answer.",
}

_FRONT: Final = {
    "front_connected": "1 while a front is connected with a leader that takes perceptions in.",
    "front_connections_total": "Connections made to a leader.",
    "front_leader_changes_total": "Times that another host was found to lead.",
    "front_batches_relayed_total": "Batches that the leader answered.",
    "front_batches_waiting": "Batches that wait to be sent to the leader.",
    "front_batches_under_way": "Batches that the leader has not answered yet.",
    "front_batches_resent_total": "Batches sent again after a connection broke.",
    "front_given_up_total": "Batches given up because no leader answered in time.",
}

HOST: Final[dict[str, Shown]] = {
    "up": Shown("mind_up", "1 while the mind runs, be it degraded."),
    "degraded": Shown("mind_degraded", "1 while an actor is restarting, quarantined or silent."),
    "uptime_seconds": Shown("mind_uptime_seconds", "Since the host began."),
    "perceptions_head": Shown("mind_perceptions_head", "Number of the last perception in the log."),
    "perceptions_per_minute": Shown("mind_perceptions_per_minute", "Perceptions taken in during the last minute."),
    "stream_head": Shown("mind_stream_head", "Number of the last entry of the stream."),
    "thoughts_per_hour": Shown("mind_thoughts_per_hour", "Entries of the stream in the last hour of mind time."),
    "traces_live": Shown("mind_traces_live", "Live traces."),
    "traces": Shown("mind_traces", "Traces, live or not."),
    "budget_left": Shown("mind_budget_left", "Tokens left in the budgets of all actors."),
    "actors": Shown("mind_actors", "Actors by state; silent are those with work waiting that no longer report."),
    "mind_up": Shown("mind_process_up", "1 while this host's mind process runs with all its actors born."),
    "mind_restarts_total": Shown("mind_restarts_total", "Mind processes replaced."),
    "actors_quarantined": Shown("mind_actors_quarantined", "Actors given up."),
    "subminds_unschedulable": Shown("mind_actors_unschedulable", "Actors for which no node has room."),
    "actors_outlived_total": Shown(
        "mind_actors_outlived_total",
        "Processes of actors heard of again after another had taken their place, since the mind process began.",
    ),
    "growth_granted_total": Shown("mind_growth_granted_total", "Births and ends granted since the mind process began."),
    "growth_waiting_total": Shown("mind_growth_waiting_total", "Births and ends told to wait for an approval."),
    "growth_refused_total": Shown("mind_growth_refused_total", "Births and ends refused since the mind process began."),
    "mind_leads": Shown("host_leads", "1 while this host leads the mind."),
    "mind_terms_total": Shown("host_terms_total", "Terms of leading that this host began."),
    "store_up": Shown("host_store_up", "1 unless the last append of perceptions was refused by the store."),
    "store_refused_appends_total": Shown(
        "host_store_refused_appends_total", "Appends of perceptions that were refused."
    ),
    "limit_hits": Shown("host_limit_hits_total", "Times a limit of gateway or intake was met."),
    "gateway_open": Shown("gateway_open", "Open calls, by kind."),
    "gateway_calls_total": Shown("gateway_calls_total", "Calls begun, by kind."),
    "gateway_refusals_total": Shown("gateway_refusals_total", "Calls that ended in an error, by reason."),
    "access_tokens": Shown("access_tokens", "Tokens that let callers in."),
    "access_streams": Shown("access_streams", "Open calls that end when what let them in does."),
    "access_files_refused_total": Shown(
        "access_files_refused_total", "Times a file of tokens or certificates was changed to something unusable."
    ),
    "access_refused_total": Shown("access_refused_total", "Callers refused, by reason."),
    "access_quota_refusals_total": Shown(
        "access_quota_refusals_total", "Calls beyond a quota of their token, by quota."
    ),
    "access_audit_lines_total": Shown("access_audit_lines_total", "Lines written into the audit log."),
    "access_keys_failures_total": Shown(
        "access_keys_failures_total", "Times the keys of tokens' issuer were not to be had."
    ),
    "access_certificate_expires": Shown(
        "access_certificate_expiry_timestamp_seconds",
        "When the certificate that is shown expires, in seconds since 1970.",
    ),
    ACK_SECONDS: Shown(ACK_SECONDS, "From the arrival of a batch of perceptions to its answer."),
    COMMIT_SECONDS: Shown(COMMIT_SECONDS, "Time to make a commit of perceptions durable."),
    "spans_waiting": Shown("host_spans_waiting", HELP["spans_waiting"]),
    "spans_sent_total": Shown("host_spans_sent_total", HELP["spans_sent_total"]),
    "spans_dropped_total": Shown("host_spans_dropped_total", HELP["spans_dropped_total"]),
    "spans_failed_total": Shown("host_spans_failed_total", HELP["spans_failed_total"]),
    **{name: Shown(name, told) for name, told in _FRONT.items()},
    **{name: Shown(f"gateway_{name}", told) for name, told in _INTAKE.items()},
    **{name: Shown(f"host_{name}", told) for name, told in _COORDINATION.items()},
}
"""How figures of the host, and of the mind as a whole, are shown."""

LABELS: Final = {
    "limit_hits": "limit",
    FALLBACK_CAUSES: "cause",
    "severity_total": "severity",
    "judgements_missing_total": "cause",
    "host_limit_hits_total": "limit",
    "mind_actors": "state",
    "gateway_open": "kind",
    "gateway_calls_total": "kind",
    "gateway_refusals_total": "reason",
    "access_refused_total": "reason",
    "access_quota_refusals_total": "quota",
}
"""What the value behind a colon is called, by metric; ``label`` for any other."""

_OF_PROCESSES: Final = ("mind_", "host_", "gateway_", "http_", "front_", "access_")

SHORT: Final = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
"""Upper bounds of a histogram's buckets, in seconds, for what should take milliseconds."""
LONG: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 3600.0)
"""Upper bounds of a histogram's buckets, in seconds, for what may wait."""
BUCKETS: Final = dict.fromkeys((READ_SECONDS, TRACE_SECONDS, STREAM_SECONDS, GENERATE_SECONDS), LONG)
"""Buckets of histograms that do not have those of ``SHORT``."""


def shown(name: str) -> Shown:
    """How a figure of the host is shown, also one that ``HOST`` does not have."""
    if name in HOST:
        return HOST[name]
    return Shown(name if name.startswith(_OF_PROCESSES) else f"host_{name}", f"{name}, as the host tells it.")


def limit_hit(limit: str) -> str:
    """The name under which hits of ``limit`` are counted."""
    return f"{LIMIT_HITS}:{limit}"


def limit_of(metric: str) -> str | None:
    """The limit that ``metric`` counts hits of; None when it counts something else."""
    prefix, colon, limit = metric.partition(":")
    return limit if colon and prefix in {LIMIT_HITS, f"{LIMIT_HITS}_total"} else None
