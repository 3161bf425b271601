"""Training scripts have a kind of their own. They were kept as models, which they are not."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Forgets the kind of what is called like a script: the store looks at its content."""
    entries = sa.table("entries", sa.column("name"), sa.column("sample"), sa.column("kind"))
    name = sa.func.lower(entries.c.name)
    called = sa.or_(*(name.like(f"%{suffix}") for suffix in (".py", ".pyw", ".ipynb")))
    op.get_bind().execute(sa.update(entries).where(called, ~entries.c.sample.is_(True)).values(kind=""))
