"""From a dropped file to its graph, in a real browser against the real server."""

from __future__ import annotations

import os
import re
import tarfile
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from stethoscope.settings import Settings
from stethoscope.store import SAMPLES_OWNER, Store
from tests.live import LiveServer, live_server
from tests.models import tiny_onnx

HERE = re.compile(r"(https?|wss?)://(localhost|127\.0\.0\.1)[:/]|blob:|data:|about:")


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """The app below a path, with a cap small enough to reach."""
    with live_server(tmp_path_factory.mktemp("app"), base_path="/team/models", max_upload_bytes="300MiB") as running:
        yield running


@pytest.fixture
def new_page(browser):
    """Opens pages of fresh browsers (each its own owner) and fails if one asked another machine for anything."""
    contexts, asked, errors = [], [], []

    def make(**options):
        context = browser.new_context(viewport={"width": 1300, "height": 900}, **options)
        contexts.append(context)
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("websocket", lambda opened: asked.append(opened.url))
        return page

    yield make
    for context in contexts:
        context.close()
    assert [url for url in asked if not HERE.match(url)] == []
    assert errors == []


def stored(app: LiveServer) -> list[Path]:
    """Uploaded files and unfinished uploads, samples left out."""
    store = Store(app.workspace / "store", Settings(min_free_disk_bytes=0))
    samples = {entry.path for entry in store.list(SAMPLES_OWNER)}
    store.close()
    found = [
        path for part in ("files", "uploads") for path in (app.workspace / "store" / part).rglob("*") if path.is_file()
    ]
    return sorted(path for path in found if path not in samples)


def eventually(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def open_home(page, app):
    page.goto(app.url + "/")
    page.get_by_role("group", name="Drop a model").get_by_text("Up to").wait_for()


def upload(page, *files: Path):
    page.locator("input.pick-files").set_input_files([str(file) for file in files])


def wait_for_model(page) -> str:
    page.wait_for_url(re.compile("model="))
    return re.search(r"model=([\w-]+)", page.url)[1]


def put_into_store(app, path: Path) -> str:
    """The quick way in, for tests that are not about uploading; returns the entry's id."""
    store = Store(app.workspace / "store", Settings(min_free_disk_bytes=0))
    entry = store.add_file(path, path.name, "somebody")
    store.close()
    return entry.id


def graph_of(page, app, entry_id: str, more: str = ""):
    page.goto(f"{app.url}/architecture?model={entry_id}{more}")
    frame = page.frame_locator("iframe[title^='Graph of']")
    frame.locator("g.graph-node").first.wait_for()
    return frame


def net_state(page, script: str):
    """Evaluates in Netron's window from outside: its own eval is switched off."""
    return page.evaluate(
        "(script) => { const frame = [...document.querySelectorAll('*')].map((e) => e.shadowRoot && e.shadowRoot.querySelector('iframe'))"
        ".find(Boolean); return new Function('w', 'return ' + script)(frame.contentWindow); }",
        script,
    )


@pytest.fixture
def onnx_file(tmp_path):
    return tiny_onnx(tmp_path / "tiny <b>net.onnx")


def test_a_model_is_uploaded_drawn_and_selected_both_ways(new_page, app, onnx_file):
    page = new_page()
    open_home(page, app)
    upload(page, onnx_file)
    entry_id = wait_for_model(page)
    frame = graph_of(page, app, entry_id)
    assert frame.locator("g.graph-node").count() >= 1
    frame.locator("g.node-item-type").first.click()
    page.wait_for_url(re.compile("layer="))
    layer = re.search(r"layer=([^&]+)", page.url)[1]
    again = graph_of(page, app, entry_id, f"&layer={layer}")
    again.locator(".select").first.wait_for()
    assert net_state(page, "w.__view__.target.selection.size") == 1


def test_nobody_else_sees_it_without_the_link(new_page, app, onnx_file):
    mine, other = new_page(), new_page()
    open_home(mine, app)
    upload(mine, onnx_file)
    entry_id = wait_for_model(mine)
    open_home(other, app)
    other.wait_for_timeout(500)
    assert other.get_by_text("tiny <b>net").count() == 0
    graph_of(other, app, entry_id)


def test_a_folder_travels_as_a_tar_with_all_its_names(new_page, app, tmp_path):
    folder = tmp_path / "my net"
    long = "part " + "ü" * 70 + ".index"
    (folder / "variables" / ("deep" * 30)).mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(b"\x08\x01")
    (folder / "variables" / long).write_bytes(b"w" * 1000)
    (folder / "variables" / ("deep" * 30) / "x").write_bytes(b"y" * 513)
    (folder / ".DS_Store").write_bytes(b"junk")
    before = set(stored(app))
    page = new_page()
    open_home(page, app)
    page.locator("input.pick-folder").set_input_files(str(folder))
    wait_for_model(page)
    (packed,) = set(stored(app)) - before
    with tarfile.open(packed) as tar:
        names = tar.getnames()
        assert names == ["my net/saved_model.pb", f"my net/variables/{'deep' * 30}/x", f"my net/variables/{long}"]
        assert tar.extractfile(names[1]).read() == b"y" * 513
        assert all(member.mtime == 0 and member.isfile() for member in tar)


def test_an_onnx_file_and_its_data_travel_together(new_page, app, tmp_path, onnx_file):
    data = tmp_path / "weights.bin"
    data.write_bytes(b"w" * 100)
    before = set(stored(app))
    page = new_page()
    open_home(page, app)
    upload(page, onnx_file, data)
    wait_for_model(page)
    (packed,) = set(stored(app)) - before
    with tarfile.open(packed) as tar:
        assert tar.getnames() == ["tiny <b>net/tiny <b>net.onnx", "tiny <b>net/weights.bin"]


def test_a_dropped_file_is_uploaded(new_page, app, onnx_file):
    page = new_page()
    open_home(page, app)
    transfer = page.evaluate_handle(
        "(bytes) => { const data = new DataTransfer(); data.items.add(new File([new Uint8Array(bytes)], 'dropped.onnx')); return data; }",
        list(onnx_file.read_bytes()),
    )
    page.locator(".zone").dispatch_event("drop", {"dataTransfer": transfer})
    wait_for_model(page)
    page.get_by_text("dropped.onnx").first.wait_for()


def test_a_file_that_is_too_large_is_said_in_a_sentence(new_page, app, tmp_path):
    large = tmp_path / "large.keras"
    with large.open("wb") as out:
        os.truncate(out.fileno(), 301 << 20)
    before = stored(app)
    page = new_page()
    open_home(page, app)
    upload(page, large)
    page.get_by_text("expected at most 300 MiB, got 301 MiB").wait_for()
    page.get_by_role("button", name="Dismiss large.keras").click()
    assert page.locator(".item").count() == 0
    assert stored(app) == before


def slow_upload(page, app, tmp_path) -> list[Path]:
    """Starts an upload slow enough to act on; returns what was stored before."""
    large = tmp_path / "slow.keras"
    with large.open("wb") as out:
        os.truncate(out.fileno(), 250 << 20)
    session = page.context.new_cdp_session(page)
    session.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 20 << 20},
    )
    before = stored(app)
    upload(page, large)
    page.get_by_text(re.compile(r"\d+ % · .* of 250 MiB · .*/s")).wait_for()
    return before


