"""The page Drift on real data, real comparisons and real monitors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.deployment import drift_kept
from stethoscope.drift.kept_monitors import KeptMonitors
from stethoscope.store import Entry, store
from tests.conftest import PROJECT
from tests.dashboard.visiting import ME, OTHER, add, keys, open_page, settle, text
from tests.models import endless_onnx

BUILT = PROJECT / "sample_models" / "built"


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


def said(app: AppTest) -> str:
    return text(app).replace("\\", "").replace("\u2060", "")


def visitor(page: str, **link: str) -> AppTest:
    """Somebody who opens a link in a new browser tab."""
    return open_page(AppTest.from_file(str(PROJECT / "dashboard" / "Home.py"), default_timeout=90), page, **link)


def kept(workspace) -> KeptMonitors:
    return KeptMonitors(workspace / "monitors", store())


def test_without_data_the_page_says_what_to_choose(app):
    open_page(app, "drift")
    assert "Choose data of then and data of today" in said(app)
    assert "run-Compare" not in keys(app)


def test_digits_and_what_the_model_makes_of_them_reopened_by_link(app, digits, before, brighter):
    open_page(app, "drift", digits, reference=before.id, current=brighter.id)
    assert any("Also what" in toggle.label and toggle.value for toggle in app.toggle)
    app.button("run-Compare").click()
    shown = said(settle(app))
    assert "x: contrast most" in shown and "Predictions and confidence" in shown and "Rows as wholes" in shown
    assert app.code[-1].value == "stethoscope drift before.npz brighter.npz --model digits.keras"

    link = {name: app.query_params[name] for name in ("model", "job")}
    fresh = visitor("drift", **link, feature="x: sharpness")
    assert "x: contrast most" in said(fresh) and fresh.selectbox("feature").value == "x: sharpness"
    assert fresh.selectbox("drift-reference").value == before.id


def test_tables_need_no_model_and_a_model_that_does_not_take_them_is_left_out(app, digits, tables):
    then, now, _ = tables
    open_page(app, "drift", reference=then.id, current=now.id)
    app.button("run-Compare").click()
    assert "features drifted; x most" in said(settle(app))
    assert "--model" not in app.code[-1].value

    open_page(app, "drift", digits, reference=then.id, current=now.id)
    assert "It does not take this data" in said(app)
    app.button("run-Compare").click()
    assert "features drifted; x most" in said(settle(app))


def test_bad_data_is_a_sentence(app, tables, tmp_path):
    then, _, other = tables
    (tmp_path / "odd.csv").write_text("q\nword\nother\n")
    odd = store().add_file(tmp_path / "odd.csv", "odd.csv", ME)
    open_page(app, "drift", reference=then.id, current=odd.id)
    app.button("run-Compare").click()
    assert "These two do not go together" in said(settle(app))
    alone = visitor("drift", reference=other.id, current="divided")
    alone.button("run-Compare").click()
    assert "expected a column of moments" in said(settle(alone))
    assert "is not here" in said(visitor("drift", reference=other.id, current="gone-0123456789"))


def test_a_comparison_is_cancelled(app, tmp_path):
    endless = add(tmp_path, endless_onnx)
    sides = []
    for name in ("then.npz", "now.npz"):
        np.savez(tmp_path / name, x=np.random.default_rng(len(sides)).normal(size=(60, 2)).astype("float32"))
        sides.append(store().add_file(tmp_path / name, name, ME).id)
    open_page(app, "drift", endless, reference=sides[0], current=sides[1])
    assert app.toggle[0].value, "with what the model makes of both, which takes for ever"
    app.button("run-Compare").click()
    app.run()
    (cancel,) = (button for button in app.button if (button.key or "").startswith("cancel-page"))
    cancel.click()
    app.run()
    assert "This run was cancelled" in text(settle(app))
    assert "run-Compare" in keys(app)


def test_a_monitor_is_saved_run_again_looked_at_and_deleted(app, tables, workspace, monkeypatch):
    then, now, _ = tables
    open_page(app, "drift", reference=then.id, current=now.id)
    app.button("run-Compare").click()
    settle(app)
    app.text_input("monitor-name").input("Scanner *harbour*")
    app.text_input("monitor-webhook").input("ftp://nowhere")
    app.button("save-monitor-now").click()
    assert "expected an http or https address" in said(settle(app))
    app.text_input("monitor-webhook").input("https://example.org/secret")
    app.button("save-monitor-now").click()
    assert "Not run yet" in "".join(badge.value for badge in app.markdown) or "Choose data of today below" in said(
        settle(app)
    )

    (monitor,) = kept(workspace).of("without-model", ME)
    app.selectbox("drift-new").select(now.id)
    settle(app)
    app.button("run-monitor").click()
    shown = said(settle(app))
    assert "features drifted; x most" in shown and "1 run, 1 alarm" in shown
    assert [one["verdict"] for one in monitor.history()] == ["drift"]
    assert any(str(monitor.path) in code.value for code in app.code)

    link = {"part": "monitors", "monitor": monitor.id}
    monkeypatch.setattr("dashboard.identity.owner_of", lambda _cookies: OTHER)
    other = visitor("drift", **link)
    assert "1 run, 1 alarm" in said(other) and "run-monitor" not in keys(other)
    assert "secret" not in said(other) and not [code for code in other.code if str(monitor.path) in code.value]
    monkeypatch.setattr("dashboard.identity.owner_of", lambda _cookies: ME)

    app.button(f"delete-{monitor.id}").click()
    assert "was deleted" in said(settle(app)) and kept(workspace).of("without-model", ME) == []
    app.button("monitor-undo").click()
    assert "1 run, 1 alarm" in said(settle(app)) and "was deleted" not in said(app)


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
    assert [one["status"] for one in monitor.history()] == ["ok", "failed"]
    assert "2 runs, 0 alarms (a red diamond); 1 run did not come to an answer" in said(app)
