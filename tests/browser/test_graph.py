"""The page Architecture: graph and table select each other in every format, colours, columns, weights, links, odd files."""

from __future__ import annotations

import csv
import re
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests.browser.drawing import choose
from tests.browser.graphs import GRAPH, graph_of, inside, rows_of, selected_row, selected_type
from tests.browser.small_screens import assert_nothing_is_cut_off
from tests.browser.steps import step
from tests.browser.stored import put
from tests.small_models import tiny_onnx
from tests.waiting import until

DARKNET = (
    "[net]\nwidth=8\nheight=8\nchannels=3\n\n[convolutional]\nfilters=4\nsize=3\nstride=1\npad=1\nactivation=leaky\n"
)
SELECTED = "[...((w.__view__.target || {}).selection || [])].map((one) => one.value.name).join()"
BACKGROUND = "w.getComputedStyle(w.document.body).backgroundColor"


def select_each_other(page: Page, graph: FrameLocator) -> None:
    """A row selects its node and opens its properties; a node selects its row; a row that is clicked again lets go."""
    row = rows_of(page).nth(3)
    kind = row.locator(".cell").nth(1).inner_text()
    row.click()
    expect(selected_type(graph).first).to_contain_text(kind, ignore_case=True)
    expect(graph.locator("#sidebar")).to_contain_text("Node Properties", ignore_case=True)
    expect(graph.locator("g.graph-node.select")).to_have_count(1)
    expect(graph.locator("g.graph-node.select")).to_be_in_viewport()
    expect(page).to_have_url(re.compile("layer="))
    selected_row(page).click()
    expect(graph.locator("g.graph-node.select")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("layer="))
    other = graph.locator("g.graph-node:not(.select) .node-item-type").first
    clicked = other.locator("xpath=..").text_content()
    other.click()
    expect(selected_row(page).locator(".cell").nth(1)).to_have_text(re.compile(re.escape(clicked[:4]), re.IGNORECASE))
    expect(page).to_have_url(re.compile("layer="))


@pytest.mark.parametrize(
    "sample",
    [
        "digits-cnn-tflite",
        "bert-small",
        pytest.param("diabetes-saved-model", marks=pytest.mark.sweep),
        pytest.param("digits-cnn-frozen", marks=pytest.mark.sweep),
    ],
)
def test_graph_and_table_select_each_other_in_every_format(visit, sample):
    visitor = visit(charts=False)

    step("selection goes both ways")
    page = visitor.go(f"/architecture?model=sample-{sample}")
    select_each_other(page, graph_of(page))
    if sample != "bert-small":
        return

    step("the selected row of a longer table is scrolled to")
    page = visitor.go("/architecture?model=sample-bert-small&layer=block_1_output_norm")
    graph_of(page)
    expect(selected_row(page)).to_be_in_viewport()
    expect(selected_row(page)).to_contain_text("block_1_output_norm")

    step("the filter follows the typing")
    page.get_by_placeholder("Filter").press_sequentially("attention")
    expect(page.locator(".count")).to_contain_text("of 34")
    assert all("attention" in text.casefold() for text in rows_of(page).all_inner_texts())
    page.get_by_placeholder("Filter").fill("no such layer")
    expect(page.get_by_text("No layer matches")).to_be_visible()


def test_a_model_is_looked_at_from_its_columns_to_its_weights(visit, tmp_path):
    visitor = visit(may=("clipboard-read", "clipboard-write"))

    step("columns, batch and order stand in the address")
    page = visitor.go(
        "/architecture?model=sample-digits-cnn&columns=flops,bytes,field,initialiser&batch=32&sort=-flops"
    )
    graph_of(page)
    assert page.get_by_role("columnheader").all_inner_texts() == [
        "Layer",
        "Type",
        "FLOPs",
        "Bytes",
        "Receptive",
        "Initialiser",
    ]
    first = rows_of(page).first
    expect(first).to_contain_text("strokes")
    expect(first).to_contain_text("5 × 5")
    expect(first).to_contain_text("256 KiB")
    page.get_by_role("columnheader", name="Layer").click()
    expect(page).to_have_url(re.compile("sort=name"))
    expect(rows_of(page).first).to_contain_text("digit")

    step("a link opens with its layer selected; graph and table have the same colours and a legend")
    page = visitor.go("/architecture?model=sample-digits-cnn&colour=parameters&layer=hidden")
    graph = graph_of(page)
    legend = page.locator(".legend")
    expect(legend).to_contain_text(re.compile("Parameters: .*log scale"))
    expect(legend).to_contain_text("16,416")
    expect(selected_row(page)).to_contain_text("hidden")
    swatch = selected_row(page).locator(".swatch").evaluate("one => getComputedStyle(one).backgroundColor")
    page.mouse.move(5, 5)
    expect(graph.locator("g.graph-node.select .node-item-type path").first).to_have_css("fill", swatch)
    choose(page, "Colour by", "FLOPs")
    expect(page).to_have_url(re.compile("colour=flops"))
    expect(legend).to_contain_text(re.compile("floating-point operations .* batch 1"))
    expect(page.get_by_role("columnheader", name="FLOPs")).to_be_visible()

    step("the link is copied as it stands")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url

    step("weights of the selected layer are drawn on request")
    page.get_by_text("Weights", exact=True).click()
    expect(page).to_have_url(re.compile("weights=yes"))
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(2)
    expect(page.get_by_role("code").filter(has_text="kernel")).to_be_visible()

    step("graph and table select each other")
    page = visitor.go("/architecture?model=sample-digits-cnn")
    graph = graph_of(page)
    select_each_other(page, graph)
    selected_row(page).click()
    expect(page).not_to_have_url(re.compile("layer="))

    step("all layers are downloaded as CSV")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV of all").click()
    download.value.save_as(tmp_path / "layers.csv")
    rows = list(csv.DictReader((tmp_path / "layers.csv").open()))
    assert [row["Layer"] for row in rows][:3] == ["image", "edges", "strokes"]
    assert rows[2]["Parameters"] == "4640"

    step("the table works from the keyboard and sorts")
    page.get_by_role("grid", name="Layers").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile("layer=edges"))
    page.get_by_role("columnheader", name="Parameters").click()
    expect(rows_of(page).first).to_contain_text("16,416")

    step("nothing is cut off on a small screen")
    assert_nothing_is_cut_off(page)

    step("a click away keeps the model")
    visitor.turn_to("Consistency")
    expect(page.get_by_role("button", name="Run the test")).to_be_visible()
    expect(page).to_have_url(re.compile("model=sample-digits-cnn"))
    assert_nothing_is_cut_off(page)

    step("the first page is also found by its name, and fits a small screen")
    page = visitor.go("/overview?model=sample-digits-cnn")
    expect(page.get_by_role("heading", name="What is in this model?")).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/\?model=sample-digits-cnn$"))
    assert_nothing_is_cut_off(page)


def test_two_models_share_colours_and_selection(visit):
    page = visit(charts=False).go("/architecture?model=sample-digits-cnn-tflite&other=sample-digits-cnn")
    expect(page.get_by_text("only in this").first).to_be_visible()
    graphs = [page.frame_locator(GRAPH).nth(place) for place in range(2)]
    for graph in graphs:
        graph.locator("g.graph-node").first.wait_for()

    step("a row selects its node in both")
    rows_of(page).filter(has_text="strokes").first.click()
    for graph in graphs:
        expect(selected_type(graph).first).to_contain_text("Conv2D")

    step("what only the other has is selected there alone")
    graphs[1].locator("g.graph-node", has_text="Dropout").locator(".node-item-type").click()
    expect(selected_row(page)).to_contain_text("in the other")
    expect(graphs[0].locator("g.graph-node.select")).to_have_count(0)
    expect(page).to_have_url(re.compile("twin=dropout"))


