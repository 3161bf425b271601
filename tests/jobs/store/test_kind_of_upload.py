"""What the names of earlier workspaces told becomes a column, and the marks leave the names."""

from __future__ import annotations

import importlib

import pytest
import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

BEFORE = {
    "rows.csv": ("data", "rows.csv"),
    "rows.CSV.gz": ("data", "rows.CSV.gz"),
    "photo.jpeg": ("data", "photo.jpeg"),
    "shards.data.zip": ("data", "shards.zip"),
    "runs.logs.zip": ("logs", "runs.zip"),
    "events.out.tfevents.1700.host": ("logs", "events.out.tfevents.1700.host"),
    # A suffix told it, so nobody marked it: this is how the user called it.
    "my.data.csv": ("data", "my.data.csv"),
    "model.keras": ("", "model.keras"),
    "archive.tar.gz": ("", "archive.tar.gz"),
}


@pytest.fixture(scope="module")
def migrated() -> list[sa.Row]:
    """Entries of a workspace of before, after the migration; each once as an upload, once as a sample."""
    migration = importlib.import_module("stethoscope.jobs.store.migrations.versions.0002_kind_of_upload")
    with sa.create_engine("sqlite://").begin() as connection:
        connection.execute(sa.text("CREATE TABLE entries (id INTEGER PRIMARY KEY, name TEXT, sample BOOLEAN)"))
        rows = [{"name": name, "sample": sample} for sample in (False, True) for name in BEFORE]
        connection.execute(sa.text("INSERT INTO entries (name, sample) VALUES (:name, :sample)"), rows)
        with Operations.context(MigrationContext.configure(connection)):
            migration.upgrade()
        found = connection.execute(sa.text("SELECT name, kind, sample FROM entries ORDER BY id")).all()
    return list(found)


def test_the_kind_is_told_by_the_name_and_marks_leave_it(migrated):
    uploads = [row for row in migrated if not row.sample]
    assert {old: (row.kind, row.name) for old, row in zip(BEFORE, uploads, strict=True)} == BEFORE


def test_samples_keep_the_names_of_their_files(migrated):
    samples = [row for row in migrated if row.sample]
    assert {row.name: row.kind for row in samples} == {name: kind for name, (kind, _) in BEFORE.items()}
