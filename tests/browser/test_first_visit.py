"""From a first visit over every format, in every way a file can arrive, to a link that a colleague opens."""

from __future__ import annotations

import base64
import json
import os
import re
import tarfile
import zipfile
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, expect

from sample_models import BUILT
from tests.browser.conftest import FRAMEWORKS, Visitor
from tests.browser.drawing import settled
from tests.browser.graphs import graph_of
from tests.browser.small_screens import assert_nothing_is_cut_off
from tests.browser.steps import step
from tests.browser.stored import everything, path_of
from tests.small_models import tiny_onnx
from tests.waiting import until

SAMPLES = {
    entry["id"]: entry for entry in json.loads((BUILT / "manifest.json").read_text()) if entry.get("kind") != "data"
}
MIB = 1 << 20


def zone_is_ready(page: Page) -> None:
    """The place to drop a model listens: that of the first page, which the page of a model has too."""
    expect(page).not_to_have_url(re.compile("model="))
    expect(page.get_by_role("heading", name="Or try a sample")).to_be_visible()
    settled(page)
    page.get_by_role("group", name="Drop a model").get_by_text("Up to").wait_for()


def another(page: Page) -> None:
    """Leaves the model for the place to drop the next one."""
    page.get_by_test_id("stSidebar").get_by_role("button", name="Upload", exact=True).click()
    zone_is_ready(page)


def pick(page: Page, *files: Path) -> None:
    page.locator("input.pick-files").set_input_files([str(file) for file in files])


def arrived(visitor: Visitor) -> str:
    visitor.page.wait_for_url(re.compile("model="))
    return visitor.model_id()


def described_and_drawn(visitor: Visitor, name: str, parameters: int) -> None:
    """The model card, then the graph; then back to the place to drop the next one."""
    arrived(visitor)
    page = visitor.page
    expect(page.get_by_test_id("stMain").get_by_text(name).first).to_be_visible()
    expect(page.get_by_text(f"{parameters:,}").first).to_be_visible()
    visitor.turn_to("Architecture")
    expect(graph_of(page).locator("g.node").first).to_be_visible()
    another(page)


def test_every_format_arrives_in_every_way_and_is_described_and_drawn(visit, server, tmp_path):
    visitor = visit(charts=False)
    # Playwright intercepts them from here on: asked later, it may be too late.
    visitor.page.on("filechooser", lambda chooser: None)

    step("a first visit offers upload and samples, on a small screen too")
    page = visitor.go()
    expect(page.get_by_text("Drop a model")).to_be_visible()
    expect(page.get_by_role("heading", name="Or try a sample")).to_be_visible()
    expect(page.get_by_text(SAMPLES["digits_cnn"]["title"], exact=True).first).to_be_visible()
    zone_is_ready(page)
    assert_nothing_is_cut_off(page)

    step("a Keras file is chosen")
    pick(page, BUILT / "digits_cnn.keras")
    described_and_drawn(visitor, "digits_cnn.keras", SAMPLES["digits_cnn"]["parameters"])

    step("an HDF5 file is chosen from the keyboard")
    page.locator(".zone").focus()
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(str(BUILT / "cancer_keras2.h5"))
    described_and_drawn(visitor, "cancer_keras2.h5", SAMPLES["cancer_keras2"]["parameters"])

    step("an ONNX file is dropped")
    transfer = page.evaluate_handle(
        "(text) => { const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0)); const data = new DataTransfer();"
        " data.items.add(new File([bytes], 'dropped.onnx')); return data; }",
        base64.b64encode((BUILT / "digits_cnn.onnx").read_bytes()).decode(),
    )
    page.locator(".zone").dispatch_event("drop", {"dataTransfer": transfer})
    described_and_drawn(visitor, "dropped.onnx", SAMPLES["digits_cnn_onnx"]["parameters"])

    step("the connection breaks off under a TFLite file, which is sent again")
    page.route("**/api/upload?name=*", lambda route: route.abort("connectionreset"))
    pick(page, BUILT / "digits_cnn.tflite")
    page.get_by_text("connection broke off").wait_for()
    page.unroute("**/api/upload?name=*")
    page.get_by_role("button", name="again").click()
    described_and_drawn(visitor, "digits_cnn.tflite", SAMPLES["digits_cnn_tflite"]["parameters"])

    step("a frozen graph is chosen")
    pick(page, BUILT / "digits_cnn_frozen.pb")
    described_and_drawn(visitor, "digits_cnn_frozen.pb", SAMPLES["digits_cnn_frozen"]["parameters"])

    step("a zipped SavedModel is chosen")
    pick(page, BUILT / "diabetes_saved_model.zip")
    described_and_drawn(visitor, "diabetes_saved_model", SAMPLES["diabetes_subclassed"]["parameters"])

    step("the folder of a SavedModel is chosen as it is")
    with zipfile.ZipFile(BUILT / "diabetes_saved_model.zip") as archive:
        archive.extractall(tmp_path / "my_model")
    (folder,) = {path.parent for path in (tmp_path / "my_model").rglob("saved_model.pb")}
    page.locator("input.pick-folder").set_input_files(str(folder))
    described_and_drawn(visitor, folder.name, SAMPLES["diabetes_subclassed"]["parameters"])

    step("what is no model is declined in words")
    (tmp_path / "login.keras").write_text("<html><body>Please log in</body></html>")
    pick(page, tmp_path / "login.keras")
    arrived(visitor)
    expect(page.get_by_text(re.compile("HTML page")).first).to_be_visible()

    step("the server has imported no framework for any of it")
    mapped = server.mapped_libraries()
    assert not [name for name in FRAMEWORKS if name in mapped]


