"""Requests to Cassandra as coroutines: bounded, timed, repeated where that is safe, refused at once while it fails."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from cassandra.cluster import Cluster, ResponseFuture
from cassandra.cluster import Session as DriverSession
from cassandra.query import UNSET_VALUE, BoundStatement, PreparedStatement, SimpleStatement, Statement
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_before_delay

from environment.circuit import Circuit
from environment.errors import StoreUnavailable
from environment.stores.cassandra.driver.address import CassandraAddress
from environment.stores.cassandra.driver.batches import gathered
from environment.stores.cassandra.driver.bridge import AnswerPage, carry, in_thread
from environment.stores.cassandra.driver.burst import Burst
from environment.stores.cassandra.driver.errors import OutcomeUnknown, contended, translate
from environment.stores.cassandra.driver.settings import CassandraSettings

_LOG = logging.getLogger(__name__)
T = TypeVar("T")
Prepared: TypeAlias = PreparedStatement
"""A statement that the servers know; made by ``Session.prepare``."""
Row: TypeAlias = Any
"""A named tuple of a row's columns, in the order in which they were asked for."""
Values: TypeAlias = Sequence[object]
"""What is bound to a statement's marks. ``None`` leaves a column as it is (UNSET): it never writes a tombstone."""

_FEW = 8
"""Requests that are sent one by one."""
PLAIN, CONDITIONAL, SERIAL = "plain", "conditional", "serial"
"""Execution profiles: LOCAL_QUORUM; the same without speculation; LOCAL_SERIAL."""


