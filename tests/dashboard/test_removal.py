"""What goes with a model that is removed, or that nobody uses any more."""

from __future__ import annotations

from datetime import datetime

import pytest
import sqlalchemy as sa

from dashboard import removal
from dashboard.deployment import drift_kept
from stethoscope.drift.settings import DriftSettings
from stethoscope.errors import NotFound
from stethoscope.jobs.store import Entry, store
from stethoscope.jobs.store.schema import entries, writing
from stethoscope.studies.kept_monitor import KeptMonitor
from tests.dashboard.visiting import ME, OTHER, add, open_page, settle, text
from tests.small_models import tiny_onnx


def watched(tmp_path, name: str = "model.onnx") -> tuple[Entry, KeptMonitor]:
    entry = add(tmp_path, tiny_onnx, name)
    (tmp_path / "then.csv").write_text("a\n1\n")
    reference = store().add_file(tmp_path / "then.csv", "then.csv", ME)
    return entry, drift_kept.shelf().save(entry.id, ME, "Scanner", reference, entry, DriftSettings())


def unused(*ids: str) -> None:
    with writing(store()._engine) as connection:
        connection.execute(sa.update(entries).where(entries.c.id.in_(ids)).values(last_used=datetime(2001, 1, 1)))


def test_the_owner_is_told_what_goes_too_and_it_goes(app, tmp_path):
    entry, monitor = watched(tmp_path)
    open_page(app, "overview", entry)
    app.button("remove").click()
    assert "1 drift monitor" in text(settle(app))
    app.button("remove-yes").click()
    settle(app)
    assert not monitor.folder.exists() and not store().holders()
    assert [one.name for one in store().list(ME)] == ["then.csv"]


def test_nothing_goes_where_somebody_else_asks(workspace, tmp_path):
    entry, monitor = watched(tmp_path)
    with pytest.raises(NotFound):
        removal.remove(entry, OTHER)
    assert monitor.folder.exists() and store().get(entry.id)


def test_a_model_expires_with_its_monitors_unless_one_is_used(workspace, tmp_path, monkeypatch):
    kept, used = watched(tmp_path)
    unused(kept.id)
    removal.clean()
    assert store().get(kept.id) and used.folder.exists()
    monkeypatch.setattr(KeptMonitor, "used_s", lambda _one: 0.0)
    removal.clean()
    with pytest.raises(NotFound):
        store().get(kept.id)
    assert not used.folder.exists() and not store().holders()
