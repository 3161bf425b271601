"""Who has how much: entries, and what is held for other things, equal contents counted once."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from stethoscope.errors import QuotaExceeded
from stethoscope.jobs.store.schema import Entry, entries, held
from stethoscope.jobs.store.upload import partial_bytes
from stethoscope.settings import Settings
from stethoscope.sizes import human_bytes

LOST_DATABASE = "lost-database"
"""Who holds files that were there before their database: it was lost, and nobody knows whose they are."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Usage:
    """What an owner has stored, equal files counted once, and what the store has left for one more file."""

    used_bytes: int
    quota_bytes: int
    room_bytes: int

    def check(self, size_bytes: int) -> None:
        """Refuses `size_bytes` more.

        Raises:
            QuotaExceeded: they do not fit.
        """
        if size_bytes > self.room_bytes:
            raise QuotaExceeded(
                f"Your space on this server: {human_bytes(self.room_bytes)} left, got {human_bytes(size_bytes)}. "
                "Remove models, data or monitors you no longer need."
            )


def usage(connection: sa.Connection, owner: str, configuration: Settings, unfinished: Path | None = None) -> Usage:
    """How much an owner has, and may have.

    Args:
        connection: to the store's database.
        owner: whose share.
        configuration: with the limits.
        unfinished: the folder of uploads under way, if they count.
    """
    used, total = _sum(connection, owner), _sum(connection)
    mine = all_of_them = 0
    if unfinished is not None:
        mine, all_of_them = partial_bytes(unfinished, owner), partial_bytes(unfinished)
    quota = int(configuration.quota_bytes)
    room = min(quota - used - mine, int(configuration.total_quota_bytes) - total - all_of_them)
    return Usage(used, quota, max(0, room))


def has(connection: sa.Connection, owner: str, sha256: str) -> bool:
    """Whether this content counts for the owner already."""
    return _found(connection, sha256, owner)


def in_use(connection: sa.Connection, sha256: str) -> bool:
    """Whether anybody has this content."""
    return _found(connection, sha256)


def hold(connection: sa.Connection, holder: str, owner: str, files: Iterable[Entry], configuration: Settings) -> None:
    """Notes that `holder` keeps these contents for an owner; nothing is to be committed where it raises.

    Raises:
        QuotaExceeded: they do not fit into the owner's share.
    """
    before = usage(connection, owner, configuration)
    contents = {one.sha256: one.size_bytes for one in files}
    rows = [
        {"holder": holder, "sha256": sha256, "owner": owner, "size_bytes": size} for sha256, size in contents.items()
    ]
    connection.execute(sa.insert(held), rows)
    before.check(usage(connection, owner, configuration).used_bytes - before.used_bytes)


def release(connection: sa.Connection, holder: str) -> list[str]:
    """Forgets what a holder keeps; returns the hashes of the contents."""
    mine = held.c.holder == holder
    gone = list(connection.execute(sa.select(held.c.sha256).where(mine)).scalars())
    connection.execute(sa.delete(held).where(mine))
    return gone


def holders(connection: sa.Connection) -> set[str]:
    """The ids of all that keep contents."""
    return set(connection.execute(sa.select(held.c.holder).where(held.c.holder != LOST_DATABASE)).scalars())


def hold_strays(connection: sa.Connection, files: Iterable[Path]) -> None:
    """Keeps files that are older than the database from being taken for nobody's."""
    rows = [
        {"holder": LOST_DATABASE, "sha256": path.parent.name, "owner": "", "size_bytes": path.stat().st_size}
        for path in files
    ]
    if rows:
        connection.execute(sa.insert(held), rows)
        _log.warning("The store's database is new, beside %d files of one that is gone. They are kept.", len(rows))


def _found(connection: sa.Connection, sha256: str, owner: str | None = None) -> bool:
    whose = [] if owner is None else [owner]
    columns = (entries.c.sha256, entries.c.code_sha256, held.c.sha256)
    tables = (
        sa.select(column).where(column == sha256, *(column.table.c.owner == one for one in whose)) for column in columns
    )
    return connection.execute(sa.union(*tables)).first() is not None


def _sum(connection: sa.Connection, owner: str | None = None) -> int:
    """Bytes of an owner, or of everybody; samples count for nobody."""
    samples = sa.select(entries.c.sha256).where(entries.c.sample)
    named = sa.select(entries.c.sha256, entries.c.size_bytes).where(~entries.c.sample)
    kept = sa.select(held.c.sha256, held.c.size_bytes).where(held.c.sha256.not_in(samples))
    code = sa.select(entries.c.code_sha256, entries.c.code_bytes).where(entries.c.code_sha256 != "")
    if owner is not None:
        named, kept = named.where(entries.c.owner == owner), kept.where(held.c.owner == owner)
        code = code.where(entries.c.owner == owner)
    once = sa.union(named, kept, code).subquery()
    return int(connection.execute(sa.select(sa.func.coalesce(sa.func.sum(once.c.size_bytes), 0))).scalar_one())
