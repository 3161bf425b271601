"""The tables as they were before revisions were kept: what is missing is made, what is there stays."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Makes the tables and indexes that are not there."""
    there = sa.inspect(op.get_bind()).get_table_names()
    if "entries" not in there:
        op.create_table(
            "entries",
            sa.Column("id", sa.String(80), primary_key=True),
            sa.Column("sha256", sa.String(64), nullable=False, index=True),
            sa.Column("name", sa.String(400), nullable=False),
            sa.Column("size_bytes", sa.BigInteger, nullable=False),
            sa.Column("owner", sa.String(80), nullable=False, index=True),
            sa.Column("format_id", sa.String(40), nullable=False),
            sa.Column("created", sa.DateTime, nullable=False),
            sa.Column("last_used", sa.DateTime, nullable=False, index=True),
            sa.Column("sample", sa.Boolean, nullable=False),
            sa.Column("trusted", sa.Boolean, nullable=False),
            sa.Column("title", sa.Text, nullable=False),
            sa.Column("behaviour", sa.Text, nullable=False),
            sa.Column("description", sa.Text, nullable=False),
        )
    if "held" not in there:
        op.create_table(
            "held",
            sa.Column("holder", sa.String(80), primary_key=True),
            sa.Column("sha256", sa.String(64), primary_key=True, index=True),
            sa.Column("owner", sa.String(80), nullable=False, index=True),
            sa.Column("size_bytes", sa.BigInteger, nullable=False),
        )
