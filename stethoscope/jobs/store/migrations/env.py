"""Runs migrations on the connection, and in the transaction, that `schema` gives."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
