"""The page Activations on small ONNX models, and the parts of it that need no browser."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dashboard.activations import (
    activation_compare,
    activation_figures,
    activation_layers,
    activation_maps,
    attribution_inputs,
    map_grid,
)
from dashboard.activations.attribution_parts import as_picture, fed_in_bgr
from stethoscope.activations.layer_totals import LayerStatistics
from stethoscope.codec import decode
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.jobs.store import store
from stethoscope.types import Architecture, Layer, TensorSpec
from tests.answers import row_of
from tests.dashboard.visiting import ME, add, address, badges, open_page, settle, text
from tests.exploring import examples
from tests.small_models import signal_onnx, tiny_onnx


def data(tmp_path):
    np.savez(tmp_path / "rows.npz", x=np.arange(12, dtype=np.float32).reshape(3, 4), y=np.array([0, 1, 0]))
    return store().add_file(tmp_path / "rows.npz", "rows.npz", ME)


def architecture(*layers: Layer, format_id: str = "keras") -> Architecture:
    spec = TensorSpec("x", (None, 4), "float32")
    return Architecture(format_id, "", 0, 0, (spec,), (spec,), layers)


def layer(path: str, kind: str, shape: tuple[int | None, ...], parameters: int = 0) -> Layer:
    return Layer(path, kind, shape, parameters, parameters, "float32")


@examples(100)
@given(arrays(np.float64, (3, 2, 4), elements=st.floats(-1e6, 1e6) | st.just(np.nan) | st.just(np.inf)))
def test_maps_keep_their_values_through_the_bytes_they_travel_in(maps):
    coded, told = map_grid.encoded(maps)
    for bytes_of_one, values, (low, high, broken) in zip(coded, maps, told, strict=True):
        finite = np.isfinite(values)
        assert broken == (~finite).sum()
        assert (bytes_of_one[~finite] == 255).all()
        assert (bytes_of_one[finite] < 255).all()
        back = low + (high - low) * bytes_of_one[finite] / 254
        np.testing.assert_allclose(back, values[finite], atol=max(1e-9, (high - low) / 254))


def test_the_first_layer_shown_is_one_that_learned_maps():
    made = architecture(
        layer("in", "InputLayer", (None, 8, 8, 1)),
        layer("scale", "Rescaling", (None, 8, 8, 1)),
        layer("conv", "Conv2D", (None, 6, 6, 4), 40),
        layer("out", "Dense", (None, 3), 9),
    )
    assert activation_layers.default(made) == "conv"
    dense = architecture(layer("ones", "OnesLike", (None, 8)), layer("words", "Embedding", (None, 8, 4), 99))
    assert activation_layers.default(dense) == "words"
    assert activation_layers.default(architecture()) is None


def test_no_maps_are_asked_of_a_layer_that_has_none():
    made = architecture(layer("conv", "Conv2D", (None, 6, 6, 4)), layer("out", "Dense", (None, 3)))
    assert not activation_maps.is_flat(made, "conv")
    assert activation_maps.is_flat(made, "out#2")
    assert not activation_maps.is_flat(made, "absent")


def test_only_methods_that_can_work_are_offered():
    keras = architecture(layer("conv", "Conv2D", (None, 6, 6, 4), 40))
    assert attribution_inputs.offered(keras)[0] == "grad_cam"
    assert "grad_cam" not in attribution_inputs.offered(architecture(layer("d", "Dense", (None, 4), 2)))
    assert attribution_inputs.offered(architecture(format_id="tflite")) == ["occlusion"]


def test_the_same_layer_is_found_in_an_export():
    mine = architecture(layer("edges", "Conv2D", (None, 8, 8, 16), 9))
    other = architecture(
        layer("m/edges_1/conv", "Conv", (None, 16, 8, 8)),
        layer("m/edges_1/Relu", "Relu", (None, 16, 8, 8)),
        layer("m/edges_1/Shape", "Shape", (4,)),
    )
    assert activation_compare.counterpart(mine, "edges", other) == "m/edges_1/Relu"
    assert activation_compare.counterpart(mine, "edges", architecture()) is None


@pytest.mark.parametrize(
    ("shape", "axis"), [((5, 6, 3), 2), ((3, 5, 6), 0), ((5, 6), None), ((5, 6, 7), 2), ((5, 6, 4), 2)]
)
def test_what_was_fed_becomes_a_picture(shape, axis):
    made = as_picture(np.random.default_rng(0).normal(size=shape).astype(np.float32), axis)
    assert made.shape == (5, 6, 3)
    assert made.dtype == np.uint8
    assert made.max() == 255 or shape[-1] in (4, 7)


def test_a_picture_fed_in_bgr_is_drawn_in_its_own_colours():
    caffe = {"step": "imagenet", "of": "x", "mode": "caffe"}
    assert fed_in_bgr(Preparation.from_json([caffe]), "input_layer")
    assert not fed_in_bgr(Preparation.from_json([caffe, {"step": "channels", "of": "x", "mode": "rgb_to_bgr"}]), "x")
    assert not fed_in_bgr(Preparation.from_json([{"step": "imagenet", "of": "x", "mode": "tf"}]), "x")


def test_a_matrix_of_nothing_but_nan_is_still_a_picture():
    figure = activation_figures.matrix(np.full((2, 3), np.nan), down="y", across="x", value="v")
    assert np.isnan(np.asarray(figure.data[0].z, float)).all()


def test_values_of_a_layer_for_a_row_of_the_data(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    shown = text(
        open_page(app, "activations", entry, input="Your data", data=data(tmp_path).id, look="values", places="2")
    )
    assert "`project`" in shown
    assert "16.0 to 22.0" in shown


def test_an_attribution_says_what_was_explained(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    shown = text(
        open_page(app, "activations", entry, input="Your data", data=data(tmp_path).id, look="why", places="1")
    )
    for part in ("unit 3", "only occlusion works", "of the baseline", "14.0"):
        assert part in shown


def test_statistics_run_over_the_whole_data(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    app = open_page(app, "activations", entry, input="Your data", data=data(tmp_path).id, look="statistics")
    assert "over 3 rows" not in text(app)
    app.button("run-Run the statistics").click()
    assert "over 3 rows" in text(settle(app))


def test_a_row_that_is_not_there_is_a_sentence(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    shown = text(
        open_page(app, "activations", entry, input="Your data", data=data(tmp_path).id, look="values", places="99")
    )
    assert "0 to 2" in shown
    assert "99" in shown


def test_every_view_shows_something_or_says_why_not_on_random_input(app, tmp_path):
    open_page(app, "activations", add(tmp_path, tiny_onnx), look="values", layer="gone")
    assert "`project`" in text(app)  # the first one, as there is no such layer
    assert "Click a sample" in text(app)
    for view in ("maps", "attention", "why", "similarity", "projection", "compare", "statistics"):
        app.session_state["look"] = view
        assert len(text(settle(app))) > 100, view
        assert address(app, "look") == view
        assert not app.error, view


def test_the_layer_beside_the_one_chosen_opens_the_model_no_second_time(app, tmp_path):
    entry = add(tmp_path, signal_onnx)
    app = open_page(app, "activations", entry, look="values", layer="frame")
    assert "`frame`" in text(app)
    app.query_params["layer"] = "project"
    assert "`project` · 2" in text(settle(app.run()))
    assert [json.loads(asked)[0] for asked in app.session_state["_asked-jobs"]] == ["look"]


def test_data_that_does_not_fit_is_one_click_from_being_made_to(app, tmp_path):
    np.savez(tmp_path / "wide.npz", x=np.zeros((3, 5), np.float32))
    wide = store().add_file(tmp_path / "wide.npz", "wide.npz", ME)
    app = open_page(app, "activations", add(tmp_path, tiny_onnx), input="Your data", data=wide.id, look="values")
    assert any("not fit" in label for label in badges(app))
    assert any("the data fit" in link.label for link in app.get("page_link"))


def test_token_ids_do_not_hide_the_layers_in_the_picture_over_the_depth():
    from dashboard.activations.activation_statistics import depth

    said = [
        {"path": "ids", "type": "InputLayer", "mean": 15_000, "std": 8_000},
        {"path": "mask", "type": "InputLayer", "mean": 1, "std": 0},
        {"path": "first", "type": "Dense", "mean": 0.1, "std": 1.0},
        {"path": "broken", "type": "Dense", "mean": None, "std": None, "nonfinite": 3},
        {"path": "last", "type": "Dense", "mean": -0.1, "std": 0.5},
    ]
    rows = [decode(LayerStatistics, row_of("activations", "layers", **one)) for one in said]
    band, line, _ = depth(rows).data
    assert [None if value != value else float(value) for value in line.y] == [None, 1, 0.1, None, -0.1]
    assert list(band.x) == [1, 2, 4, 4, 2, 1]
