"""The store's tables, and an engine whose transactions behave the same for threads and processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

BUSY_TIMEOUT_MS = 30_000
_metadata = sa.MetaData()

entries = sa.Table(
    "entries",
    _metadata,
    sa.Column("id", sa.String(80), primary_key=True),
    sa.Column("sha256", sa.String(64), nullable=False, index=True),
    sa.Column("name", sa.String(400), nullable=False),
    sa.Column("size_bytes", sa.BigInteger, nullable=False),
    sa.Column("owner", sa.String(80), nullable=False, index=True),
    sa.Column("format_id", sa.String(40), nullable=False, default=""),
    sa.Column("created", sa.DateTime, nullable=False),
    sa.Column("last_used", sa.DateTime, nullable=False, index=True),
    sa.Column("sample", sa.Boolean, nullable=False, default=False),
    sa.Column("trusted", sa.Boolean, nullable=False, default=False),
    sa.Column("title", sa.Text, nullable=False, default=""),
    sa.Column("behaviour", sa.Text, nullable=False, default=""),
    sa.Column("description", sa.Text, nullable=False, default=""),
)

held = sa.Table(
    "held",
    _metadata,
    sa.Column("holder", sa.String(80), primary_key=True),
    sa.Column("sha256", sa.String(64), primary_key=True, index=True),
    sa.Column("owner", sa.String(80), nullable=False, index=True),
    sa.Column("size_bytes", sa.BigInteger, nullable=False),
)
"""Contents that something other than an entry keeps for an owner."""


def connect(path: Path) -> sa.Engine:
    """Opens (and at first creates) the database file at `path`."""
    engine = sa.create_engine(f"sqlite:///{path}", connect_args={"check_same_thread": False})

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
        # The driver's own implicit transactions would hide BEGIN IMMEDIATE from us.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.close()

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    with writing(engine) as connection:
        _metadata.create_all(connection)
    return engine


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction that holds the write lock from its start, so what it reads stays true until it ends."""
    options: dict[str, Any] = {"writes": True}
    with engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection
