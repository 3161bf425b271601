"""What the page Drift says about comparisons and monitors, from answers of real comparisons."""

from __future__ import annotations

import csv
import io
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.deployment import (
    drift_features,
    drift_figures,
    drift_monitors,
    drift_parts,
    drift_score,
    drift_time,
    drift_whole,
    monitor_figures,
)
from stethoscope.codec import plain
from stethoscope.drift.settings import DriftSettings
from stethoscope.jobs.protocol import JobState
from stethoscope.studies.kept_monitor import KeptMonitor
from stethoscope.studies.monitor import Monitor, MonitorRun
from stethoscope.types import JobResult, Status
from tests.dashboard.visiting import HOSTILE, badges, text
from tests.drift.sides import compared, side

VIEW = session.View("me", None)


def log(seed: int, wrong: float, ink: float):
    generator = np.random.default_rng(seed)
    labels = generator.choice(["cat", "dog"], 400)
    missed = generator.random(400) < wrong
    said = np.where(missed, np.where(labels == "cat", "dog", "cat"), labels)
    return side(
        **{HOSTILE: generator.normal(ink, 1, 400)},
        site=generator.choice(["north", "south"], 400),
        prediction=said,
        label=labels,
        confidence=generator.uniform(0.5, 1, 400),
        when=np.arange(400.0) + 1_700_000_000 + 400 * seed,
    )


@pytest.fixture(scope="module")
def report():
    return compared(log(0, 0.05, 0), log(1, 0.4, 1), subgroups=True, time="when")


@pytest.fixture(scope="module")
def quiet():
    return compared(log(0, 0.05, 0), log(0, 0.05, 0), subgroups=True)


def state(report=None, status=Status.OK, error="", **params) -> JobState:
    result = JobResult(
        status,
        plain(report) if report else {},
        "" if report else "Expected columns that it has too, got none.",
        "",
        1 << 20,
        2.0,
        {},
        error,
    )
    return JobState(
        "job-of-drift-0123",
        "drift",
        "me",
        "model",
        0.0,
        {"reference_id": "r", "current_id": "c", **params},
        "done",
        result=result,
    )


def drawn(shown: JobState) -> AppTest:
    def script(shown, view):
        from dashboard.deployment import drift_parts

        drift_parts.answer(shown, view)

    app = AppTest.from_function(script, default_timeout=60, kwargs={"shown": shown, "view": VIEW}).run()
    assert not app.exception, app.exception
    return app


def test_a_whole_answer_is_drawn_and_nothing_in_a_name_is_interpreted(report):
    app = drawn(state(report))
    said = text(app).replace("\\", "").replace("\u2060", "")
    assert badges(app)["Drift"] == "red"
    assert "features drifted" in said
    assert "a classifier tries" in said.lower()
    assert "changed from 9" in said
    assert "outside of its" in said
    assert HOSTILE not in text(app)
    titles = app.dataframe[0].value
    assert titles["Feature"].iloc[0] == drift_features.escape.clip(report.features[0].name)
    assert titles["p, corrected"].dtype.kind == "f"


def test_the_score_of_both_sides_is_among_the_facts(report):
    then, now, change = drift_score.facts(report.score)
    assert then[0].startswith("Accuracy") and then[1].endswith("%")
    assert float(now[1].split()[0]) < float(then[1].split()[0]) and change[1].startswith("−")
    assert not drift_score.facts(None)


def test_no_drift_says_what_could_have_been_shown(quiet):
    app = drawn(state(quiet))
    assert badges(app)["No drift found"] == "green"
    assert "standard deviations" in text(app)
    assert "rows could show" in text(app)


@pytest.mark.parametrize(
    ("error", "words"),
    [("BadInput", "not go together"), ("UnreadableFile", "cannot be read"), ("", "could not finish")],
)
def test_what_ended_without_an_answer_is_a_sentence(error, words):
    app = drawn(state(status=Status.FAILED, error=error))
    assert words in text(app)
    assert badges(app) == ({"Cannot be compared": "orange"} if error else {"Failed": "red"})