@dataclass(eq=False, repr=False)
class Session:
    """A connection to one keyspace of one cluster, for one event loop. Use ``open_session``.

    Guarantees: at most ``in_flight`` requests are with the driver; each ends within ``request_timeout``, each call
    within ``deadline`` more. Every method raises ``OutcomeUnknown`` where a write may have happened, another
    ``StoreUnavailable`` where nothing was written, ``StoreFull``, or ``StoreBroken`` where no retry will help.
    Programming errors (too many values, wrong types) stay ``TypeError`` and ``ValueError``.
    """

    _cluster: Cluster
    _driver: DriverSession
    address: CassandraAddress
    settings: CassandraSettings
    _rng: random.Random
    _keyspace: str | None

    def __post_init__(self) -> None:
        self._place = str(self.address)
        self._loop = asyncio.get_running_loop()
        self._permits = asyncio.Semaphore(self.settings.in_flight)
        self._circuit = Circuit(self.settings.circuit_failures, self.settings.circuit_cooldown)
        self._prepared: dict[str, asyncio.Task[Prepared]] = {}
        self._away = False
        self._closed = False

    @property
    def circuit(self) -> str:
        """``closed`` while the cluster answers, ``open`` while it is left alone, ``probing`` when one may try."""
        return self._circuit.state(self._loop.time())

    async def prepare(self, cql: str) -> Prepared:
        """Have the servers parse a statement, once for each text; later calls answer what the first was given."""
        task = self._prepared.get(cql)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._prepared[cql] = asyncio.ensure_future(self._prepare(cql))
        return await asyncio.shield(task)

    async def execute(
        self, statement: Prepared, values: Values = (), *, idempotent: bool, page_rows: int | None = None
    ) -> list[Row]:
        """All rows of the answer; for large ones use ``pages``.

        ``idempotent`` says that doing it twice is the same as once: only then is it repeated after its answer was
        lost, and sent to a second replica where the first is slow. Reads are, and writes whose TIMESTAMP is bound.
        """
        return await self._rows(self._bind(statement, values, idempotent, page_rows))

    async def _rows(self, bound: Statement) -> list[Row]:
        answer = await self._ask(bound, PLAIN)
        rows = answer.rows
        while answer.state is not None:
            answer = await self._ask(bound, PLAIN, answer.state)
            rows = rows + answer.rows
        return rows

    async def execute_all(
        self,
        requests: Iterable[tuple[Prepared, Values]],
        *,
        idempotent: bool,
        concurrency: int | None = None,
        patient: bool = False,
    ) -> list[list[Row]]:
        """The answers in the order of the requests, at most ``concurrency`` of which are under way at once.

        No request is begun after one has failed; that failure is raised when those under way have ended. ``patient``:
        while requests are refused at once, each waits its turn, for as long as ``deadline`` lets it: for reads of
        which one failure would make all begin anew.
        """
        given = list(requests)

        def made(at: int) -> Statement:
            return self._bind(*given[at], idempotent, None)

        most = concurrency or self.settings.concurrency
        return await self._execute_each(made, len(given), most, idempotent=idempotent, patient=patient)

    async def write_all(self, requests: Iterable[tuple[Prepared, Values]]) -> None:
        """Write rows whose TIMESTAMP is bound, in no order; those of one partition go together, as one mutation.

        As with ``execute_all`` none is begun after one has failed, and the failure is raised.
        """
        statements = gathered([self._bind(*request, True, None) for request in requests])
        await self._execute_each(statements.__getitem__, len(statements), self.settings.concurrency, idempotent=True)

    async def _execute_each(
        self, made: Callable[[int], Statement], count: int, most: int, *, idempotent: bool, patient: bool = False
    ) -> list[list[Row]]:
        """In one burst where all may be repeated; one by one what that leaves over."""
        answers = dict[int, list[Row]]()
        if count >= _FEW and self.circuit == "closed" and idempotent:
            answers = await self._burst(count, made, most)
        queue = iter([at for at in range(count) if at not in answers])
        failures: list[BaseException] = []

        async def work() -> None:
            for at in queue:
                until = self._loop.time() + (self.settings.deadline if patient else 0.0)
                while at not in answers and not failures:
                    try:
                        answers[at] = await self._rows(made(at))
                    except CircuitOpen as refused:
                        if self._loop.time() + refused.retry_after > until:
                            failures.append(refused)
                        else:
                            await asyncio.sleep(refused.retry_after + self._rng.uniform(0.0, self.settings.pause))
                    except Exception as error:  # noqa: BLE001 - raised below, when the others have ended
                        failures.append(error)
                if failures:
                    return

        await asyncio.gather(*(work() for _ in range(min(most, count - len(answers)))))
        if failures:
            raise failures[0]
        return [answers[at] for at in range(count)]

    async def _burst(self, count: int, made: Callable[[int], Statement], most: int) -> dict[int, list[Row]]:
        """The answers of a first attempt, by number; what it leaves over is for who asks one by one.

        It keeps the loop free, but knows neither pauses nor probing, and sends no more once one has failed.
        """
        await self._permits.acquire()
        width = 1
        while width < min(most, count) and not self._permits.locked():
            await self._permits.acquire()  # at once: who holds some and waited for more would block his like
            width += 1

        def send(at: int) -> ResponseFuture:
            return self._driver.execute_async(made(at), execution_profile=PLAIN)

        def ended() -> None:
            for _ in range(width):
                self._permits.release()

        burst = Burst(self._loop, send, count, width)
        await burst.run(ended)
        if not burst.failures:
            self._circuit.succeeded()
        for error in burst.failures:
            self._count(error)
        return burst.answers

    async def pages(self, statement: Prepared, values: Values = ()) -> AsyncIterator[list[Row]]:
        """A read page by page: the next is asked for when it is wanted, so memory holds one."""
        state: bytes | None = None
        while True:
            answer = await self._ask(self._bind(statement, values, True, None), PLAIN, state)
            if answer.rows:
                yield answer.rows
            state = answer.state
            if state is None:
                return

    async def conditional(self, statement: Prepared, values: Values = ()) -> bool:
        """Whether a lightweight transaction (``IF ...``, or a batch with one) was applied, at LOCAL_SERIAL.

        It is decided once it is answered, and never repeated after it was sent. After ``OutcomeUnknown`` it may still
        come to pass, even after a ``serial`` read that does not show it (a server that was paused takes it up when it
        goes on): see there.
        """
        return bool((await self._ask(self._bind(statement, values, False, None), CONDITIONAL)).rows[0][0])

    async def serial(self, statement: Prepared, values: Values = ()) -> list[Row]:
        """A read at LOCAL_SERIAL: it sees, or finishes, every conditional write that was begun before it."""
        return (await self._ask(self._bind(statement, values, True, None), SERIAL)).rows

    async def run(self, cql: str, timeout: float = 60.0) -> list[Row]:  # noqa: ASYNC109 - the driver's own, not the caller's
        """A change of the schema, or another statement without values that is not worth preparing.

        Returns when all nodes agree on the schema. Not repeated, so it should be one that may be (``IF NOT EXISTS``).
        All of them go through one node, the first of those that are up: two that create the same table at once
        through different nodes would leave the cluster with two halves of it.
        """
        statement = SimpleStatement(cql, is_idempotent=False, keyspace=self._keyspace)
        up = (host for host in self._cluster.metadata.all_hosts() if host.is_up and host.datacenter == self.address.dc)
        first = min(up, key=lambda host: str(host.endpoint), default=None)

        def send(ended: Callable[[], None]) -> Awaitable[AnswerPage]:
            return carry(
                self._loop,
                lambda: self._driver.execute_async(
                    statement, execution_profile=CONDITIONAL, timeout=timeout, host=first
                ),
                ended,
            )

        answer = await self._attempt(send)
        if not answer.agreed:
            raise StoreUnavailable(f"the nodes of {self._place} do not agree on a schema: is one of them unreachable?")
        return answer.rows

    def nodes(self) -> list[Any]:
        """The servers of the cluster as the driver knows them: ``address``, ``datacenter``, ``is_up``."""
        return sorted(self._cluster.metadata.all_hosts(), key=lambda host: str(host.endpoint))

    async def ask_node(self, node: Any, cql: str) -> list[Row]:
        """A read without values, asked of one of ``nodes``. Not repeated."""
        statement = SimpleStatement(cql, is_idempotent=True)

        def send(ended: Callable[[], None]) -> Awaitable[AnswerPage]:
            return carry(
                self._loop, lambda: self._driver.execute_async(statement, execution_profile=PLAIN, host=node), ended
            )

        return (await self._attempt(send)).rows

    async def close(self) -> None:
        """Close all connections; may be called twice."""
        if not self._closed:
            self._closed = True
            await in_thread(self._cluster.shutdown)

    def _bind(self, statement: Prepared, values: Values, idempotent: bool, page_rows: int | None) -> BoundStatement:
        bound = statement.bind([UNSET_VALUE if value is None else value for value in values])
        bound.is_idempotent = idempotent
        bound.fetch_size = page_rows or self.settings.page_rows
        return bound

    async def _prepare(self, cql: str) -> Prepared:
        async def send(ended: Callable[[], None]) -> Prepared:
            try:
                return await in_thread(lambda: self._driver.prepare(cql, keyspace=self._keyspace))
            finally:
                ended()

        return await self._persist(send, repeatable=True)

    async def _ask(self, bound: Statement, profile: str, state: bytes | None = None) -> AnswerPage:
        def send(ended: Callable[[], None]) -> Awaitable[AnswerPage]:
            return carry(
                self._loop,
                lambda: self._driver.execute_async(bound, execution_profile=profile, paging_state=state),
                ended,
            )

        return await self._persist(send, repeatable=bound.is_idempotent)

    async def _persist(self, send: Callable[[Callable[[], None]], Awaitable[T]], *, repeatable: bool) -> T:
        """Try, and where that failed and may be repeated, again after pauses drawn at random."""
        return await AsyncRetrying(
            retry=retry_if_exception(lambda error: _worth_repeating(error, repeatable=repeatable)),
            stop=stop_after_attempt(self.settings.attempts) | stop_before_delay(self.settings.deadline),
            wait=self._pause,
            reraise=True,
        )(self._attempt, send)

    def _pause(self, state: RetryCallState) -> float:
        longest = min(self.settings.longest_pause, self.settings.pause * 2.0 ** (state.attempt_number - 1))
        return self._rng.uniform(0.0, longest)

    async def _attempt(self, send: Callable[[Callable[[], None]], Awaitable[T]]) -> T:
        """Send once, when it is this request's turn and the circuit lets it through."""
        if self._closed:
            raise SessionClosed(self._place)
        await self._permits.acquire()
        now = self._loop.time()
        if not self._circuit.admits(now):
            self._permits.release()
            raise CircuitOpen(self._place, self._circuit.retry_after(now) or self.settings.circuit_cooldown)
        try:
            result = await send(self._permits.release)
        except asyncio.CancelledError:
            self._circuit.gave_up()
            raise
        except Exception as error:  # noqa: BLE001 - translated, whatever it is
            self._count(error)
            raise translate(error, self._place) from None
        self._served()
        return result

    def _count(self, error: Exception) -> None:
        """Only what says that the cluster does not serve counts: an error that it reports on a request does not."""
        if contended(error) or not isinstance(translate(error, self._place), StoreUnavailable):
            self._served()
            return
        self._circuit.failed(self._loop.time())
        if self.circuit != "closed" and not self._away:
            self._away = True
            _LOG.warning("%s does not answer: requests are refused until it does", self._place)

    def _served(self) -> None:
        self._circuit.succeeded()
        if self._away:
            self._away = False
            _LOG.info("%s answers again", self._place)


class CircuitOpen(StoreUnavailable):
    """The cluster failed many requests in a row: nothing was sent, try again after ``retry_after`` seconds."""

    def __init__(self, place: str, retry_after: float) -> None:
        super().__init__(f"{place} does not answer: it is left alone for a moment", retry_after)
        self.args = (place, retry_after)


class SessionClosed(StoreUnavailable):
    """The session was closed, in this process: nothing was sent, and nothing will be."""

    def __init__(self, place: str) -> None:
        super().__init__(f"the connection to {place} has been closed")
        self.args = (place,)


def _worth_repeating(error: BaseException, *, repeatable: bool) -> bool:
    if isinstance(error, CircuitOpen | SessionClosed) or not isinstance(error, StoreUnavailable):
        return False
    return repeatable or not isinstance(error, OutcomeUnknown)


@dataclass(eq=False, repr=False)
class CassandraTable:
    """What is kept of one mind on a cluster."""

    _session: Session
    _mind: str

    def __post_init__(self) -> None:
        """What else it begins with."""