def test_what_belongs_together_travels_together_and_what_is_stopped_leaves_nothing(visit, server, browser, tmp_path):
    visitor = visit(charts=False)
    page = visitor.go()
    zone_is_ready(page)

    step("a folder travels as a tar with all its names")
    folder = tmp_path / "my net"
    long = "part " + "ü" * 70 + ".index"
    (folder / "variables" / ("deep" * 30)).mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(b"\x08\x01")
    (folder / "variables" / long).write_bytes(b"w" * 1000)
    (folder / "variables" / ("deep" * 30) / "x").write_bytes(b"y" * 513)
    (folder / ".DS_Store").write_bytes(b"junk")
    page.locator("input.pick-folder").set_input_files(str(folder))
    with tarfile.open(path_of(server, arrived(visitor))) as tar:
        names = tar.getnames()
        assert names == ["my net/saved_model.pb", f"my net/variables/{'deep' * 30}/x", f"my net/variables/{long}"]
        assert tar.extractfile(names[1]).read() == b"y" * 513
        assert all(member.mtime == 0 and member.isfile() for member in tar)

    step("a folder that is dropped travels whole")
    zone_is_ready(visitor.go())
    dropped = tmp_path / "dropped model"
    (dropped / "variables").mkdir(parents=True)
    (dropped / "saved_model.pb").write_bytes(b"\x08\x01")
    (dropped / "variables" / "variables.index").write_bytes(b"w" * 100)
    box = page.locator(".zone").bounding_box()
    devtools = page.context.new_cdp_session(page)
    files = {"items": [], "files": [str(dropped)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + 20}
        devtools.send("Input.dispatchDragEvent", {"type": kind, **place, "data": files})
    with tarfile.open(path_of(server, arrived(visitor))) as tar:
        assert tar.getnames() == ["dropped model/saved_model.pb", "dropped model/variables/variables.index"]

    step("an ONNX file and its data travel together")
    zone_is_ready(visitor.go())
    onnx_file, data = tiny_onnx(tmp_path / "tiny <b>net.onnx"), tmp_path / "weights.bin"
    data.write_bytes(b"w" * 100)
    pick(page, onnx_file, data)
    with tarfile.open(path_of(server, arrived(visitor))) as tar:
        assert tar.getnames() == ["tiny <b>net/tiny <b>net.onnx", "tiny <b>net/weights.bin"]

    step("a file that is too large is said in a sentence, and nothing of it is kept")
    zone_is_ready(visitor.go())
    before = everything(server)
    pick(page, sparse(tmp_path / "large.keras", 301 * MIB))
    page.get_by_text("300 MiB, got 301 MiB").wait_for()
    page.get_by_role("button", name="Dismiss large.keras").click()
    expect(page.locator(".item")).to_have_count(0)
    assert everything(server) == before

    step("an upload is cancelled and leaves nothing")
    slow_upload(page, tmp_path)
    page.get_by_role("button", name="Cancel slow.keras").click()
    until(lambda: everything(server) == before)
    expect(page.locator(".item")).to_have_count(0)
    assert server.healthy()

    step("a browser that is closed in the middle leaves nothing")
    context = browser.new_context()
    third = Visitor(context, server)
    zone_is_ready(third.go())
    slow_upload(third.page, tmp_path)
    context.close()
    until(lambda: everything(server) == before)
    assert server.healthy()


def sparse(path: Path, size_bytes: int) -> Path:
    with path.open("wb") as out:
        os.truncate(out.fileno(), size_bytes)
    return path


def slow_upload(page: Page, folder: Path) -> None:
    """Starts an upload slow enough to act on."""
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 20 * MIB}
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", slow)
    pick(page, sparse(folder / "slow.keras", 250 * MIB))
    page.get_by_text(re.compile(r"\d+ % · .* of 250 MiB · .*/s")).wait_for()


