"""Workspaces of before open, whoever opens them at the same time; nothing of them is lost."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from stethoscope.errors import BadSetting
from stethoscope.jobs.store import SAMPLES_OWNER, schema
from stethoscope.types import UploadKind
from tests.jobs.store.conftest import files_in

BEFORE = Path(__file__).parent / "workspace_before_kinds.zip"
"""Made by the store of the commit 9afb75c, its ids and times set, marks written into names as the dashboard did."""
NAMES = {
    "net.onnx": UploadKind.MODEL,
    "rows.csv": UploadKind.DATA,
    "photos.zip": UploadKind.DATA,
    "run.zip": UploadKind.LOGS,
    "events.out.tfevents.1.host": UploadKind.LOGS,
    "history.json": UploadKind.LOGS,
    "rows.json": UploadKind.DATA,
    "report.logs.csv": UploadKind.LOGS,
    "odd.bin": UploadKind.MODEL,
}
OPEN = (
    "import sys; from pathlib import Path; from stethoscope.settings import Settings; from stethoscope.jobs.store import Store\n"
    "store = Store(Path(sys.argv[1]) / 'store', Settings(workspace=sys.argv[1], min_free_disk_bytes=0))\n"
    "print(sorted((one.name, str(one.kind)) for one in store.list('ada')), 'alembic' in sys.modules)\n"
)


@pytest.fixture
def before(tmp_path):
    """The files of a workspace of before, unpacked."""
    with zipfile.ZipFile(BEFORE) as packed:
        packed.extractall(tmp_path)
    return files_in(tmp_path / "store")


def test_a_workspace_of_before_opens_with_all_it_has(make_store, before, tmp_path):
    store = make_store()
    entries = store.list("ada")
    assert {entry.name: entry.kind for entry in entries} == NAMES
    assert {entry.id for entry in entries} == {f"upload-of-before-{number:02}" for number in range(1, 10)}
    for entry in entries:
        assert hashlib.sha256(entry.path.read_bytes()).hexdigest() == entry.sha256
        assert entry.created.isoformat().startswith("2026-11-01T12:")
    (sample,) = store.list(SAMPLES_OWNER)
    assert (sample.id, sample.name, sample.title) == ("sample-scenes", "scenes.data.zip", "Scenes")
    assert store.holders() == {"monitor-1"}
    store.clean()
    assert files_in(tmp_path / "store") == before


def test_processes_that_open_it_at_once_agree_and_later_ones_need_no_alembic(before, tmp_path):
    command = [sys.executable, "-c", OPEN, str(tmp_path)]
    opening = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    answers = [process.communicate(timeout=120) for process in opening]
    assert all(process.returncode == 0 for process in opening), answers
    # One that came while another was still looking at contents takes what is not told yet for a model.
    assert len({answer.count("'logs'") for answer, _ in answers}) == 1
    last = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert last.stdout == f"{sorted((name, str(kind)) for name, kind in NAMES.items())} False\n"


def test_what_fails_half_way_changes_nothing(make_store, before, tmp_path, monkeypatch):
    database = tmp_path / "store" / "store.sqlite"
    dump = list(sqlite3.connect(database).iterdump())
    monkeypatch.setattr(schema.sa, "update", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_store()
    monkeypatch.undo()
    assert list(sqlite3.connect(database).iterdump()) == dump
    assert {entry.name: entry.kind for entry in make_store().list("ada")} == NAMES


@pytest.mark.parametrize("old", [True, False])
def test_migrations_lead_to_the_tables_of_today(make_store, tmp_path, request, old):
    if old:
        request.getfixturevalue("before")
    with make_store()._engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert context.get_current_revision() == schema.HEAD
        assert compare_metadata(context, schema.metadata) == []


def test_from_nothing_migrations_make_what_the_store_makes(tmp_path):
    def tables(name: str, *, migrated: bool) -> dict[str, list[str]]:
        engine = sa.create_engine(f"sqlite:///{tmp_path / name}")
        with engine.begin() as connection:
            (schema._migrate if migrated else schema.metadata.create_all)(connection)
        with engine.connect() as connection:
            context = MigrationContext.configure(connection)
            assert compare_metadata(context, schema.metadata) == []
            columns = {one.name: sa.inspect(connection).get_columns(one.name) for one in schema.metadata.sorted_tables}
        return {
            name: [f"{one['name']} {one['type']!r} {one['nullable']}" for one in each] for name, each in columns.items()
        }

    assert tables("a", migrated=True) == tables("b", migrated=False)


def test_the_head_is_the_last_migration():
    assert ScriptDirectory(str(schema._MIGRATIONS)).get_heads() == [schema.HEAD]


def test_a_workspace_of_a_newer_version_is_left_as_it_is(make_store, put, tmp_path):
    put(store := make_store(), b"x")
    store.close()
    database = tmp_path / "store" / "store.sqlite"
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(BadSetting, match="9999"):
        make_store()
    assert len(files_in(tmp_path / "store")) == 1


def test_a_lost_database_deletes_no_file(make_store, put, tmp_path):
    store = make_store()
    old = put(store, b"old")
    store.close()
    for path in (tmp_path / "store").glob("store.sqlite*"):
        path.unlink()
    store = make_store()
    new = put(store, b"new")
    store.clean()
    assert old.path.read_bytes() == b"old" and new.path.is_file()
    assert store.holders() == set() and store.list("ada") == (new,)
    again = put(store, b"old")
    store.remove(again.id, "ada")
    assert old.path.is_file(), "whoever had it before is not known"


def test_a_damaged_database_is_said_and_deletes_no_file(make_store, put, tmp_path):
    store = make_store()
    put(store, b"x")
    store.close()
    for path in (tmp_path / "store").glob("store.sqlite*"):
        path.write_bytes(b"no database " * 500)
    with pytest.raises(BadSetting, match=r"store\.sqlite.*no file .* is removed"):
        make_store()
    assert len(files_in(tmp_path / "store")) == 1
