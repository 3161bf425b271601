"""The page Drift on real data, real comparisons and real monitors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from dashboard.deployment import drift_kept
from sample_models import BUILT
from stethoscope.jobs.store import Entry, store
from stethoscope.studies.kept_monitors import KeptMonitors
from tests.dashboard.visiting import ME, OTHER, add, badges, cancel, keys, open_page, said, settle, visitor
from tests.small_models import endless_onnx


@pytest.fixture
def digits(app):
    return store().add_file(BUILT / "digits_cnn.keras", "digits.keras", ME)


@pytest.fixture
def before(app, tmp_path):
    return few("digits_before.npz", tmp_path / "before.npz")


@pytest.fixture
def brighter(app, tmp_path):
    return few("digits_brighter.npz", tmp_path / "brighter.npz")


def few(data: str, path: Path) -> Entry:
    """The first rows of a sample, which are enough."""
    with np.load(BUILT / data) as arrays:
        np.savez(path, **{name: arrays[name][:150] for name in arrays})
    return store().add_file(path, path.name, ME)


@pytest.fixture
def tables(app, tmp_path):
    made = []
    for name, shift in (("then.csv", 0), ("now.csv", 1), ("other.csv", 0)):
        generator = np.random.default_rng(len(made))
        column = "y" if name == "other.csv" else "x"
        lines = [f"{column},b", *(f"{generator.normal(shift):.4f},{generator.normal():.4f}" for _ in range(80))]
        (tmp_path / name).write_text("\n".join(lines))
        made.append(store().add_file(tmp_path / name, name, ME))
    return made


def kept(workspace) -> KeptMonitors:
    return KeptMonitors(workspace / "monitors", store())


def test_without_data_the_page_says_what_to_choose(app):
    open_page(app, "drift")
    assert "Choose data of" in said(app)
    assert "run-Compare" not in keys(app)


def test_digits_and_what_the_model_makes_of_them_reopened_by_link(app, digits, before, brighter):
    open_page(app, "drift", digits, reference=before.id, current=brighter.id)
    assert any("Also what" in toggle.label and toggle.value for toggle in app.toggle)
    app.button("run-Compare").click()
    shown = said(settle(app))
    assert badges(app)["Drift"] == "red"
    assert all(part in shown for part in ("x: contrast most", "Predictions and confidence", "Rows as wholes"))
    assert app.code[-1].value == "stethoscope drift before.npz brighter.npz --model digits.keras"

    link = {name: app.query_params[name] for name in ("model", "job")}
    fresh = visitor("drift", **link, feature="x: sharpness")
    assert badges(fresh) == badges(app)
    assert fresh.selectbox("feature").value == "x: sharpness"
    assert fresh.selectbox("drift-reference").value == before.id


def test_tables_need_no_model_and_a_model_that_does_not_take_them_is_left_out(live_engine, app, digits, tables):
    then, now, _ = tables
    open_page(app, "drift", reference=then.id, current=now.id)
    app.button("run-Compare").click()
    assert "x most" in said(settle(app))
    assert badges(app) == {"Drift": "red"}
    assert "--model" not in app.code[-1].value

    open_page(app, "drift", digits, reference=then.id, current=now.id)
    assert "not take this" in said(app)
    app.button("run-Compare").click()
    assert badges(settle(app)) == {"Drift": "red"}


def test_bad_data_is_a_sentence(app, tables, tmp_path):
    then, _, other = tables
    (tmp_path / "odd.csv").write_text("q\nword\nother\n")
    odd = store().add_file(tmp_path / "odd.csv", "odd.csv", ME)
    open_page(app, "drift", reference=then.id, current=odd.id)
    app.button("run-Compare").click()
    assert "not go together" in said(settle(app))
    assert badges(app) == {"Cannot be compared": "orange"}
    alone = visitor("drift", reference=other.id, current="divided")
    alone.button("run-Compare").click()
    assert "column of moments" in said(settle(alone))
    assert badges(alone) == {"Cannot be compared": "orange"}
    assert "not here" in said(visitor("drift", reference=other.id, current="gone-0123456789"))


def test_a_comparison_is_cancelled(app, tmp_path):
    endless = add(tmp_path, endless_onnx)
    sides = []
    for name in ("then.npz", "now.npz"):
        np.savez(tmp_path / name, x=np.random.default_rng(len(sides)).normal(size=(60, 2)).astype("float32"))
        sides.append(store().add_file(tmp_path / name, name, ME).id)
    open_page(app, "drift", endless, reference=sides[0], current=sides[1])
    assert app.toggle[0].value, "with what the model makes of both, which takes for ever"
    app.button("run-Compare").click()
    assert badges(cancel(app)) == {"Cancelled": "gray"}
    assert "run-Compare" in keys(app)


def test_a_monitor_is_saved_run_again_looked_at_and_deleted(app, tables, workspace, monkeypatch):
    then, now, _ = tables
    open_page(app, "drift", reference=then.id, current=now.id)
    app.button("run-Compare").click()
    settle(app)
    app.text_input("monitor-name").input("Scanner *harbour*")
    app.text_input("monitor-webhook").input("ftp://nowhere")
    app.button("save-monitor-now").click()
    assert "http or https" in said(settle(app))
    assert kept(workspace).of("without-model", ME) == []
    app.text_input("monitor-webhook").input("https://example.org/secret")
    app.button("save-monitor-now").click()
    assert badges(settle(app)) == {"Not run yet": "gray"}
    (monitor,) = kept(workspace).of("without-model", ME)
    app.selectbox("drift-new").select(now.id)
    settle(app)
    app.button("run-monitor").click()
    shown = said(settle(app))
    assert "x most" in shown
    assert "1 run, 1 alarm (" in shown
    assert [run.verdict for run in monitor.history()] == ["drift"]
    assert any(str(monitor.path) in code.value for code in app.code)

    link = {"part": "monitors", "monitor": monitor.id}
    monkeypatch.setattr("dashboard.identity.owner_of", lambda _cookies: OTHER)
    other = visitor("drift", **link)
    assert "1 alarm (" in said(other)
    assert "run-monitor" not in keys(other)
    assert "secret" not in said(other) and not [code for code in other.code if str(monitor.path) in code.value]
    monkeypatch.setattr("dashboard.identity.owner_of", lambda _cookies: ME)

    app.button(f"delete-{monitor.id}").click()
    assert "was deleted" in said(settle(app)) and kept(workspace).of("without-model", ME) == []
    app.button("monitor-undo").click()
    assert "1 alarm (" in said(settle(app))
    assert "was deleted" not in said(app)


def test_a_monitor_of_a_model_runs_with_it_and_a_run_on_other_data_is_a_gap(app, digits, before, brighter, tables):
    open_page(app, "drift", digits, reference=before.id, current=brighter.id)
    app.button("run-Compare").click()
    settle(app)
    app.button("save-monitor-now").click()
    settle(app)
    (monitor,) = drift_kept.shelf().of(digits.id, ME)
    assert json.loads(monitor.path.read_text())["model"] == "model/digits.keras"
    for data in (before, tables[0]):
        app.selectbox("drift-new").select(data.id)
        settle(app)
        app.button("run-monitor").click()
        settle(app)
    assert [run.status for run in monitor.history()] == ["ok", "failed"]
    counts = re.search(r"(\d) runs?, (\d) alarms?.*; (\d) run ", said(app))
    assert counts.groups() == ("2", "0", "1")