def test_a_link_opens_the_same_view_for_a_colleague_lists_stay_apart_and_names_are_text(visit, tmp_path):
    ann, bob = visit(charts=False), visit(charts=False)

    step("a hostile name is text on the page of its model")
    name = '![x](http:⁄⁄evil.example⁄x)<img src=x onerror="parent.hacked=1">.keras'
    (tmp_path / name).write_bytes((BUILT / SAMPLES["digit_pairs"]["file"]).read_bytes())
    page = ann.go()
    zone_is_ready(page)
    pick(page, tmp_path / name)
    arrived(ann)
    expect(page.get_by_text("7,458").first).to_be_visible()
    expect(page.get_by_text("onerror").first).to_be_visible()
    assert page.locator("img[src='x']").count() == 0

    step("a colleague opens the link")
    theirs = bob.follow(page)
    expect(theirs.get_by_text("7,458").first).to_be_visible()
    assert theirs.locator("img[src='x']").count() == 0

    step("without the link, nobody else sees it")
    bob.go("/overview?model=AAAAAAAAAAAAAAAAAAAAAA")
    expect(theirs.get_by_text("Drop a model")).to_be_visible()
    expect(theirs.get_by_role("heading", name="Or try a sample")).to_be_visible()
    expect(theirs.get_by_text("Your recent models")).to_have_count(0)
    expect(theirs.get_by_text("onerror")).to_have_count(0)

    step("an unknown model is a kind sentence")
    expect(theirs.get_by_test_id("stAlert")).to_be_visible()
    expect(theirs.get_by_text(re.compile(r"Traceback \(most"))).to_have_count(0)

    step("names cannot reach the page from the graph either")
    hostile = quote('<img src=x onerror="parent.hacked=1">')
    bob.go(f"/architecture?model={ann.model_id()}&layer={hostile}")
    graph_of(theirs)
    assert theirs.locator("img[src='x']").count() == 0
    assert theirs.evaluate("window.hacked") is None
    assert page.evaluate("window.hacked") is None

    step("whoever asks another host is noticed, by name or by number")
    elsewhere = ["http://elsewhere.example/x.png", "http://192.0.2.1/x.png"]
    for url in elsewhere:
        with theirs.expect_event("requestfailed"):
            theirs.goto(f"data:text/html,<img src='{url}'>")
    assert bob.asked_elsewhere() == elsewhere
    bob.asked_in_vain.clear()