def nameless_onnx(path: Path) -> Path:
    """Nodes without names, one whose name looks like a position, and a constant that is not drawn."""
    from onnx import TensorProto, helper, save

    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4])  # noqa: E731
    constant = helper.make_tensor("c", TensorProto.FLOAT, [4], [1, 2, 3, 4])
    nodes = [
        helper.make_node("Constant", [], ["c"], value=constant),
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Add", ["a", "c"], ["b"]),
        helper.make_node("Relu", ["b"], ["d"], name="Relu_2"),
        helper.make_node("Sigmoid", ["d"], ["e"]),
        helper.make_node("Relu", ["e"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", [value("x")], [value("y")])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_nodes_without_names_are_found_by_their_position_and_of_quick_clicks_the_last_one_counts(
    visit, server, tmp_path
):
    page = visit(charts=False).go(f"/architecture?model={put(server, nameless_onnx(tmp_path / 'nameless.onnx'))}")
    graph, rows = graph_of(page), rows_of(page)

    step("nodes are found by their position")
    names = [rows.nth(place).locator(".name").inner_text() for place in range(rows.count())]
    assert names == ["Relu_1", "Add_2", "Relu_2", "Sigmoid_4", "Relu_5"]
    nodes = graph.locator(".node-item-type")
    for place, name in enumerate(names):
        nodes.nth(place).click()
        expect(selected_row(page)).to_contain_text(name)
        expect(page).to_have_url(re.compile(f"layer={name}"))
    rows.nth(3).click()
    expect(selected_type(graph)).to_contain_text("Sigmoid")

    # The pauses are the clicker's: from too quick for an answer of the server to just after one.
    step("of quick clicks the last one counts")
    for first in range(3):
        for place, pause in ((first, 20 + 90 * first), (4, 0)):
            nodes.nth(place).click()
            page.wait_for_timeout(pause)
        expect(selected_row(page)).to_contain_text("Relu_5")
        expect(page).to_have_url(re.compile("layer=Relu_5"))
        for place, pause in ((first, 20 + 120 * first), (3, 0)):
            rows.nth(place).click()
            page.wait_for_timeout(pause)
        expect(page).to_have_url(re.compile("layer=Sigmoid_4"))
        expect(selected_type(graph)).to_contain_text("Sigmoid")

    step("and no late answer takes it back")
    page.wait_for_timeout(1500)
    expect(selected_row(page)).to_contain_text("Sigmoid_4")
    expect(page).to_have_url(re.compile("layer=Sigmoid_4"))


def test_the_graph_follows_the_apps_theme_and_leaves_the_keyboard_where_it_is(visit, server, tmp_path):
    visitor = visit(scheme="dark", charts=False)
    address = f"/architecture?model={put(server, tiny_onnx(tmp_path / 'tiny <b>net.onnx'))}&embed=true"

    step("drawing the graph leaves the keyboard where it is")
    page = visitor.page
    page.route("**/netron/data/**", lambda route: (time.sleep(1), route.continue_())[1])
    visitor.go(f"{address}&embed_options=light_theme")
    page.get_by_placeholder("Filter").first.click()
    graph = graph_of(page)
    page.keyboard.type("MatMul")
    expect(page.get_by_placeholder("Filter").first).to_have_value("MatMul")
    page.unroute("**/netron/data/**")

    step("the graph is light where the app is, in a dark browser")
    graph.locator("body.default").wait_for()
    until(lambda: inside(page, BACKGROUND) == "rgb(255, 255, 255)")

    step("its only node is selected by a click")
    graph.locator("g.node-item-type").first.click()
    page.wait_for_url(re.compile("layer="))
    layer = re.search(r"layer=([^&]+)", page.url)[1]

    step("a link selects it, in the dark app in a light browser")
    page.emulate_media(color_scheme="light")
    visitor.go(f"{address}&embed_options=dark_theme&layer={layer}")
    graph = graph_of(page)
    graph.locator(".select").first.wait_for()
    assert inside(page, "w.__view__.target.selection.size") == 1
    graph.locator("body.default").wait_for()
    until(lambda: inside(page, BACKGROUND) == "rgb(64, 64, 64)")


def nested_keras(path: Path) -> Path:
    """A model inside a model, and a layer that is called twice; written without a framework's help."""
    import keras

    block = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4, name="inside")], name="encoder")
    shared = keras.layers.Dense(4, name="shared")
    inputs = keras.Input((4,), name="features")
    outputs = shared(shared(block(inputs)))
    keras.Model(inputs, outputs, name="outer").save(path)
    return path


