"""Versions of data as the page shows them, read by real (light) workers."""

from __future__ import annotations

import tarfile

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import progress, upload_view
from stethoscope.jobs.store import store
from tests.dashboard.visiting import ME, settle, text
from tests.logs.test_dvc import repository


def page(what: str, entry_id: str, folder: str = "") -> None:
    from pathlib import Path
    from types import SimpleNamespace

    from dashboard.training import version_parts
    from stethoscope.jobs.store import store

    file = store().get(entry_id).file if entry_id else None
    log = SimpleNamespace(
        owner="me-me-me-me",
        file=file,
        folder=Path(folder) if folder else None,
        title="logs",
        entry_id=entry_id,
        job_id="log",
    )
    getattr(version_parts, what)(log)


@pytest.fixture
def shown(workspace, engine, monkeypatch):
    monkeypatch.setattr(progress, "engine", lambda: engine)
    monkeypatch.setattr(upload_view, "show", lambda **_: [])  # a drop zone needs a browser

    def open_view(what, entry="", folder="", **params):
        app = AppTest.from_function(page, args=(what, entry, folder), default_timeout=60)
        for name, value in params.items():
            app.query_params[name] = value
        return settle(app)

    return open_view


def upload(path, name):
    return store().add_file(path, name, ME).id


def packed(tmp_path, name, **options):
    repository(tmp_path / name / "repo", **options)
    with tarfile.open(tmp_path / f"{name}.tar", "w") as out:
        out.add(tmp_path / name / "repo", "repo", filter=lambda one: one.replace(mtime=0, deep=False))
    return upload(tmp_path / f"{name}.tar", f"{name}.tar")


def test_which_data_each_stage_rests_on(shown, tmp_path):
    app = shown("_of_repository", packed(tmp_path, "now"))
    rows = app.dataframe[0].value
    assert list(rows["Stage"]) == ["prepare", "train", "evaluate"]
    assert rows["Rests on"][1] == "data/raw aaaaaaaa"
    assert rows["State"][2].startswith("out of date") and "never ran" in rows["State"][2]


def test_what_changed_since_an_older_lock_file(shown, tmp_path):
    now = packed(tmp_path, "now", digest="f" * 32, lr="1e-2")
    older = upload(repository(tmp_path / "older") / "dvc.lock", "dvc.lock")
    app = shown("_of_repository", now, before=older)
    said = text(app).replace("\\", "").replace("\u2060", "")
    assert "Data data/raw: aaaaaaaa" in said
    assert "0.001 → 0.01" in said
    assert list(app.dataframe[1].value["State"]) == ["dvc.lock", "now.tar"]


def test_a_folder_is_read_once_until_asked_again(shown, engine, tmp_path):
    before = len(engine.jobs())
    app = shown("_of_repository", folder=str(repository(tmp_path / "repo")))
    app.run()
    app.run()
    assert len(engine.jobs()) == before + 1
    app.button("versions-again").click().run()
    assert len(engine.jobs()) == before + 2


def test_a_fingerprint_and_what_changed(shown, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(3, 2))
    np.save(tmp_path / "same.npy", np.arange(6).reshape(3, 2))
    (tmp_path / "more.csv").write_text("0,1\n2,3\n4,5\n6,7\n")
    one, same, more = (upload(tmp_path / name, name) for name in ("x.npy", "same.npy", "more.csv"))
    app = shown("_of_files", data=one)
    assert len(app.code[0].value) == 64
    assert "the same values" in text(shown("_of_files", data=one, older=same))
    said = text(shown("_of_files", data=more, older=one)).replace("\\", "")
    assert "3 → 4" in said


def test_an_upload_that_is_gone_says_so_and_asks_for_another(shown):
    app = shown("_of_files", data="gone-gone-gone-gone")
    assert len(app.warning) == 1
    assert "data" not in app.query_params
