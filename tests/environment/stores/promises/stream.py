"""What every stream of consciousness promises. See ``contract.py``."""

import pytest

from environment.errors import DuplicateEntry, SequenceGap
from environment.messages import EntryKind
from environment.ports import WriteEntries, WriteState, WriteTrace
from tests.environment.stores.making import entry, trace, vector


class StreamPromises:
    """What every stream of consciousness promises."""

    async def test_the_stream_is_read_from_any_position(self, stores):
        assert await stores.stream.head() == 0
        segue = entry(3, kind=EntryKind.SEGUE, focus="", author="", vector=vector(3))
        written = [entry(1), entry(2), segue, entry(4)]
        await stores.commit([WriteEntries(tuple(written[:2])), WriteEntries(tuple(written[2:]))])
        assert await stores.stream.head() == 4
        assert await stores.stream.read(1, 10) == written
        assert await stores.stream.read(2, 2) == written[1:3]
        assert await stores.stream.read(5, 10) == []
        assert await stores.stream.find(segue.id) == segue
        assert (await stores.stream.read(3, 1))[0].vector == pytest.approx(vector(3), abs=1e-3)
        assert await stores.stream.find("c-nowhere") is None
        assert await stores.stream.read(1 << 70, 10) == []
        assert await stores.stream.read(1, 0) == []
        assert len(await stores.stream.read(-5, 1 << 70)) == 4

    @pytest.mark.parametrize("seq", [0, 1, 2, 4, -1])
    async def test_a_gap_or_a_repeated_number_is_refused(self, stores, seq):
        await stores.commit([WriteEntries((entry(1), entry(2)))])
        with pytest.raises(SequenceGap) as refused:
            await stores.commit([WriteState("x", b"y"), WriteEntries((entry(seq, id="c-new"),))])
        assert (refused.value.expected, refused.value.got) == (3, seq)
        with pytest.raises(SequenceGap):
            await stores.commit([WriteEntries((entry(3), entry(5)))])
        assert await stores.stream.head() == 2
        assert await stores.registry.state("x") is None

    async def test_a_repeated_id_is_refused(self, stores):
        await stores.commit([WriteEntries((entry(1),))])
        with pytest.raises(DuplicateEntry) as refused:
            await stores.commit([WriteTrace(trace(1)), WriteEntries((entry(2, id=entry(1).id),))])
        assert (refused.value.entry_id, refused.value.seq) == (entry(1).id, 1)
        assert await stores.stream.head() == 1
        assert await stores.traces.get([trace(1).id]) == {}
