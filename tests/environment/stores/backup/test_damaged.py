"""A backup is refused where the file is not what was written."""

import msgspec
import pytest

from environment.errors import BadBackup
from environment.stores.backup import archive
from environment.stores.backup.archive import FORMAT, ArchiveReader, Block
from environment.stores.backup.restored import Archived
from environment.stores.copying import tally
from tests.environment.stores.backup.taken import take


@pytest.mark.parametrize("at", [0, 3, 14, 15, 16, 40, 48, 50, 61, 62, 200, -1, -5, -9, -17, -60, "middle", "index"])
async def test_a_byte_that_was_changed_is_found(snapshot, tmp_path, at):
    path = tmp_path / "a.submind"
    reader = await take(snapshot, path)
    reader.close()
    body = bytearray(path.read_bytes())
    place = {"middle": len(body) // 2, "index": len(body) - 120}.get(at, at)
    body[place] ^= 0x20
    path.write_bytes(body)
    with pytest.raises(BadBackup) as caught:
        ArchiveReader(path).verify()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_wherever_it_was_cut_off_it_is_refused(snapshot, tmp_path):
    path = tmp_path / "a.submind"
    (await take(snapshot, path)).close()
    whole = path.read_bytes()
    for size in [*range(0, 140, 7), *range(140, len(whole), 1999), len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(BadBackup):
            ArchiveReader(path).verify()
    path.write_bytes(whole + b"\0")
    with pytest.raises(BadBackup, match="damaged"):
        ArchiveReader(path).verify()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "not the backup of a mind"),
        (b"SQLite format 3\0" * 20, "not the backup of a mind"),
        (b"SUBMIND BACKUP\n" + bytes([FORMAT + 1]) + b"x" * 100, f"of format {FORMAT + 1}"),
        (b"SUBMIND BACKUP\n", "of format none"),
    ],
)
def test_what_is_no_backup_of_ours_is_told_apart(tmp_path, body, told):
    path = tmp_path / "a.submind"
    path.write_bytes(body)
    with pytest.raises(BadBackup, match=told):
        ArchiveReader(path)


async def test_what_is_whole_and_makes_no_sense_is_refused(snapshot, tmp_path):
    path = tmp_path / "a.submind"
    with path.open("wb", buffering=0) as file:
        writer = archive.ArchiveWriter(file)
        writer.add("traces", [msgspec.msgpack.encode({"revisions": 3})])
        blocks = [Block("traces", writer.blocks[0].at, 1, 0)]
        writer.finish(archive.Manifest("9", "alpha", "", 0.0, 0.0, 1, 0, 0, 0, 0, {}, {}, blocks))
    reader = Archived(path)
    reader.verify()
    with pytest.raises(BadBackup, match="holds traces that this version does not understand"):
        await tally(reader)
