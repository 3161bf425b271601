"""The Training page as a user meets it, without a browser: choosing a log, links, findings."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dashboard.training import log_choice, training_parts
from stethoscope.checks.findings import Fault, Finding, Severity, Span
from stethoscope.jobs.store import store
from tests.conftest import PROJECT
from tests.dashboard.visiting import HOSTILE, ME, PAGES, drawn, keys, open_page, settle, text
from tests.logs.event_writing import event, simple, write_events

SAMPLE = PROJECT / "sample_models" / "built" / log_choice.SAMPLE_FILE


def packed(folder: Path, values=lambda step: 1 / (step + 1), run: str = "run") -> Path:
    """A zip with one run."""
    write_events(folder / "logs" / run, [event(step, simple("loss", values(step))) for step in range(30)])
    target = folder / "logs.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for path in (folder / "logs").rglob("*tfevents*"):
            archive.writestr(zipfile.ZipInfo(path.relative_to(folder / "logs").as_posix()), path.read_bytes())
    return target


def log(folder: Path, name: str = "mine.zip", **how) -> str:
    return store().add_file(packed(folder, **how), name, ME).id


@pytest.fixture
def with_sample(workspace):
    place = workspace.parent / "samples"
    place.mkdir()
    shutil.copy(SAMPLE, place)


def test_nothing_chosen_says_what_goes_here_and_offers_the_sample(app):
    shown = text(open_page(app, "training"))
    assert "Drop it here" in shown
    assert "sample-log" in keys(app)
    assert "follow" not in keys(app)


def test_the_sample_opens_with_one_click_and_its_faults_are_named(app, with_sample):
    open_page(app, "training")
    app.button("sample-log").click()
    shown = text(settle(app))
    assert "6 runs" in shown
    assert app.query_params["log"] in (log_choice.SAMPLE, [log_choice.SAMPLE])
    open_page(app, "training", tab="findings")
    shown = text(settle(app))
    for run in ("faulty/nan", "faulty/overfitting", "faulty/rate\\-too\\-high"):
        assert run.replace("/", "\\/") in shown or run in shown
    assert "healthy" not in shown.replace("\\", "")


def test_a_log_in_the_link_opens_and_survives_another_page(app, tmp_path):
    entry_id = log(tmp_path)
    assert "1 run" in text(open_page(app, "training", log=entry_id))
    app.query_params.clear()
    app.switch_page(PAGES["memory"])
    settle(app)
    app.switch_page(PAGES["training"])
    assert "1 run" in text(settle(app))
    assert entry_id in app.query_params["log"]
    app.button("other-log").click()
    assert "Drop it here" in text(settle(app))
    assert "log" not in app.query_params


def test_a_link_to_a_log_that_is_gone_is_a_sentence(app):
    shown = text(open_page(app, "training", log="gone-gone-gone-gone"))
    assert "Drop it here" in shown
    assert not app.exception
    assert len([one for one in app.warning if "cookies" not in one.value]) == 1


def test_a_file_without_logs_says_what_was_expected(app, tmp_path):
    (tmp_path / "notes.txt").write_text("not a log")
    entry = store().add_file(tmp_path / "notes.txt", "notes.txt", ME)
    shown = text(open_page(app, "training", log=entry.id))
    assert "expected training logs" in shown.replace("\\", "")
    assert "other-log" in keys(app)


def test_names_in_a_log_stay_text(app, tmp_path):
    shown = drawn(open_page(app, "training", log=log(tmp_path, HOSTILE + ".zip", values=lambda step: np.nan)))
    for unsafe in ("<img", "](javascript", ":red["):
        assert unsafe not in "".join(part for at, part in enumerate(shown.split("`")) if at % 2 == 0)


def test_a_folder_is_followed_only_where_the_operator_allows_it(app, tmp_path, monkeypatch):
    packed(tmp_path / "allowed")
    monkeypatch.setenv("STETHOSCOPE_LOG_FOLDERS", str(tmp_path / "allowed"))
    from stethoscope.settings import settings

    settings.cache_clear()
    open_page(app, "training")
    assert "follow" in keys(app)
    app.query_params["folder"] = str(tmp_path)
    shown = text(app.run())
    assert "server may read" in shown.replace("\\", "")
    shown = text(open_page(app, "training", folder=str(tmp_path / "allowed" / "logs")))
    assert "while it is" in shown


def test_findings_mark_their_steps_and_equal_ones_are_said_once():
    span = Span("a", "loss", 3, 5, "here")
    found = tuple(
        Finding(Fault.NUMERICAL, Severity.HIGH, 0.9, "", "m", title="NaN", run=run, marks=(span,)) for run in "abc"
    )
    marks = training_parts.marks(found)
    assert [(mark.run, mark.at, mark.until, mark.severity) for mark in marks] == [("a", 3, 5, "high")] * 3
    assert training_parts._named(found) == "NaN (3 runs)"
    assert training_parts._named(found[:1]) == "NaN (a)"
