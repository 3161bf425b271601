"""The Architecture page on real (light) workers: settings in the address, weights, comparison, files that are only drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from dashboard.architecture import graph_view
from dashboard.routes import netron_assets
from stethoscope.jobs.store import store
from tests.dashboard.visiting import ME, add, keys, open_page, settle, text
from tests.small_models import tiny_onnx


def doubled(path: Path) -> Path:
    """The tiny model with every weight twice as large."""
    model = onnx.load(tiny_onnx(path))
    for tensor in model.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(2 * numpy_helper.to_array(tensor), tensor.name))
    onnx.save(model, path)
    return path


def test_the_address_says_batch_colour_and_columns(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    open_page(app, "architecture", entry, batch="8", colour="flops", columns="shape,flops,bytes", layer="project")
    shown = text(app)
    assert "at batch 8" in shown
    assert app.selectbox("colour").value == "flops"
    assert app.multiselect("layer-columns").value == ["shape", "flops", "bytes"]


def test_a_link_to_colours_that_are_not_known_yet_says_what_would_make_them_known(app, tmp_path):
    open_page(app, "architecture", add(tmp_path, tiny_onnx), colour="time")
    assert "layers: not known" in text(app)
    assert app.selectbox("colour").value == "nothing"
    app.selectbox("colour").set_value("parameters").run()
    assert "layers: not known" not in text(app)


def test_work_that_is_not_known_is_not_called_none(app, tmp_path):
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Mystery", ["x"], ["y"], domain="ours")],
            "g",
            [helper.make_tensor_value_info("x", 1, ["n", 4])],
            [helper.make_tensor_value_info("y", 1, None)],
        ),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ours", 1)],
    )
    (tmp_path / "odd.onnx").write_bytes(model.SerializeToString())
    open_page(app, "architecture", store().add_file(tmp_path / "odd.onnx", "odd.onnx", ME))
    assert "FLOPs are not" in text(app)
    assert "0 FLOP" not in text(app)


def test_weights_are_read_when_they_are_asked_for(app, tmp_path):
    open_page(app, "architecture", add(tmp_path, tiny_onnx), layer="project")
    assert not app.dataframe or "Norm" not in app.dataframe[-1].value
    app.toggle("weights-of-layers").set_value(True)
    settle(app)
    assert app.query_params["weights"] in ("yes", ["yes"])
    table = app.dataframe[-1].value
    assert table["Shape"][0] == "4 × 4"
    assert "Norm" in table


def test_two_models_are_compared_layer_by_layer(app, tmp_path):
    entry = add(tmp_path / "a", tiny_onnx, "first.onnx")
    other = add(tmp_path / "b", doubled, "second.onnx")
    open_page(app, "architecture", entry, other=other.id, layer="project")
    shown = text(app)
    assert "1 other weights" in shown
    assert "Matched by name" in shown
    assert "by 50.0 %" in shown


def test_a_removed_model_to_compare_with_is_a_sentence(app, tmp_path):
    app.query_params["other"] = "gone-gone-gone"
    app.query_params["model"] = add(tmp_path, tiny_onnx).id
    app.run()
    open_page(app, "architecture", other="gone-gone-gone")
    assert "not here any" in text(app)


def test_a_model_that_only_the_viewer_knows_is_drawn_and_says_so(app, tmp_path):
    path = tmp_path / "net.cfg"
    path.write_text(
        "[net]\nwidth=8\nheight=8\nchannels=3\n\n[convolutional]\nfilters=4\nsize=3\nstride=1\npad=1\nactivation=leaky\n"
    )
    entry = store().add_file(path, "net.cfg", ME)
    open_page(app, "architecture", entry)
    assert "Only drawn" in text(app)
    assert "Darknet" in text(app)


def test_a_refused_file_is_not_given_to_the_viewer(app, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<html><script>alert(1)</script></html>")
    open_page(app, "architecture", store().add_file(path, "page.html", ME))
    assert "Only drawn" not in text(app)
    assert "cannot be read" in text(app)


def test_weights_in_the_drawing_are_on_request(app, tmp_path, monkeypatch):
    monkeypatch.setenv("STETHOSCOPE_SKELETON_ABOVE_BYTES", "10")
    entry = add(tmp_path, tiny_onnx)
    open_page(app, "architecture", entry)
    assert "without the weights" in text(app)
    assert "graph-whole" in keys(app)
    assert "/whole&" in graph_view.source(entry.id, entry.name, whole=True).replace("%2F", "/")


def test_the_whole_file_is_served_by_its_own_address(server):
    with store().upload(server.owner) as upload:
        upload.write(b"everything")
        entry = upload.commit("large.tflite")
    answer = server.ask("GET", f"/netron/data/{entry.id}/whole")
    assert (answer.status, answer.body) == (200, b"everything")
    assert answer.headers["cache-control"] == "private, no-store"
    assert server.ask("GET", "/netron/data/nobody-has-this/whole").status == 404


def test_the_private_names_that_the_culling_uses_exist():
    grapher = (netron_assets.PACKAGE / "grapher.js").read_text()
    view = (netron_assets.PACKAGE / "view.js").read_text()
    for name in ("get nodes()", "get edges()", "children(key)", "this.hitTest", "this.labelElement", "edge.points"):
        assert name in grapher, name
    for name in ("async export(file)", "get zoom()", "'translate(${margin"):
        assert name in view or name.replace("'", "`") in view, name


def test_numbers_of_weights_are_those_in_the_file(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    weights = numpy_helper.to_array(onnx.load(entry.path).graph.initializer[0])
    open_page(app, "architecture", entry, layer="project", weights="yes")
    table = app.dataframe[-1].value
    assert float(table["Norm"][0].replace(",", "").replace("−", "-")) == float(f"{np.linalg.norm(weights):.3g}")
