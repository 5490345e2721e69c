"""The mind's state as JSON: stream, lineage, search, traces, subminds, connections, status."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from environment.messages import ChangeKind, Connection, Instant, ThoughtKind
from environment.search import SearchFilters
from orchestration.feed import answers
from orchestration.feed.answers import many, one, refusals
from orchestration.feed.context import FeedContext
from orchestration.feed.problems import invalid
from orchestration.gateway.errors import Unknown
from orchestration.view import json, shapes
from orchestration.view.changes import ChangeFilter

Id = Annotated[str, Path(min_length=1, max_length=64)]
Topic = Annotated[str, Query(max_length=256, description="Only of this topic: its key, or part of its label.")]
Kinds = Annotated[list[ChangeKind], Query(description="Only these kinds; may be given several times.")]
PageSize = Annotated[int, Query(ge=0, description="Most in the page; 0, or more than are given: as many as are given.")]
PageToken = Annotated[str, Query(max_length=4096, description="`next_page_token` of the page before.")]
Owner = Annotated[str | None, Query(max_length=256, description="Only this submind's.")]


def reads(feed: FeedContext) -> APIRouter:
    """The routes that only read."""
    router = APIRouter(prefix="/v1")
    _stream(router, feed)
    _environment(router, feed)
    _mind(router, feed)
    return router


def _stream(router: APIRouter, feed: FeedContext) -> None:
    page = feed.settings.page

    @router.get("/stream", tags=["stream"], response_model=answers.Entries, responses=refusals(422))
    async def stream(
        first: Annotated[int | None, Query(alias="from", ge=1, le=2**63 - 1, description="The first number.")] = None,
        limit: Annotated[int, Query(ge=1, le=page, description="Most entries.")] = min(100, page),
    ) -> Response:
        """The stream of consciousness from a number on, in order; without ``from`` its newest entries."""
        log = feed.stores.stream
        head = await log.head()
        entries = await log.read(max(1, head - limit + 1) if first is None else first, limit)
        return await many("entries", entries, json.entry_json, head=max([head, *(entry.seq for entry in entries[-1:])]))

    @router.get(
        "/explain/{id}",
        tags=["stream"],
        response_model=shapes.NodeShape,
        response_model_exclude_none=True,
        responses=refusals(404, 422),
    )
    async def explain(id: Id) -> Response:  # noqa: A002 - the name in the path
        """The lineage of an entry (by number or id), a trace or a perception, down to the perceptions behind it."""
        return one(json.explanation_json(await feed.view.explain(id)))


def _environment(router: APIRouter, feed: FeedContext) -> None:
    settings = feed.view.settings

    @router.get("/search", tags=["environment"], response_model=answers.Hits, responses=refusals(422))
    async def search(
        q: Annotated[str, Query(min_length=1, max_length=feed.settings.query_chars, description="What to look for.")],
        k: Annotated[int, Query(ge=1, le=settings.search_k, description="Most hits.")] = 10,
        source: Annotated[str | None, Query(max_length=256, description="Rests on a perception of it.")] = None,
        author: Annotated[str | None, Query(max_length=256, description="One of its authors.")] = None,
        kind: Annotated[ThoughtKind | None, Query(description="Where it came from.")] = None,
        since: Annotated[str | None, Query(max_length=64, description="Event time at or after (RFC 3339).")] = None,
        until: Annotated[str | None, Query(max_length=64, description="Event time before (RFC 3339).")] = None,
        min_salience: Annotated[float, Query(ge=0, le=1, description="Salience now, at least.")] = 0.0,
        live: Annotated[bool, Query(description="Leave out what sank below the floor.")] = True,
    ) -> Response:
        """Traces near a text in meaning, nearest first. What sank below the floor is no longer in the index."""
        filters = SearchFilters(
            source=source,
            author=author,
            kind=kind,
            since=_time("since", since),
            until=_time("until", until),
            min_salience=min_salience,
            live_only=live,
        )
        hits = await feed.view.search(q, k, filters)
        now = feed.view.now()
        return await many("hits", hits, lambda hit: json.hit_json(hit, now))

    @router.get("/traces", tags=["environment"], response_model=answers.Traces, responses=refusals(422))
    async def traces(
        limit: Annotated[int, Query(ge=1, le=settings.live_limit, description="Most traces.")] = 100,
    ) -> Response:
        """The live traces that are most salient now."""
        live = await feed.view.live(limit)
        now = feed.view.now()
        return await many("traces", [trace for trace, _ in live], lambda trace: json.trace_json(trace, now))

    @router.get("/traces/{id}", tags=["environment"], response_model=answers.Revisions, responses=refusals(404, 422))
    async def trace(id: Id) -> Response:  # noqa: A002 - the name in the path
        """A trace with all its revisions."""
        revisions = await feed.view.trace(id)
        if not revisions:
            raise Unknown("trace", id)
        now = feed.view.now()
        return await many("revisions", revisions, lambda each: json.trace_json(each, now))


def _mind(router: APIRouter, feed: FeedContext) -> None:
    @router.get("/subminds", tags=["mind"], response_model=answers.Subminds, responses=refusals(422))
    async def subminds(page_size: PageSize = 0, page_token: PageToken = "") -> Response:
        """What each actor of the mind last said of itself, by name, page by page with `next_page_token`."""
        try:
            page = await feed.view.subminds_page(page_size, page_token)
        except ValueError as error:
            raise invalid("page_token", str(error)) from None
        return await many("subminds", page.items, json.report_json, next_page_token=page.next)

    @router.get("/connections", tags=["mind"], response_model=answers.Connections, responses=refusals(422))
    async def connections(
        owner: Owner = None,
        limit: Annotated[int | None, Query(ge=1, description="The strongest so many, all in one answer.")] = None,
        history: Annotated[bool, Query(description="With the outcomes of the latest uses of each.")] = True,
        page_size: PageSize = 0,
        page_token: PageToken = "",
    ) -> Response:
        """The registries: topic to peer. With `limit` the strongest; else page by page with `next_page_token`.

        Pages go by owner, topic and peer; within a page the strongest come first.
        """
        form = json.connection_json if history else _without_history
        if limit is not None:
            found = await feed.view.connections(owner)
            return await many("connections", found[:limit], form, total=len(found), next_page_token="")
        try:
            page = await feed.view.connections_page(owner or "", page_size, page_token)
        except ValueError as error:
            raise invalid("page_token", str(error)) from None
        return await many("connections", page.items, form, next_page_token=page.next)

    @router.get("/connections/history", tags=["mind"], response_model=answers.Changes, responses=refusals(422))
    async def history(
        owner: Owner = None,
        topic: Topic = "",
        kind: Kinds = [],  # noqa: B006
        since: Annotated[str | None, Query(max_length=64, description="Mind time at or after (RFC 3339).")] = None,
        before: Annotated[str, Query(max_length=1024, description="`older` of the page before.")] = "",
        limit: Annotated[int, Query(ge=1, le=feed.view.settings.history_limit, description="Most changes.")] = 100,
    ) -> Response:
        """What happened to connections, newest first, with the reasons; page by page with `older`."""
        wants = ChangeFilter(owner or "", topic, frozenset(kind), _time("since", since))
        try:
            page = await feed.view.changes(wants, limit, before)
        except ValueError as error:
            raise invalid("before", str(error)) from None
        return await many("changes", page.changes, json.change_json, older=page.older)

    @router.get("/status", tags=["mind"], response_model=answers.Status, responses=refusals())
    async def status() -> Response:
        """How the mind is: rates, limits, health, and what is wrong with it."""
        return one({**json.status_json(await feed.view.status()), "now": json.rfc3339(feed.view.now())})


def _without_history(connection: Connection) -> json.JsonObject:
    return json.connection_json(replace(connection, history=()))


def _time(field: str, text: str | None) -> Instant | None:
    if text is None:
        return None
    try:
        return json.instant(text)
    except ValueError as error:
        raise invalid(field, str(error)) from None