def test_an_upload_can_be_cancelled_and_leaves_nothing(new_page, app, tmp_path):
    page = new_page()
    open_home(page, app)
    before = slow_upload(page, app, tmp_path)
    page.get_by_role("button", name="Cancel slow.keras").click()
    assert eventually(lambda: stored(app) == before)
    assert page.locator(".item").count() == 0
    assert app.healthy()


def test_a_browser_closed_in_the_middle_leaves_nothing(new_page, app, tmp_path):
    page = new_page()
    open_home(page, app)
    before = slow_upload(page, app, tmp_path)
    page.context.close()
    assert eventually(lambda: stored(app) == before)
    assert app.healthy()


def test_a_broken_connection_can_be_retried(new_page, app, onnx_file):
    page = new_page()
    open_home(page, app)
    page.route("**/api/upload?name=*", lambda route: route.abort("connectionreset"))
    upload(page, onnx_file)
    page.get_by_text("The connection broke off").wait_for()
    page.unroute("**/api/upload?name=*")
    page.get_by_role("button", name="again").click()
    wait_for_model(page)


def test_the_drop_zone_works_from_the_keyboard(new_page, app, onnx_file):
    page = new_page()
    page.on(
        "filechooser", lambda chooser: None
    )  # Playwright intercepts them from here on: asked later, it may be too late
    open_home(page, app)
    page.locator(".zone").focus()
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(str(onnx_file))
    wait_for_model(page)


@pytest.mark.parametrize(
    ("theme", "scheme", "background"), [("dark", "light", "rgb(64, 64, 64)"), ("light", "dark", "rgb(255, 255, 255)")]
)
def test_the_graph_follows_the_apps_theme_not_the_browsers(new_page, app, onnx_file, theme, scheme, background):
    page = new_page(color_scheme=scheme)
    entry_id = put_into_store(app, onnx_file)
    frame = graph_of(page, app, entry_id, f"&embed=true&embed_options={theme}_theme")
    frame.locator("body.default").wait_for()
    color = "w.getComputedStyle(w.document.body).backgroundColor"
    assert eventually(lambda: net_state(page, color) == background)


def test_drawing_the_graph_leaves_the_keyboard_where_it_is(new_page, app, onnx_file):
    page = new_page()
    entry_id = put_into_store(app, onnx_file)
    page.route("**/netron/data/**", lambda route: (time.sleep(1), route.continue_())[1])
    page.goto(f"{app.url}/architecture?model={entry_id}")
    page.get_by_placeholder("Filter").first.click()
    page.frame_locator("iframe[title^='Graph of']").locator("g.graph-node").first.wait_for()
    page.keyboard.type("MatMul")
    assert page.get_by_placeholder("Filter").first.input_value() == "MatMul"


def test_names_from_the_model_cannot_reach_the_page_or_another_machine(new_page, app, tmp_path):
    hostile = '<img src=x onerror="parent.hacked=1">'
    page = new_page()
    open_home(page, app)
    upload(page, tiny_onnx(tmp_path / f"{hostile.replace('/', '')}![x](http:⁄⁄evil.example⁄x).onnx"))
    entry_id = wait_for_model(page)
    graph_of(page, app, entry_id, f"&layer={quote(hostile)}")
    page.wait_for_timeout(300)
    assert page.evaluate("window.hacked") is None


def test_a_node_inside_another_graph_of_the_file_is_found(new_page, app, tmp_path):
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
    path = tmp_path / "loop.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    page = new_page()
    graph_of(page, app, put_into_store(app, path), "&layer=loop/body/inner")
    assert eventually(
        lambda: (
            net_state(page, "[...((w.__view__.target || {}).selection || [])].map((s) => s.value.name).join()")
            == "inner"
        )
    )
