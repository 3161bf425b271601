"""What the pages show and do around the graph: selection both ways, filter, links, a folder that is dropped."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from stethoscope.settings import Settings
from stethoscope.store import Store
from tests.browser.small_screens import assert_nothing_is_cut_off

GRAPH = "iframe[title^='Graph of']"


def selected_row(page: Page):
    return page.locator(".space .row[aria-selected='true']")


def open_graph(visitor, address: str):
    page = visitor.go(address)
    graph = page.frame_locator(GRAPH)
    graph.locator("g.graph-node").first.wait_for()
    return page, graph


def selected_type(graph):
    return graph.locator("g.graph-node.select .node-item-type")


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


@pytest.mark.parametrize(
    "sample",
    ["sample-bert-small", "sample-digits-cnn-tflite", "sample-diabetes-saved-model", "sample-digits-cnn-frozen"],
)
def test_graph_and_table_select_each_other(visit, sample):
    page, graph = open_graph(visit(), f"/architecture?model={sample}")
    row = page.locator(".space .row").nth(3)
    kind = row.locator(".cell").nth(1).inner_text()
    row.click()
    expect(selected_type(graph).first).to_contain_text(kind, ignore_case=True)
    other = graph.locator("g.graph-node:not(.select) .node-item-type").first
    clicked = other.locator("xpath=..").text_content()
    other.click()
    expect(selected_row(page).locator(".cell").nth(1)).to_have_text(re.compile(re.escape(clicked[:4]), re.IGNORECASE))
    expect(page).to_have_url(re.compile("layer="))


def test_nodes_without_names_are_found_by_their_position(visit, tmp_path):
    visitor = visit()
    visitor.upload(nameless_onnx(tmp_path / "nameless.onnx"))
    page, graph = open_graph(visitor, f"/architecture?model={visitor.model_id()}")
    rows = page.locator(".space .row")
    names = [rows.nth(place).locator(".name").inner_text() for place in range(rows.count())]
    assert names == ["Relu_1", "Add_2", "Relu_2", "Sigmoid_4", "Relu_5"]
    for place, name in enumerate(names):
        graph.locator(".node-item-type").nth(place).click()
        expect(selected_row(page)).to_contain_text(name)
        expect(page).to_have_url(re.compile(f"layer={name}"))
    rows.nth(3).click()
    expect(selected_type(graph)).to_contain_text("Sigmoid")


def test_of_quick_clicks_the_last_one_counts(visit, tmp_path):
    visitor = visit()
    visitor.upload(nameless_onnx(tmp_path / "nameless.onnx"))
    page, graph = open_graph(visitor, f"/architecture?model={visitor.model_id()}")
    nodes, rows = graph.locator(".node-item-type"), page.locator(".space .row")
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
    page.wait_for_timeout(1500)
    expect(selected_row(page)).to_contain_text("Sigmoid_4")


def test_the_selected_row_is_scrolled_to_and_the_filter_follows_the_typing(visit):
    page, _ = open_graph(visit(), "/architecture?model=sample-bert-small&layer=block_1_output_norm")
    expect(selected_row(page)).to_be_in_viewport()
    expect(selected_row(page)).to_contain_text("block_1_output_norm")
    page.get_by_placeholder("Filter").press_sequentially("attention")
    expect(page.locator(".count")).to_contain_text("of 34")
    assert all("attention" in text.casefold() for text in page.locator(".space .row").all_inner_texts())
    page.get_by_placeholder("Filter").fill("no such layer")
    expect(page.get_by_text("No layer matches this filter.")).to_be_visible()


def test_the_layer_table_works_from_the_keyboard_and_sorts(visit):
    page, _ = open_graph(visit(), "/architecture?model=sample-digits-cnn")
    page.get_by_role("grid", name="Layers").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile("layer=edges"))
    page.get_by_role("columnheader", name="Parameters").click()
    expect(page.locator(".space .row").first).to_contain_text("16,416")


def test_a_click_away_and_back_keeps_model_and_links(visit):
    page = visit().go("/architecture?model=sample-digits-cnn&layer=hidden")
    expect(selected_row(page)).to_contain_text("hidden")
    page.get_by_role("link", name="Consistency", exact=True).click()
    expect(page.get_by_role("button", name="Run the test")).to_be_visible()
    expect(page).to_have_url(re.compile("model=sample-digits-cnn"))


def test_the_link_is_copied_as_it_stands(visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"]).go(
        "/architecture?model=sample-digits-cnn&layer=hidden"
    )
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_the_first_page_is_also_found_by_its_name(visit):
    page = visit().go("/overview?model=sample-digits-cnn")
    expect(page.get_by_role("heading", name="What is in this model?")).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/\?model=sample-digits-cnn$"))


def test_a_folder_that_is_dropped_travels_whole(visit, server, tmp_path):
    folder = tmp_path / "dropped model"
    (folder / "variables").mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(b"\x08\x01")
    (folder / "variables" / "variables.index").write_bytes(b"w" * 100)
    page = visit().go()
    page.get_by_role("group", name="Drop a model").get_by_text("Up to").wait_for()
    box = page.locator(".zone").bounding_box()
    devtools = page.context.new_cdp_session(page)
    files = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + 20}
        devtools.send("Input.dispatchDragEvent", {"type": kind, **place, "data": files})
    page.wait_for_url("**model=*")
    store = Store(server.workspace / "store", Settings(min_free_disk_bytes=0))
    packed = store.get(page.url.split("model=")[1].split("&")[0]).path
    store.close()
    with tarfile.open(packed) as tar:
        assert tar.getnames() == ["dropped model/saved_model.pb", "dropped model/variables/variables.index"]


@pytest.mark.parametrize("address", ["/", "/architecture", "/consistency", "/prediction"])
def test_nothing_is_cut_off_on_a_small_screen(visit, address):
    page = visit(color_scheme="light").go(f"{address}?model=sample-digits-cnn")
    page.set_viewport_size({"width": 800, "height": 900})
    expect(page.get_by_role("heading").first).to_be_visible()
    assert_nothing_is_cut_off(page)