def loop_onnx(path: Path) -> Path:
    """A node inside another graph of the file."""
    from onnx import TensorProto, helper, save

    value = lambda name, kind=TensorProto.FLOAT: helper.make_tensor_value_info(name, kind, [1])  # noqa: E731
    body = helper.make_graph(
        [helper.make_node("Identity", ["c0"], ["c1"]), helper.make_node("Neg", ["v0"], ["v1"], name="inner")],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c0", TensorProto.BOOL, []),
            value("v0"),
        ],
        [helper.make_tensor_value_info("c1", TensorProto.BOOL, []), value("v1")],
    )
    trips = helper.make_tensor("trips", TensorProto.INT64, [], [3])
    graph = helper.make_graph(
        [helper.make_node("Loop", ["trips", "", "x"], ["y"], name="loop", body=body)],
        "g",
        [value("x")],
        [value("y")],
        [trips],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_graphs_inside_graphs_large_ones_and_foreign_files_are_drawn(visit, server, tmp_path):
    from benchmarks import big_architecture_models

    visitor = visit(charts=False)

    step("a layer inside a nested model is opened in the graph")
    nested = put(server, nested_keras(tmp_path / "nested.keras"))
    page = visitor.go(f"/architecture?model={nested}&colour=parameters")
    graph = graph_of(page)
    rows_of(page).filter(has_text="inside").first.click()
    expect(selected_type(graph)).to_contain_text("Dense")
    expect(page).to_have_url(re.compile(r"layer=encoder(%2F|/)inside"))
    rows_of(page).filter(has_text="shared").first.click()
    expect(page.get_by_text("called 2 times")).to_be_visible()

    step("a node inside another graph of the file is found by a link")
    looped = put(server, loop_onnx(tmp_path / "loop.onnx"))
    page = visitor.go(f"/architecture?model={looped}&layer={quote('loop/body/inner')}")
    graph_of(page)
    until(lambda: inside(page, SELECTED) == "inner")

    step("a format that only the viewer knows is drawn")
    darknet = tmp_path / "net.cfg"
    darknet.write_text(DARKNET)
    page = visitor.go(f"/architecture?model={put(server, darknet)}")
    graph = graph_of(page)
    expect(page.get_by_text("Only drawn", exact=True)).to_be_visible()
    expect(graph.locator(".node-item-type").first).to_contain_text("convolutional", ignore_case=True)

    step("of a large graph what is seen is drawn, and what is far away is found")
    large = put(server, big_architecture_models.deep(tmp_path))
    page = visitor.go(f"/architecture?model={large}")
    graph = graph_of(page)
    expect(graph.locator("g.graph-node >> visible=true").nth(399)).to_have_count(0)
    page.get_by_role("grid", name="Layers").focus()
    page.keyboard.press("End")
    expect(selected_row(page)).to_contain_text("block_1249")
    expect(graph.locator("g.graph-node.select")).to_be_in_viewport()
    expect(page).to_have_url(re.compile(r"layer=block_1249(%2F|/)add"))
    expect(graph.locator("#sidebar")).to_contain_text("block_1249/add")
