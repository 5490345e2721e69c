"""Requests to forget that came after a backup was taken: found in later ones beside it, or in files that are given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from environment.collections import Document
from environment.erasure import FORGOTTEN, ForgetRecord, ForgetScope, ForgetState
from environment.errors import BadBackup
from environment.messages import Instant
from environment.stores.backup.archive import MAGIC
from environment.stores.backup.restored import Archived
from orchestration.cli.failure import Failure
from orchestration.cli.moving.backing import SUFFIX
from orchestration.pb.submind.v1 import forgetting_pb2 as pb
from orchestration.schema.convert import decode
from orchestration.schema.errors import InvalidRequest
from orchestration.schema.json import read_json


@dataclass
class LaterRequests:
    """What was asked for after a backup, as far as anybody here knows."""

    mind: str
    until: Instant
    """Nothing that was asked for before is missing; at first when the backup was taken."""
    known: set[str]
    """Requests that the backup has itself."""
    records: dict[str, ForgetRecord] = field(default_factory=dict)
    """The others by id, as they are to be asked again."""
    unread: list[str] = field(default_factory=list)
    """Why a backup beside it could not be read."""

    def take(self, records: Iterable[ForgetRecord], until: Instant) -> None:
        """Take over what another place knows; it knows all that was asked for before ``until``."""
        for one in records:
            if one.state is not ForgetState.REFUSED and one.id not in self.known:
                self.records[one.id] = replace(one, state=ForgetState.ASKED, removed={}, redacted={})
        self.until = max(self.until, until)

    def documents(self) -> list[Document]:
        """Those that a mind restored from it begins with."""
        writes = [FORGOTTEN.write(one.id, one, time=one.at) for one in self.records.values()]
        return [replace(write.document, version=1) for write in writes]


def later_requests(source: Archived, file: Path, given: Sequence[Path]) -> LaterRequests:
    """Those of ``given`` files, and of later backups of the same mind beside ``file``. Raises ``Failure``."""
    cut = source.manifest.cut
    found = LaterRequests(source.manifest.mind, cut, {one.id for one in source.values(FORGOTTEN)})
    for path in sorted(each for each in file.parent.glob(f"*{SUFFIX}") if each != file and each not in given):
        try:
            _take_backup(path, found, cut)
        except (BadBackup, OSError) as error:
            found.unread.append(str(error))
    for path in given:
        with path.open("rb") as opened:
            archived = opened.read(len(MAGIC)) == MAGIC
        if archived:
            _take_backup(path, found)
        else:
            records = _listed_in(path)
            found.take(records, max((one.at for one in records), default=cut))
    return found


def _take_backup(path: Path, found: LaterRequests, after: Instant | None = None) -> None:
    """``after``: only one of the same mind that was taken later."""
    other = Archived(path)
    try:
        if after is None or (other.manifest.mind == found.mind and other.manifest.cut > after):
            found.take(other.values(FORGOTTEN), other.manifest.cut)
    finally:
        other.close()


def _listed_in(path: Path) -> list[ForgetRecord]:
    """What ``submind forget --json`` printed, a record a line."""
    records = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        told = pb.ForgetRecord()
        try:
            read_json(told, line)
            records.append(decode(ForgetRecord, told, scope=msgspec.json.decode(told.scope, type=ForgetScope)))
        except (InvalidRequest, msgspec.DecodeError) as error:
            raise Failure(
                f"{path}:{number} is no backup and no line of submind forget --list --json: {error}"
            ) from None
    return records
