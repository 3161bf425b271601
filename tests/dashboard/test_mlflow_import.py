"""Runs of a server that the operator allows, kept as the viewer's own upload."""

from __future__ import annotations

import time

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.training import mlflow_import
from stethoscope.errors import NotFound, QuotaExceeded
from stethoscope.jobs.store import store
from stethoscope.logs.mlflow_server import Experiment
from stethoscope.logs.mlflow_sqlite import TRACKER
from stethoscope.settings import settings
from stethoscope.types import UploadKind
from tests.dashboard.visiting import ME, OTHER, text
from tests.logs.test_mlflow_server import API, RUN, Answers, serve  # noqa: F401 - a fixture
from tests.waiting import until


@pytest.fixture
def url(serve, workspace, monkeypatch):  # noqa: F811
    address, _server = serve()
    monkeypatch.setenv("STETHOSCOPE_MLFLOW_URLS", address)
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "secret")
    yield address
    for one in mlflow_import._imports.values():
        one.stop.set()
    mlflow_import._imports.clear()


def ended(made):
    until(lambda: made.done)
    return made


def test_runs_arrive_as_an_upload_of_who_asked(url):
    found = mlflow_import.experiments(url)
    made = ended(mlflow_import.begin(url, found, ME))
    assert made.problem == ""
    entry = store().get(made.entry_id)
    assert (entry.owner, entry.kind, entry.file.suffix) == (ME, UploadKind.LOGS, ".db")
    older, run = TRACKER.read(entry.file.path)
    assert (older.run, run.run, run.group) == ("first (bb)", "first (aa)", "digits")
    assert len(run.series["loss"].value) == 5
    assert mlflow_import.find(made.id, ME) is made
    assert mlflow_import.find(made.id, OTHER) is None


def test_only_servers_the_operator_names_are_asked(url):
    for address in ("http://127.0.0.1:1", url + "/", "file:///etc/passwd"):
        with pytest.raises(NotFound, match="operator"):
            mlflow_import.experiments(address)
        with pytest.raises(NotFound, match="operator"):
            mlflow_import.begin(address, [], ME)


def test_credentials_go_only_where_one_server_is_named(serve, workspace, monkeypatch):  # noqa: F811
    address, server = serve()
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "secret")
    monkeypatch.setenv("STETHOSCOPE_MLFLOW_URLS", f"{address} http://localhost:9")
    mlflow_import.experiments(address)
    settings.cache_clear()
    monkeypatch.setenv("STETHOSCOPE_MLFLOW_URLS", address)
    mlflow_import.experiments(address)
    sent = [headers.get("Authorization") for _, _, headers in server.asked]
    assert sent == [None, None, "Bearer secret", "Bearer secret"]


def test_it_can_be_cancelled_and_one_person_reads_one_at_a_time(serve, workspace, monkeypatch):  # noqa: F811
    class Slow(Answers):
        def do_GET(self):
            time.sleep(0.2)
            self.answer({"metrics": [], "next_page_token": str(time.monotonic())})

    address, _ = serve(Slow)
    monkeypatch.setenv("STETHOSCOPE_MLFLOW_URLS", address)
    made = mlflow_import.begin(address, [Experiment("1", "digits")], ME)
    with pytest.raises(QuotaExceeded):
        mlflow_import.begin(address, [Experiment("1", "digits")], ME)
    made.stop.set()
    assert "cancelled" in ended(made).problem
    assert made.entry_id == ""


def test_a_server_that_fails_is_a_sentence(serve, workspace, monkeypatch):  # noqa: F811
    class Broken(Answers):
        def do_POST(self):
            self.answer(b"<html>", 500)

    address, _ = serve(Broken)
    monkeypatch.setenv("STETHOSCOPE_MLFLOW_URLS", address)
    made = ended(mlflow_import.begin(address, [Experiment("1", "digits")], ME))
    assert "status 500" in made.problem


def page() -> None:
    import streamlit as st

    from dashboard.training import mlflow_parts

    mlflow_parts.choose("me-me-me-me", lambda entry: st.write(f"arrived {entry}"))


def test_from_the_list_of_experiments_to_an_upload(url):
    app = AppTest.from_function(page, default_timeout=30).run()
    app.button("mlflow-list").click().run()
    assert len(app.multiselect("mlflow-chosen").options) == 2
    app.multiselect("mlflow-chosen").select("1").run()
    app.button("mlflow-read").click().run()
    until(lambda: "arrived" in text(app.run()))
    assert not app.exception


def test_nothing_is_drawn_where_no_server_is_allowed(workspace):
    app = AppTest.from_function(page, default_timeout=30).run()
    assert text(app) == ""
    assert not app.button
