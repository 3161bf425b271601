"""Numbers of layers: where they come from, how they become colours, columns and CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from dashboard.architecture import layer_colours, layer_columns, layer_measures
from dashboard.architecture.layer_measures import Measure
from stethoscope.architecture.open_sizes import Sizes
from stethoscope.jobs.store import Entry
from stethoscope.types import Architecture, Layer, TensorSpec
from tests.answers import answer, row_of, state_of


def layer(path: str, kind: str, shape: tuple[int | None, ...], parameters: int = 0, *inputs: str, **config) -> Layer:
    return Layer(path, kind, shape, parameters, parameters, "float32", inputs, config)


MODEL = Architecture(
    format_id="keras",
    framework_version="Keras 3.15.1",
    parameters=3 * 3 * 8 + 8 + 10,
    trainable_parameters=90,
    inputs=(TensorSpec("image", (None, 8, 8, 1), "float32"),),
    outputs=(TensorSpec("y", (None, 6, 6, 8), "float32"),),
    layers=(
        layer("image", "InputLayer", (None, 8, 8, 1)),
        layer(
            "body/conv",
            "Conv2D",
            (None, 6, 6, 8),
            80,
            "image",
            filters=8,
            kernel_size=[3, 3],
            strides=[1, 1],
            padding="valid",
            dilation_rate=[1, 1],
            groups=1,
            use_bias=True,
            activation="linear",
            kernel_initializer={"class_name": "GlorotUniform", "config": {}},
        ),
        layer("=body/act", "ReLU", (None, 6, 6, 8), 10, "body/conv"),
    ),
)


@pytest.fixture
def entry(app, tmp_path) -> Entry:
    from tests.dashboard.visiting import add
    from tests.small_models import tiny_onnx

    return add(tmp_path, tiny_onnx)


def test_only_what_is_known_is_offered_and_costs_follow_the_batch(entry):
    one, many = (layer_measures.of(entry, MODEL, batch, Sizes()) for batch in (1, 32))
    assert list(one) == ["parameters", "flops", "bytes"]
    assert one["bytes"].values["body/conv"] == 6 * 6 * 8 * 4
    assert many["flops"].values["body/conv"] == 32 * one["flops"].values["body/conv"]
    assert one["flops"].values["body/conv"] == pytest.approx(2 * 6 * 6 * 8 * 9, rel=0.1)


def test_time_and_dead_units_are_those_of_the_last_statistics(entry, monkeypatch):
    rows = [
        row_of("activations", "layers", path="body/conv", time_s=0.25, units=8, dead_units=2),
        row_of("activations", "layers", path="body/conv#2", time_s=0.5, units=8, dead_units=4),
        row_of("activations", "layers", path="unknown", units=8, dead_units=None),
    ]
    found = state_of("activations", {**answer("activations", rows=100), "layers": rows})
    monkeypatch.setattr(
        layer_measures.analysis, "last", lambda _entry, kind, saying: found if kind == "activations" else None
    )
    measures = layer_measures.of(entry, MODEL, 1, Sizes())
    assert measures["time"].values == {"body/conv": 0.75}
    assert measures["time"].text(0.75) == "750 ms"
    assert measures["dead"].values == {"body/conv": 0.5}
    assert "100 rows" in measures["dead"].about


def amounts(**values: float) -> Measure:
    return Measure(
        "parameters", {key.replace("_", "/"): value for key, value in values.items()}, lambda v: f"{v:g}", "x"
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_keep_the_order_and_say_when_they_are_logarithmic(theme):
    found, legend = layer_colours.colours(amounts(a=1, b=1000, c=1_000_000, d=0), theme)
    ends = layer_colours.VIRIDIS if theme == "dark" else layer_colours.VIRIDIS[::-1]
    assert (found["a"], found["c"]) == (ends[0], ends[-1])
    assert len(set(found.values())) == 4
    assert "log scale" in legend.title
    assert [text for _, text in legend.ticks] == ["1", "1000", "1e+06"]
    assert [text for _, text in legend.levels] == ["0", "not known"]
    linear, about = layer_colours.colours(amounts(a=50, b=100), theme)
    assert "log" not in about.title
    assert linear["b"] == ends[-1]


def test_colours_of_nothing_but_zeros_have_no_scale():
    found, legend = layer_colours.colours(amounts(a=0, b=0), "light")
    assert found["a"] == found["b"]
    assert not legend.stops


def test_a_block_is_the_sum_of_its_layers_and_shares_are_not_added():
    block = layer_colours.with_blocks(amounts(body_conv=80, body_act=10, image=0), MODEL)
    assert block.values["body"] == 90
    shares = replace(amounts(body_conv=0.5, body_act=0.25), joined="max")
    assert layer_colours.with_blocks(shares, MODEL).values["body"] == 0.5


def test_findings_are_coloured_by_severity():
    found, legend = layer_colours.colours(Measure("findings", {"a": 4.0, "b": 1.0}, str, "x", "max"), "light")
    assert found["a"] != found["b"]
    assert [text for _, text in legend.levels] == ["critical", "low", "none found"]


def test_csv_has_numbers_in_full_and_starts_no_formula(entry):
    measures = layer_measures.of(entry, MODEL, 1, Sizes())
    columns = layer_columns.columns(
        MODEL, measures, ("shape", "parameters", "flops", "field", "initialiser"), short=False
    )
    rows = list(csv.DictReader(io.StringIO(layer_columns.as_csv(columns).decode())))
    assert rows[1]["Parameters"] == "80"
    assert rows[1]["Initialiser"] == "GlorotUniform"
    assert rows[1]["Receptive field"] == "3 × 3"
    assert rows[1]["FLOPs"] == str(int(measures["flops"].values["body/conv"]))
    assert rows[2]["Layer"] == "'=body/act"


def test_what_the_format_does_not_say_is_said_to_be_unknown():
    graph = replace(MODEL, trainable_parameters=None)
    (trainable,) = layer_columns.columns(graph, {}, ("trainable",))[2:]
    assert set(trainable.texts) == {"not stated"}
    assert trainable.values == [None, None, None]
