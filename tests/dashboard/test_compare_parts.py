"""Runs beside each other as the page Training shows them."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.training import compare_figures, compare_parts, curves_link, followed, tracker_parts, version_parts
from dashboard.training.compare_inputs import usual
from dashboard.training.parallel_view import Column
from stethoscope.logs.runs.axes import axis_of
from stethoscope.logs.runs.compare import Comparison, metric_of
from stethoscope.logs.series import RunLog, Series
from tests.dashboard.visiting import HOSTILE, text
from tests.logs.runs.made_table import table_of

ID = "log-log-log"


def series(tag, values):
    step = np.arange(len(values), dtype=np.int64)
    return Series(tag, step, step.astype(np.float64), np.array(values, np.float64))


def logs(count=24):
    """Two experiments; the loss depends on the learning rate, and at the highest one it is NaN from the start."""
    rng = np.random.default_rng(0)
    made = []
    for place in range(count):
        rate = [1e-4, 1e-3, 1e-2, 1.0][place % 4]
        level = math.nan if rate == 1.0 else abs(math.log10(rate) + 3) + rng.normal(0.3, 0.02)
        losses = level + np.array([1.0, 0.5, 0.0, 0.1])
        made.append(
            RunLog(
                f"run {place}",
                "mlflow-files",
                "epoch",
                {"val_loss": series("val_loss", losses), "val_accuracy": series("val_accuracy", 1 / (1 + losses))},
                parameters={"lr": rate, "optimizer": ["adam", "sgd"][place % 2], "seed": 0},
                group=f"experiment {place % 2}",
                notes={"status": "FINISHED" if place else "FAILED", "data": f"digits v{place % 2}"},
            )
        )
    return made


def page(which: str, job_id: str) -> None:
    from types import SimpleNamespace

    from dashboard.training import compare_parts

    log = SimpleNamespace(
        job_id=job_id, title="logs", file=None, folder=None, owner="me-me-me-me", entry_id="", index={}
    )
    getattr(compare_parts, which)(log)


@pytest.fixture
def shown(tmp_path, workspace, monkeypatch):
    monkeypatch.setattr(version_parts, "_of_files", lambda _log: None)  # a drop zone needs a browser

    def open_logs(runs, **params):
        found = followed.OpenLog(
            ID, "logs", 1, live=False, table=table_of(tmp_path, runs) if runs is not None else None
        )
        monkeypatch.setattr(followed, "opened", lambda _id, look=True: found)
        app = AppTest.from_function(page, args=("show", ID), default_timeout=60)
        for name, value in params.items():
            app.query_params[name] = value
        return checked(app)

    return open_logs


def checked(app):
    app.run()
    assert not app.exception, app.exception
    return app


def table(app):
    return next(one.value for one in app.dataframe if "Place" in one.value)


def lines(app):
    """What the picture of parallel coordinates was given."""
    (found,) = app.get("bidi_component")
    return json.loads(found.proto.json)


def test_the_best_run_comes_first_and_is_named(shown):
    app = shown(logs())
    assert not app.get("plotly_chart")  # it comes when the rest stands
    rows = table(checked(app))
    assert list(rows["Place"][:3]) == [1, 2, 3]
    assert rows["Run"][0].endswith("(best)")
    assert set(rows["lr"][:6]) == {1e-3}
    assert list(rows["val_loss, best"][:18]) == sorted(rows["val_loss, best"][:18])
    assert rows["val_loss, best"][18:].isna().all()
    said = text(app)
    assert "**Best:**" in said
    assert "at epoch 2" in said
    assert "6 runs never" in said
    assert rows["val_loss, not finite"].iloc[-1].split(" points, ")[0] == "4 of 4"
    assert rows["val_loss, not finite"].iloc[-1].endswith("NaN")
    assert len(app.get("plotly_chart")) == 1
    assert lines(app)["runs"][0] == rows["Run"][0].removesuffix(" (best)")
    assert lines(app)["columns"][-1]["full"] == "best val_loss"


def test_what_made_the_difference_is_said_in_words(shown):
    app = shown(logs())
    rows = next(one.value for one in app.dataframe if "Explains" in one.value)
    assert rows["Parameter"][0] == "lr"
    assert rows["What these runs say"][0].startswith("Best with 0.001")
    assert list(rows["Parameter"]) == ["lr", "optimizer"]  # the seed is the same in all


def test_a_filter_narrows_everything_and_stands_in_the_link(shown):
    app = shown(logs(), filter="lr<0.01 optimizer=adam")
    assert set(table(app)["optimizer"]) == {"adam"}
    assert "6 runs of" in text(app)
    app.text_input(key="compare-filter").set_value("nonsense=1")
    assert "nonsense" in text(checked(app))
    app.text_input(key="compare-filter").set_value("lr>5")
    assert "No run meets" in text(checked(app))
    assert app.query_params["filter"] in ("lr>5", ["lr>5"])


def test_another_metric_and_its_direction(shown):
    app = shown(logs(), metrics="val_loss,val_accuracy")
    app.selectbox(key="compare-by").select("val_accuracy")
    checked(app)
    assert "highest of 24" in text(app)
    app.segmented_control(key="compare-better-val_accuracy").set_value("lower")
    assert "lowest of 24" in text(checked(app))
    again = shown(logs(), metrics="val_loss,val_accuracy", by="val_accuracy", better="lower")
    assert "lowest of 24" in text(again)


def test_experiments_are_listed_with_how_their_runs_ended(shown):
    app = shown(logs())
    rows = next(one.value for one in app.dataframe if "Experiment" in one.value)
    assert list(rows["Runs"]) == [12, 12]
    assert rows["Ended"][0] == "11 finished, 1 failed"
    assert rows["Differ in"][0] == "lr"


def test_results_by_version_of_the_data(shown):
    app = shown(logs(), compared="Versions of data")
    rows = app.dataframe[0].value
    assert list(rows["Data"]) == ["digits v0", "digits v1"]
    assert list(rows["Runs"]) == [12, 12]


def test_runs_without_versions_and_without_numbers_say_what_is_missing(shown):
    app = shown([RunLog("a", "tensorboard", "step", {"loss": series("loss", [1.0])})], compared="Versions of data")
    assert "No run says" in text(app)
    assert "no scalars" in text(shown([RunLog("a", "tensorboard", "step", {})]))


def test_runs_without_parameters_say_how_to_get_them(shown):
    app = shown([RunLog(name, "tensorboard", "step", {"loss": series("loss", [1.0, 0.5])}) for name in "ab"])
    assert "say no parameters" in text(app)
    assert len(table(app)) == 2


def test_hostile_names_stay_text(shown):
    app = shown(
        [
            RunLog(
                f"{HOSTILE}{place}",
                HOSTILE,
                "step",
                {HOSTILE: series(HOSTILE, [1.0 + place])},
                parameters={HOSTILE: f"{HOSTILE}{place % 2}", "=x": place},
                group=f"{HOSTILE}{place % 2}",
                notes={HOSTILE: HOSTILE},
            )
            for place in range(8)
        ]
    )
    outside = "".join(part for at, part in enumerate(text(app).split("`")) if at % 2 == 0)
    for unsafe in ("<img", "](javascript", ":red[", " $x$"):
        assert unsafe not in outside
    for chart in checked(app).get("plotly_chart"):
        assert "<img" not in chart.proto.spec


def test_settings_of_one_log_are_not_asked_of_the_next(shown, monkeypatch):
    shown(logs(), filter="run*1")
    other = followed.OpenLog("other", "logs", 1, live=False, table=followed.opened(ID).table)
    monkeypatch.setattr(followed, "opened", lambda _id, look=True: other)
    app = AppTest.from_function(page, args=("show", "other"), default_timeout=60)
    app.session_state["_compare-log"] = ID
    app.query_params["filter"] = "run*1"
    assert len(table(checked(app))) == 24


def test_a_link_to_curves_names_the_runs_as_the_charts_do():
    # Checked against `short` of dashboard/training/curves_view/view_state.js.
    assert curves_link.view_of(["run-1", "exp/ü😀"]) == "vgtgni4.1otbad2"
    assert curves_link.view_of([str(place) for place in range(200)]).count(".") == curves_link.MOST_NAMED - 1


def test_usual_metrics_are_validation_first():
    assert usual({"loss": 1, "val_loss": 1, "accuracy": 1, "val_accuracy": 1, "lr": 1})[:2] == [
        "val_loss",
        "val_accuracy",
    ]
    assert usual({"foo": 2, "bar": 3, "time": 1}) in (["foo"], ["bar"])


def test_nan_is_drawn_at_the_bad_end_of_the_colours():
    low = compare_parts._column(metric_of("loss", [series("loss", [1.0]), series("loss", [math.nan])], False))
    high = compare_parts._column(metric_of("acc", [series("acc", [1.0]), series("acc", [math.nan])], True))
    assert low.axis.position[1] == low.axis.high > 1
    assert high.axis.position[1] == high.axis.low < 1


def test_points_with_the_same_name_lie_beside_each_other():
    names = Column("optimizer", axis_of(["adam"] * 3 + ["sgd"]))
    values = Column("loss", axis_of([1.0, 1.0, 2.0, 3.0]))
    figure = compare_figures.scatter(names, values, list("abcd"), [""] * 4, [""] * 4, 0)
    assert len(set(figure.data[0].x)) == 4
    assert list(figure.layout.xaxis.ticktext) == ["adam", "sgd"]


def test_versions_of_dvc_are_eight_characters():
    runs = Comparison.of([{"run": "a", "notes": {"data raw": f"md5 {'f' * 32}.dir", "outdated": "x"}}, {"run": "b"}])
    assert tracker_parts.versions_of(runs) == ["raw ffffffff", ""]


def test_the_table_is_downloaded_as_csv(shown):
    app = shown(logs())
    copied = next(one.value for one in app.code)
    rows = list(csv.reader(io.StringIO(copied)))
    assert len(rows) == 25
    assert rows[0][:4] == ["run", "group", "lr", "optimizer"]
