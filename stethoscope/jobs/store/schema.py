"""The store's tables, and an engine whose transactions behave the same for threads and processes.

What the store knows about one upload, and how the user's name for it is made harmless to handle.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PureWindowsPath
from typing import Any, Final, Self

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from stethoscope.errors import BadSetting
from stethoscope.types import ModelFile, UploadKind

BUSY_TIMEOUT_MS = 30_000
HEAD: Final = "0004"
"""The revision that `metadata` is, the last one in `migrations/versions`. It is known here so that opening an up-to-date workspace
needs no Alembic."""
_MIGRATIONS = Path(__file__).parent / "migrations"
_WRITE_LOCK = 0x5374657468  # of PostgreSQL's advisory locks, one number for all processes
metadata = sa.MetaData()

entries = sa.Table(
    "entries",
    metadata,
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
    sa.Column("kind", sa.String(10), nullable=False, server_default=""),
    sa.Column("code_sha256", sa.String(64), nullable=False, server_default="", index=True),
    sa.Column("code_name", sa.String(400), nullable=False, server_default=""),
    sa.Column("code_bytes", sa.BigInteger, nullable=False, server_default="0"),
)
"""`kind` is empty in rows of before it was kept, until the content has been looked at."""

held = sa.Table(
    "held",
    metadata,
    sa.Column("holder", sa.String(80), primary_key=True),
    sa.Column("sha256", sa.String(64), primary_key=True, index=True),
    sa.Column("owner", sa.String(80), nullable=False, index=True),
    sa.Column("size_bytes", sa.BigInteger, nullable=False),
)
"""Contents that something other than an entry keeps for an owner."""

_version = sa.Table("alembic_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True))


def connect(url: sa.URL, begin: Callable[[sa.Connection], None]) -> sa.Engine:
    """Opens a database of SQLite or PostgreSQL: makes its tables at first, brings older ones up to date.

    Args:
        url: of the database.
        begin: called once with new tables, in the transaction that makes them.

    Raises:
        BadSetting: it is damaged, or a newer version wrote it. It is left as it is.
    """
    engine = sa.create_engine(url, connect_args={"check_same_thread": False} if _is_sqlite(url) else {})
    if _is_sqlite(url):
        sa.event.listen(engine, "connect", _prepare)
    sa.event.listen(engine, "begin", _begin)
    try:
        _bring_up_to_date(engine, begin)
    except OperationalError:
        engine.dispose()
        raise
    except DatabaseError as error:
        engine.dispose()
        raise BadSetting(
            f"{url.database}: expected the database of a workspace, got damage ({error.orig}). "
            "Restore it from a copy, or move it away to begin a new one; no file of the workspace is removed for that."
        ) from error
    return engine


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction that holds the write lock from its start, so what it reads stays true until it ends."""
    options: dict[str, Any] = {"writes": True}
    with engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


def _is_sqlite(url: sa.URL) -> bool:
    return url.get_backend_name() == "sqlite"


def _prepare(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    # The driver's own implicit transactions would hide BEGIN IMMEDIATE from us.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _begin(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
    elif writes:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITE_LOCK})")


def _bring_up_to_date(engine: sa.Engine, begin: Callable[[sa.Connection], None]) -> None:
    with engine.connect() as connection:
        if _revision(connection) == HEAD:
            return
    with writing(engine) as connection:
        # Another process may have done it while this one waited for the lock.
        revision = _revision(connection)
        if revision == HEAD:
            return
        if revision is None and not sa.inspect(connection).has_table(entries.name):
            metadata.create_all(connection)
            _version.create(connection)
            connection.execute(sa.insert(_version).values(version_num=HEAD))
            begin(connection)
            return
        if revision is not None and revision > HEAD:
            raise BadSetting(
                f"{engine.url.database}: expected a workspace of at most revision {HEAD}, got one of revision {revision}. "
                "A newer Stethoscope wrote it: use that one, or another workspace."
            )
        _migrate(connection)


def _revision(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table(_version.name):
        return None
    return connection.execute(sa.select(_version.c.version_num)).scalar()


def _migrate(connection: sa.Connection) -> None:
    """Runs what is due, in the transaction of `connection`: all of it or nothing."""
    from alembic import command
    from alembic.config import Config

    configuration = Config(attributes={"connection": connection})
    configuration.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    command.upgrade(configuration, "head")


SAMPLES_OWNER = "samples"
"""The owner of the sample models: everybody may read them, nobody may change them."""
_ID = re.compile(r"[A-Za-z0-9_-]{8,80}")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


@dataclass(frozen=True)
class Entry:
    """One upload of one file by one owner. Equal files are stored once, at `path`, however many entries name them."""

    id: str
    """Unguessable: who has it may read the model."""
    sha256: str
    name: str
    """What the user called it. Hostile text: escape before showing."""
    size_bytes: int
    owner: str
    format_id: str
    """Empty until the file has been described."""
    created: datetime
    last_used: datetime
    sample: bool
    trusted: bool
    """The owner said yes to running the code inside this file."""
    path: Path
    kind: UploadKind = UploadKind.MODEL
    """What its content is; a model where nothing recognises it."""
    title: str = ""
    behaviour: str = ""
    description: str = ""
    code: ModelFile | None = None
    """Python that the owner gave to be run with it: what defines its own classes."""

    @classmethod
    def of(cls, row: Mapping[Any, Any], path_of: Callable[[str], Path]) -> Self:
        """The entry of a row, its contents where `path_of` says."""
        values = dict(row)
        values["created"] = values["created"].replace(tzinfo=UTC)
        values["last_used"] = values["last_used"].replace(tzinfo=UTC)
        # Another process may be looking at it just now, see `fill_kinds`.
        values["kind"] = UploadKind(values["kind"] or UploadKind.MODEL)
        code, name, _ = (values.pop(f"code_{part}", "") for part in ("sha256", "name", "bytes"))
        beside = ModelFile(path_of(code), name, code) if code else None
        return cls(**values, path=path_of(values["sha256"]), code=beside)

    @property
    def file(self) -> ModelFile:
        """The bytes on disk under the user's name for them."""
        return ModelFile(self.path, self.name, self.sha256, self.code)


def new_id() -> str:
    """Returns an unguessable id of 22 characters; without "_", as Streamlit refuses two of them in a widget's key."""
    return secrets.token_urlsafe(16).replace("_", "-")


def is_id(value: str) -> bool:
    """Whether `value` looks like an id; anything else never reaches a query or a path."""
    return _ID.fullmatch(value) is not None


def clean_name(name: str) -> str:
    """Returns the last part of `name` without characters that cannot be seen, at most 200 bytes, suffix kept."""
    last = _UNSEEN.sub("", PureWindowsPath(name.replace("/", "\\")).name).strip()
    if last in ("", ".", ".."):
        return "model"
    stem, suffix = Path(last).stem, Path(last).suffix
    if len(suffix.encode()) > 20:
        stem, suffix = last, ""
    while len((stem + suffix).encode()) > 200:
        stem = stem[:-1]
    return stem + suffix
