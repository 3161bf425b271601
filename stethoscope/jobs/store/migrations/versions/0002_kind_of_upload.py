"""What an upload is becomes a column. It was told by the name: by its suffix, or by a mark written in front of it."""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_DATA_SUFFIX = re.compile(
    r"\.(npz|npy|csv|tsv|parquet|tfrecords?|record|jsonl|ndjson|txt|wav|jpe?g|png|gif|bmp|webp|tiff?|xml)(\.gz)?",
    re.IGNORECASE,
)
_MARK = re.compile(r"\.(?:data|logs)(?=\.[^.]*$)")


def upgrade() -> None:
    """Adds the column, tells by the name what was told by it, and takes the marks out of names.

    What no name told keeps an empty kind: the store looks at its content. Samples are named as their files are.
    """
    op.add_column("entries", sa.Column("kind", sa.String(10), nullable=False, server_default=""))
    entries = sa.table("entries", sa.column("id"), sa.column("name"), sa.column("sample"), sa.column("kind"))
    connection = op.get_bind()
    for row in connection.execute(sa.select(entries.c.id, entries.c.name, entries.c.sample)).all():
        kind, name = _kind(row.name), row.name if row.sample else _without_mark(row.name)
        if kind or name != row.name:
            connection.execute(sa.update(entries).where(entries.c.id == row.id).values(kind=kind, name=name))


def _kind(name: str) -> str:
    if "tfevents" in name or ".logs." in name:
        return "logs"
    return "data" if _has_data_suffix(name) or ".data." in name else ""


def _has_data_suffix(name: str) -> bool:
    return _DATA_SUFFIX.fullmatch("".join(Path(name).suffixes[-2:])) is not None or (
        _DATA_SUFFIX.fullmatch(Path(name).suffix) is not None
    )


def _without_mark(name: str) -> str:
    """Files that a suffix told were never marked: what looks like a mark there is the user's."""
    return name if _has_data_suffix(name) else _MARK.sub("", name)
