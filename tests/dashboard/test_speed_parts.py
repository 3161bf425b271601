"""What the view Speed and size of the page Parity says, from the answers of jobs."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.deployment import speed_figures, speed_parts, speed_table
from stethoscope.codec import plain
from stethoscope.compare.latency_row import Row, TimedModel
from stethoscope.jobs.protocol import JobState
from stethoscope.types import Status
from tests.answers import state_of, typed
from tests.dashboard.visiting import HOSTILE, text


def row(
    role: str, size: int, p50_ms: float | None, call: str = "run", runtime: str = "ONNX Runtime 1.31.1", **more
) -> Row:
    untimed = Row(role, role, "onnx", runtime, call, "CPU", 2, size)
    if p50_ms is None:
        return replace(untimed, **more)
    p50_s = p50_ms / 1e3
    timed = replace(
        untimed, calls=500, p50_s=p50_s, p90_s=1.5 * p50_s, p99_s=4 * p50_s, mean_s=1.1 * p50_s, rows_per_s=size / p50_s
    )
    return replace(timed, **more)


def model(role: str, size: int | None, reason: str = "") -> TimedModel:
    return replace(typed("latency").models[0], role=role, name=role, size_bytes=size, reason=reason)


ROWS = [
    row("model", 1, 0.9, "function", "TensorFlow 2.21.0"),
    row("model", 8, 1.4, "function", "TensorFlow 2.21.0"),
    row("other-1", 1, 0.05),
    row("other-1", 8, 1.8),
]
MODELS = [model("model", 4_096), model("other-1", 1_024)]


def value(**changes) -> dict:
    known = {"rows": ROWS, "models": MODELS, "source": "rows.npz", "notes": ["The machine was busy."], **changes}
    return plain(replace(typed("latency"), **known))


NAMES = {"model": "a.keras", "other-1": "b c.onnx"}
PARAMS = {
    "batch_sizes": [1, 8],
    "threads": None,
    "calls": ["function"],
    "seconds": 2.0,
    "device": "auto",
    "seed": 0,
    "other_ids": ["b"],
}


def state(answered=None, status=Status.OK, **params) -> JobState:
    answered = value() if answered is None else answered
    return state_of("latency", answered, status, **{**PARAMS, **params})


def test_the_fastest_and_the_smallest_are_named_with_their_distance_to_the_model_in_view():
    groups, called = speed_table.timed(ROWS), speed_table.titles(ROWS, NAMES)
    assert (
        speed_parts.sentence(1, groups, called)
        == "`b c.onnx` is the fastest with 1 row a call: 50.0 µs, 18 × as fast as `a.keras`."
    )
    assert speed_parts.sentence(8, groups, called) == "`a.keras` is the fastest with 8 rows a call: 1.40 ms."
    assert speed_parts.smallest(MODELS, NAMES) == "`b c.onnx` is the smallest: 1.00 KiB, 25.0 % of `a.keras`."
    alone = speed_table.timed(ROWS[:1])
    assert speed_parts.sentence(1, alone, called) == "`a.keras` takes 900 µs for 1 row."
    assert speed_parts.smallest(MODELS[:1], NAMES) == ""


@pytest.mark.parametrize(
    ("p50_ms", "said"),
    [
        (1.0, "as fast"),
        (0.99, "as fast"),
        (0.5, "2.0 × as fast"),
        (0.8, "20 % less time"),
        (1.3, "30 % more time"),
        (4.0, "4.0 × the time"),
    ],
)
def test_how_one_compares_with_another(p50_ms, said):
    assert speed_table.faster(row("b", 1, p50_ms), row("a", 1, 1.0)) == said


def test_the_table_marks_the_fastest_and_says_where_there_is_no_time():
    rows = [*ROWS, row("other-2", 1, None, reason="c.onnx: damaged.")]
    columns = speed_table.times(rows, speed_table.titles(rows, NAMES))
    assert columns["Rows a call"] == ["1", "1", "1", "8", "8"]
    assert columns["p50"] == ["900 µs", "50.0 µs", "no time", "1.40 ms", "1.80 ms"]
    assert columns["Against the model in view"] == ["—", "18 × as fast, fastest", "—", "fastest", "29 % more time"]
    whole = speed_table.models([*MODELS, model("other-2", None)], NAMES)
    assert whole["Size"] == ["4.00 KiB", "1.00 KiB", "—"]
    assert whole["Against the model in view"] == ["—", "25.0 %", "—"]


def test_a_model_called_in_several_ways_has_a_line_for_each():
    rows = [row("model", 1, 1.0, "function"), row("model", 1, 2.0, "predict"), row("other-1", 1, 1.0)]
    assert set(speed_table.titles(rows, NAMES).values()) == {
        "a.keras · tf.function(model)(x)",
        "a.keras · model.predict(x)",
        "b c.onnx",
    }


def test_all_numbers_as_csv_start_no_formula():
    rows = [row("model", 1, 0.9, model="=cmd")]
    (told,) = csv.DictReader(io.StringIO(speed_table.as_csv(rows, MODELS).decode()))
    assert told["model"] == "'=cmd"
    assert float(told["p50_s"]) == pytest.approx(9e-4)
    assert told["size_bytes"] == "4096"


def test_the_picture_has_a_dot_and_two_whiskers_for_each_and_one_fastest_in_each_group():
    figure = speed_figures.by_batch(speed_table.timed(ROWS), speed_table.titles(ROWS, NAMES))
    dots = [one for one in figure.data if one.mode == "markers" and one.x[0] is not None]
    assert len(dots) == 4
    assert [one.marker.symbol for one in dots] == ["circle", "diamond", "diamond", "circle"]
    assert len([one for one in figure.data if one.mode == "lines"]) == 8
    assert sorted(one.name for one in figure.data if one.showlegend) == ["ONNX Runtime", "TensorFlow"]
    low, high = figure.layout.xaxis.range
    assert low < math.log10(0.00005)
    assert high > math.log10(0.0072)


def test_a_picture_without_high_percentiles_is_drawn():
    rows = [row("model", 1, 1_500.0, p90_s=None, p99_s=None)]
    figure = speed_figures.by_batch(speed_table.timed(rows), speed_table.titles(rows, NAMES))
    assert not [one for one in figure.data if one.mode == "lines"]


def test_the_command_does_the_same():
    assert speed_parts.command(state(), NAMES) == (
        "stethoscope latency a.keras 'b c.onnx' --data rows.npz --batch-sizes 1,8 --seconds 2"
    )
    asked = state(value(source="dummy"), threads=4, calls=["function", "predict"], device="cpu", seed=3)
    assert speed_parts.command(asked, NAMES).endswith(
        "--batch-sizes 1,8 --threads 4 --calls function,predict --seconds 2 --device cpu --seed 3"
    )


def page(job, names) -> None:
    from dashboard.deployment import speed_parts

    speed_parts.answer(job, names)


def drawn(job: JobState, names=NAMES) -> AppTest:
    app = AppTest.from_function(page, args=(job, names), default_timeout=90).run()
    assert not app.exception, app.exception
    return app


def test_an_answer_has_the_picture_both_tables_and_how_it_was_done(workspace):
    app = drawn(state())
    said = text(app).replace("\\", "")
    groups, called = speed_table.timed(ROWS), speed_table.titles(ROWS, NAMES)
    for sentence in (speed_parts.sentence(1, groups, called), speed_parts.sentence(8, groups, called)):
        assert sentence.replace("\\", "") in said
    assert speed_parts.smallest(MODELS, NAMES).replace("\\", "") in said
    assert "machine was busy" in said
    assert "2 threads" in said
    assert "2 cores" in said
    assert "short turns" in said
    assert len(app.get("plotly_chart")) == 1
    assert len(app.dataframe) == 2
    assert app.code[0].value == speed_parts.command(state(), NAMES)
    apart = text(drawn(state(value(together=False))))
    assert "short turns" not in apart
    assert "after the other" in apart


def test_names_and_reasons_from_files_stay_text(workspace):
    rows = [*ROWS, row("other-2", 1, None, reason=f"{HOSTILE} is damaged.")]
    models = [*MODELS, model("other-2", None, f"{HOSTILE} is damaged.")]
    hostile = value(rows=rows, models=models, notes=[HOSTILE])
    app = drawn(state(hostile), {"model": HOSTILE, "other-1": HOSTILE, "other-2": HOSTILE})
    assert len([one for one in app.warning if "is damaged" in one.value]) == 1
    outside = "".join(part for place, part in enumerate(text(app).split("`")) if place % 2 == 0)
    assert not re.search(r"(?<!\\)<img", outside)


@pytest.mark.parametrize(
    ("status", "word"), [(Status.TIMED_OUT, "before the run"), (Status.OUT_OF_MEMORY, "its limit")]
)
def test_a_run_that_ended_badly_says_so_and_keeps_what_was_found(workspace, status, word):
    app = drawn(state(value() if status is Status.TIMED_OUT else {}, status))
    assert word in text(app)
    assert len(app.dataframe) == (2 if status is Status.TIMED_OUT else 0)
