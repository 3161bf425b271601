"""A model may have Python beside it that defines its own classes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Adds the columns: no model of before has any."""
    op.add_column("entries", sa.Column("code_sha256", sa.String(64), nullable=False, server_default=""))
    op.add_column("entries", sa.Column("code_name", sa.String(400), nullable=False, server_default=""))
    op.add_column("entries", sa.Column("code_bytes", sa.BigInteger, nullable=False, server_default="0"))
    op.create_index("ix_entries_code_sha256", "entries", ["code_sha256"])