def test_the_table_has_numbers_to_sort_by_and_the_file_no_formulas(report):
    features = [replace(report.features[0], name="=1+1"), *report.features]
    rows = list(csv.reader(io.StringIO(drift_features.as_csv(features))))
    assert rows[1][0] == "'=1+1" and len(rows) == len(features) + 1
    twice = drift_features.by_key([report.features[0]] * 2)
    assert len(twice) == 2 and list(twice)[1].endswith("(2)")
    table = drift_features.table(drift_features.by_key(report.features))
    assert {len(column) for column in table.values()} == {len(report.features)}


def test_both_sides_are_drawn_as_shares(report):
    rows = {row.name: row for row in report.features}
    numbers = drift_figures.both_sides(rows[HOSTILE])
    assert [trace.name for trace in numbers.data[:2]] == ["reference", "current"] and "<img" not in numbers.to_json()
    bars = drift_figures.both_sides(rows["accuracy"])
    assert [trace.name for trace in bars.data] == ["reference", "current"] and sum(bars.data[0].x) == pytest.approx(100)
    assert drift_figures.both_sides(replace(rows["accuracy"], histogram=None)) is None


def test_time_and_groups_in_words(report):
    assert "accuracy outside" in drift_time.sentence(report.over_time)
    assert "no labels" in drift_time.sentence(replace(report.over_time, measure=None))
    figure = drift_figures.control_chart(report.over_time.stretches, "accuracy", 0.95)
    assert "diamond" in figure.data[2].marker.symbol
    groups = drift_whole.groups_table([group for group in report.subgroups.groups if group.drifted])
    assert any("site is" in where for where in groups["Where"])


def test_the_command_does_the_same(report):
    asked = state(report, alpha=0.01, min_effect="small", columns=["a", "b c"], current_id="c")
    assert drift_parts.command(asked, report, VIEW) == (
        "stethoscope drift rows rows --alpha 0.01 --min-effect 0.1 --columns 'a,b c'"
    )
    earlier = replace(report.rows.reference, name="-log.csv (earlier half)")
    divided = replace(report, rows=replace(report.rows, reference=earlier))
    assert drift_parts.command(state(report, current_id="divided"), divided, VIEW) == "stethoscope drift ./-log.csv"


RUNS = [
    MonitorRun("2026-03-01T06:00:00+00:00", "a.csv", "ok", "no_drift", "None.", p_value=0.4, psi=0.01),
    MonitorRun("2026-03-02T06:00:00+00:00", HOSTILE, "failed", sentence="No file."),
    MonitorRun("what?", "c.csv", "ok", "drift", "x drifted.", p_value=1e-300, psi=0.4, accuracy=0.8),
]


def test_runs_are_drawn_against_their_thresholds_with_gaps():
    figure = monitor_figures.runs_p(RUNS, 0.05)
    line, failed = figure.data
    assert line.y[1] is None and line.connectgaps is False and line.y[2] >= 1e-12
    assert list(failed.x) == [1] and "did not run" in failed.customdata[0] and "<img" not in failed.customdata[0]
    assert figure.layout.shapes[0].y0 == 0.05
    assert monitor_figures.runs_effect(RUNS, 0.25).layout.shapes[0].y0 == 0.25
    assert monitor_figures.runs_accuracy(RUNS).data[0].y[2] == 80
    assert drift_monitors.table(RUNS)["Answer"] == ["drift", "did not run", "no drift"]
    tones = [drift_monitors.last(RUNS[: count + 1])[0] for count in range(3)]
    assert tones == ["good", "careful", "bad"] and drift_monitors.last([])[1] == "Not run yet"


def test_the_command_for_a_schedule_has_whole_paths(tmp_path):
    kept = KeptMonitor("a-monitor", "model", "me", "Mine", "", tmp_path / "with space")
    said = shlex.split(drift_monitors.command(kept, Monitor(Path("then.parquet"), DriftSettings())))
    assert Path(said[0]).is_absolute() and said[-4:-1] == ["drift", "--monitor", str(kept.path)]
    assert said[-1] == "/path/to/today.parquet"
