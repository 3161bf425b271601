"""The Architecture page in a real browser: properties, colours, columns, weights, large graphs, two models, foreign files."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from stethoscope.settings import Settings
from stethoscope.store import Store
from tests.browser.test_views import GRAPH, open_graph, selected_row, selected_type

DARKNET = (
    "[net]\nwidth=8\nheight=8\nchannels=3\n\n[convolutional]\nfilters=4\nsize=3\nstride=1\npad=1\nactivation=leaky\n"
)


def put(server, path: Path) -> str:
    store = Store(server.workspace / "store", Settings(min_free_disk_bytes=0))
    entry = store.add_file(path, path.name, "somebody")
    store.close()
    return entry.id


def nested_keras(path: Path) -> Path:
    """A model inside a model, and a layer that is called twice; written without a framework's help."""
    import keras

    block = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4, name="inside")], name="encoder")
    shared = keras.layers.Dense(4, name="shared")
    inputs = keras.Input((4,), name="features")
    outputs = shared(shared(block(inputs)))
    keras.Model(inputs, outputs, name="outer").save(path)
    return path


@pytest.mark.parametrize("sample", ["sample-digits-cnn", "sample-digits-cnn-tflite", "sample-diabetes-saved-model"])
def test_a_row_opens_the_properties_of_its_node(visit, sample):
    page, graph = open_graph(visit(), f"/architecture?model={sample}")
    page.locator(".space .row").nth(2).click()
    expect(graph.locator("#sidebar")).to_contain_text("Node Properties", ignore_case=True)
    expect(graph.locator("g.graph-node.select")).to_have_count(1)
    expect(graph.locator("g.graph-node.select")).to_be_in_viewport()
    page.locator(".space .row[aria-selected='true']").click()
    expect(graph.locator("g.graph-node.select")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("layer="))


def test_graph_and_table_have_the_same_colours_and_a_legend(visit):
    page, graph = open_graph(visit(), "/architecture?model=sample-digits-cnn&colour=parameters&layer=hidden")
    legend = page.locator(".legend")
    expect(legend).to_contain_text("Parameters: number of weights (log scale)")
    expect(legend).to_contain_text("16,416")
    swatch = selected_row(page).locator(".swatch").evaluate("one => getComputedStyle(one).backgroundColor")
    node = graph.locator("g.graph-node.select .node-item-type path").first
    page.mouse.move(5, 5)
    expect(node).to_have_css("fill", swatch)
    page.get_by_role("combobox", name="Colour by").click()
    page.get_by_role("option", name="FLOPs").click()
    expect(page).to_have_url(re.compile("colour=flops"))
    expect(legend).to_contain_text("floating-point operations of one call at batch 1")
    expect(page.get_by_role("columnheader", name="FLOPs")).to_be_visible()


def test_columns_batch_and_order_stand_in_the_address(visit):
    page, _ = open_graph(
        visit(), "/architecture?model=sample-digits-cnn&columns=flops,bytes,field,initialiser&batch=32&sort=-flops"
    )
    heads = page.get_by_role("columnheader").all_inner_texts()
    assert heads == ["Layer", "Type", "FLOPs", "Bytes", "Receptive", "Initialiser"]
    first = page.locator(".space .row").first
    expect(first).to_contain_text("strokes")
    expect(first).to_contain_text("5 × 5")
    expect(first).to_contain_text("256 KiB")
    page.get_by_role("columnheader", name="Layer").click()
    expect(page).to_have_url(re.compile("sort=name"))
    expect(page.locator(".space .row").first).to_contain_text("digit")


def test_all_layers_are_downloaded_as_csv(visit, tmp_path):
    page, _ = open_graph(visit(), "/architecture?model=sample-digits-cnn")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV of all").click()
    download.value.save_as(tmp_path / "layers.csv")
    rows = list(csv.DictReader((tmp_path / "layers.csv").open()))
    assert [row["Layer"] for row in rows][:3] == ["image", "edges", "strokes"]
    assert rows[2]["Parameters"] == "4640"


def test_weights_of_the_selected_layer_are_drawn_on_request(visit):
    page, _ = open_graph(visit(), "/architecture?model=sample-digits-cnn&layer=hidden")
    page.get_by_text("Weights", exact=True).click()
    expect(page).to_have_url(re.compile("weights=yes"))
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(2)
    expect(page.get_by_role("code").filter(has_text="kernel")).to_be_visible()


def test_a_layer_inside_a_nested_model_is_opened_in_the_graph(visit, server, tmp_path):
    entry_id = put(server, nested_keras(tmp_path / "nested.keras"))
    page, graph = open_graph(visit(), f"/architecture?model={entry_id}&colour=parameters")
    page.locator(".space .row", has_text="inside").first.click()
    expect(selected_type(graph)).to_contain_text("Dense")
    expect(page).to_have_url(re.compile(r"layer=encoder(%2F|/)inside"))
    page.locator(".space .row", has_text="shared").first.click()
    expect(page.get_by_text("called 2 times, with the same weights")).to_be_visible()


def test_a_large_graph_draws_what_is_seen_and_finds_what_is_far_away(visit, server, tmp_path):
    from benchmarks import big_architecture_models

    entry_id = put(server, big_architecture_models.deep(tmp_path))
    page, graph = open_graph(visit(), f"/architecture?model={entry_id}")
    expect(graph.locator("g.graph-node >> visible=true").nth(399)).to_have_count(0)
    page.get_by_role("grid", name="Layers").focus()
    page.keyboard.press("End")
    expect(selected_row(page)).to_contain_text("block_1249")
    expect(graph.locator("g.graph-node.select")).to_be_in_viewport()
    expect(page).to_have_url(re.compile(r"layer=block_1249(%2F|/)add"))
    expect(graph.locator("#sidebar")).to_contain_text("block_1249/add")


def test_two_models_share_colours_and_selection(visit):
    page = visit().go("/architecture?model=sample-digits-cnn-tflite&other=sample-digits-cnn")
    expect(page.get_by_text("only in this model").first).to_be_visible()
    graphs = [page.frame_locator(GRAPH).nth(place) for place in range(2)]
    for graph in graphs:
        graph.locator("g.graph-node").first.wait_for()
    page.locator(".space .row", has_text="strokes").first.click()
    for graph in graphs:
        expect(selected_type(graph).first).to_contain_text("Conv2D")
    graphs[1].locator("g.graph-node", has_text="Dropout").locator(".node-item-type").click()
    expect(selected_row(page)).to_contain_text("only in the other")
    expect(graphs[0].locator("g.graph-node.select")).to_have_count(0)
    expect(page).to_have_url(re.compile("twin=dropout"))


def test_a_format_that_only_the_viewer_knows_is_drawn(visit, server, tmp_path):
    path = tmp_path / "net.cfg"
    path.write_text(DARKNET)
    page, graph = open_graph(visit(), f"/architecture?model={put(server, path)}")
    expect(page.get_by_text("Only drawn", exact=True)).to_be_visible()
    expect(graph.locator(".node-item-type").first).to_contain_text("convolutional", ignore_case=True)
