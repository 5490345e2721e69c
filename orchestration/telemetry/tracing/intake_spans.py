"""Where a trace begins: a perception is accepted."""

from dataclasses import replace

from environment.identity import perception_id
from environment.messages import Receipts
from orchestration.telemetry.tracing.ids import CallerSpan, span_id
from orchestration.telemetry.tracing.spans import MOST_LINKS, Kind, Recorder, Span, Value

_SECOND = 1_000_000_000


class IntakeSpans:
    """The first spans of every traced perception: ``accept``, from its arrival to its answer, and ``commit`` in it.

    A caller that sent a sampled ``traceparent`` gets a span ``take in`` in its own trace. The traces of a mind are
    their own, since a thought has many perceptions; the two are linked both ways. A front, whose batches the leader
    accepts, adds ``relay`` within the leader's ``accept``, and has ``hand on`` in the caller's trace, within which the
    leader takes in: the id of that follows from the receipts, which both have.
    """

    def __init__(self, recorder: Recorder, *, relays: bool = False) -> None:
        """``relays``: of a front."""
        self._recorder = recorder
        self._relays = relays

    def accepted(self, receipts: Receipts, caller: CallerSpan | None, waited: float, committing: float) -> None:
        """A batch was answered just now, ``waited`` seconds after it came; its commit took ``committing`` seconds."""
        end = self._recorder.clock()
        start, commit = end - int(waited * _SECOND), end - int(committing * _SECOND)
        request = _request(caller, receipts, "hand on" if self._relays else "take in") if caller is not None else None
        begun: list[tuple[int, int]] = []
        new = receipts.count - len(receipts.known)
        for seq in range(receipts.first, receipts.first + new):
            name = perception_id(seq)
            trace = self._recorder.ids.traced(name)
            if trace is None:
                continue
            told: dict[str, Value] = {"submind.perception": name, "submind.batch": receipts.count}
            accept = span_id(trace, "accept", name)
            links = (request,) if request is not None else ()
            if self._relays:
                mark = span_id(trace, "relay", name)
                self._recorder.record(Span("relay", trace, mark, accept, start, end, Kind.CLIENT, told, links))
            else:
                self._recorder.record(Span("accept", trace, accept, None, start, end, Kind.SERVER, told, links))
                mark = span_id(trace, "commit", name)
                self._recorder.record(Span("commit", trace, mark, accept, commit, end, Kind.CLIENT, told))
            begun.append((trace, accept))
        if caller is not None and caller.sampled and request is not None:
            asked: dict[str, Value] = {"submind.batch": receipts.count, "submind.known": len(receipts.known)}
            name, above = "hand on" if self._relays else "take in", caller.span
            if caller.relayed:
                _, above = _request(caller, receipts, "hand on")
            span = Span(name, caller.trace, request[1], above, start, end, Kind.SERVER, asked)
            self._recorder.record(replace(span, links=tuple(begun[:MOST_LINKS])))


def _request(caller: CallerSpan, receipts: Receipts, name: str) -> tuple[int, int]:
    """The span of a request in the trace of who made it; the caller's own span where that is not recorded."""
    if not caller.sampled:
        return caller.trace, caller.span
    known = ",".join(str(seq) for seq in receipts.known.values())
    return caller.trace, span_id(caller.trace, name, f"{caller.span}", f"{receipts.first}", known)
