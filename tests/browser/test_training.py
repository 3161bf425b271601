"""The curves of a log in a real browser: filter, solo, zoom, hover, links, downloads, and a log that is being written."""

from __future__ import annotations

import re
import zipfile

from playwright.sync_api import Page, expect

from stethoscope.training.recording.event_writer import EventWriter
from tests.browser.small_screens import assert_nothing_is_cut_off
from tests.browser.steps import step

SAMPLE = "/training?log=sample-training-runs"
COLOUR = "element => getComputedStyle(element.querySelector('.box')).borderTopColor"


def drawn(page: Page, runs: int | None = None) -> None:
    """Waits until the first chart shows curves, of this many runs and tags together."""
    number = re.compile(r"[1-9]\d*") if runs is None else str(runs)
    expect(page.locator(".chart").first).to_have_attribute("data-drawn", number)


def row(page: Page, name: str):
    return page.get_by_role("treeitem").filter(has_text=re.compile(f"^{re.escape(name)}"))


def over(page: Page):
    return page.locator(".chart .u-over").first


def drag(page: Page, start: float, end: float) -> None:
    """Selects a stretch of the first chart, from one share of its width to another."""
    box = over(page).bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], y, steps=6)
    page.mouse.up()


def test_runs_are_filtered_shown_alone_pointed_at_and_downloaded(visit, tmp_path):
    page = visit(charts=False).go("/training")

    step("the sample shows its runs, charts and faults")
    page.get_by_role("button", name="Open the sample log").click()
    drawn(page, 12)
    expect(page.locator(".runs-count")).to_have_text("6 of 6 runs shown")
    expect(page.locator(".chart").first).to_contain_text("epoch_loss")
    expect(page.locator(".chart").first).to_contain_text(re.compile(r"validation: best 0\.08\d+ .*epoch"))
    expect(page.get_by_text("3 findings")).to_be_visible()
    expect(row(page, "nan").locator(".finding.critical")).to_be_visible()
    expect(row(page, "seed-1").locator(".finding")).to_have_count(0)

    step("what the pointer is at is named, pinned and let go")
    box = over(page).bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.8 * box["height"])
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("epoch 18")
    expect(tip).to_contain_text("healthy/seed-1 · validation")
    expect(tip).to_contain_text("NaN")
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.8 * box["height"])
    page.mouse.move(5, 5)
    expect(tip).to_contain_text("epoch 18")
    page.keyboard.press("Escape")
    over(page).hover()
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()

    step("a filter narrows runs, which keep their colours")
    colour = row(page, "seed-2").evaluate(COLOUR)
    search = page.get_by_role("searchbox", name="Filter runs")
    search.fill("seed-2")
    drawn(page, 2)
    assert row(page, "healthy/seed-2").or_(row(page, "seed-2")).first.evaluate(COLOUR) == colour
    search.fill("seed-[12]")
    expect(page.locator(".runs-count")).to_have_text(re.compile("^2 of 6 .* match, 2 shown$"))
    drawn(page, 4)

    step("a filter that is no regular expression is said and loses nothing")
    search.fill("seed-[12")
    expect(page.locator(".runs-problem")).to_contain_text("No regular expression")
    expect(row(page, "seed-2")).to_be_visible()
    drawn(page, 4)

    step("a chart is downloaded in every form, as it is shown")
    search.fill("seed")
    expect(page.locator(".runs-problem")).to_be_hidden()
    drawn(page, 6)

    def downloaded(kind: str) -> bytes:
        page.get_by_role("button", name="Download this chart").first.click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=re.compile(kind)).click()
        download.value.save_as(tmp_path / kind)
        return (tmp_path / kind).read_bytes()

    assert downloaded("PNG")[:4] == b"\x89PNG"
    assert downloaded("Parquet")[:4] == b"PAR1"
    table = downloaded("CSV").decode()
    assert '"healthy/seed-1","train/epoch_loss",0,' in table
    assert "faulty" not in table
    drawing = downloaded("SVG").decode()
    assert drawing.count("<path") > 12
    assert "epoch_loss" in drawing
    assert "healthy/seed-3" in drawing

    step("one run alone and back with the mouse")
    search.fill("")
    drawn(page, 12)
    row(page, "seed-3").dblclick()
    drawn(page, 2)
    expect(row(page, "seed-3")).to_have_attribute("aria-checked", "true")
    expect(row(page, "nan")).to_have_attribute("aria-checked", "false")
    row(page, "seed-3").dblclick()
    drawn(page, 12)

    step("one run alone and back with the keyboard")
    page.get_by_role("tree").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(row(page, "faulty")).to_have_attribute("aria-checked", "false")
    drawn(page, 6)
    page.keyboard.press("ArrowLeft")
    expect(row(page, "nan")).to_have_count(0)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    drawn(page, 2)
    page.keyboard.press("Escape")
    drawn(page, 12)


def test_a_view_is_zoomed_linked_and_asked_of_the_server(visit):
    visitor = visit(charts=False)
    page = visitor.go(SAMPLE)
    drawn(page)

    def curves(request):
        return request.url.endswith("/curves")

    step("zoom refines")
    # The page may still be asking for the whole view: the question meant is the one about a part of it.
    with page.expect_request(lambda request: curves(request) and request.post_data_json["low"] is not None) as asked:
        drag(page, 0.2, 0.6)
    question = asked.value.post_data_json
    assert 5 < question["low"] < 20 < question["high"] < 45
    expect(page).to_have_url(re.compile("view=[^&]*e"))
    expect(page.get_by_role("button", name="Back to the view before").first).to_be_visible()
    page.locator(".mean").check()
    expect(page).to_have_url(re.compile("view=[^&]*om"))

    step("the link opens the same, and goes back")
    again = visit(charts=False).follow(page)
    drawn(again)
    expect(again.locator(".mean")).to_be_checked()
    expect(again.get_by_role("button", name="Back to the view before").first).to_be_visible()
    over(again).dblclick()
    expect(again.get_by_role("button", name="Back to the view before")).to_have_count(0)

    step("axes and smoothing are asked of the server")
    again.locator(".mean").uncheck()
    with again.expect_request(lambda request: curves(request) and request.post_data_json["x"] == "relative"):
        again.get_by_role("radio", name="Relative").click()
    with again.expect_request(lambda request: curves(request) and request.post_data_json["smoothing"] == 0.9):
        again.get_by_role("slider", name="Smoothing").fill("0.9")

    step("runs are grouped by a parameter")
    again.get_by_label("Group runs").select_option("hparam:units")
    drawn(again, 4)
    expect(again.get_by_role("treeitem").first).to_contain_text("units = 32")
    again.get_by_role("button", name="Logarithmic values").first.click()
    drawn(again, 4)
    again.get_by_role("searchbox", name="Filter charts").fill("accuracy")
    expect(again.locator(".tags-count")).to_have_text("1 of 4 charts")

    step("nothing is cut off on a small screen")
    page.set_viewport_size({"width": 800, "height": 900})
    page.get_by_role("button", name="Runs").click()
    expect(row(page, "seed-1")).to_be_visible()
    assert_nothing_is_cut_off(page)


def test_logs_of_a_folder_grow_are_damaged_named_in_any_way_or_dropped(visit, logs, tmp_path):
    visitor = visit(charts=False)

    step("a log that is being written grows in the page")
    with EventWriter(logs / "live" / "first") as writer:
        for at in range(10):
            writer.scalars(at, {"loss": 1 / (at + 1)})
        page = visitor.go(f"/training?folder={logs / 'live'}")
        drawn(page)
        expect(page.locator(".live")).to_have_text("Live")
        expect(page.locator(".chart-best").first).to_contain_text("at step 9")
        for at in range(10, 20):
            writer.scalars(at, {"loss": 1 / (at + 1)})
        expect(page.locator(".chart-best").first).to_contain_text("at step 19")
    with EventWriter(logs / "live" / "second") as writer:
        writer.scalars(0, {"loss": 2.0})
        writer.scalars(1, {"loss": 1.0})
        drawn(page, 2)
    expect(page.locator(".runs-count")).to_have_text("2 of 2 runs shown")

    step("damage is said")
    with EventWriter(logs / "odd" / "cut") as writer:
        for at in range(10):
            writer.scalars(at, {"acc": 1 / (at + 1)})
    content = bytearray(writer.path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    writer.path.write_bytes(content)
    with EventWriter(logs / "odd" / "named") as writer:
        for at in range(3):
            pairs = ("Loss/train", "Loss/test", "acc", "val_acc", "train_mae", "val_mae", "layer/a", "layer/b")
            writer.scalars(at, dict.fromkeys(pairs, 1.0 + at))
    page = visitor.go(f"/training?folder={logs / 'odd'}")
    drawn(page)
    expect(page.locator(".health")).to_contain_text("cut 1 damaged record")

    step("training and validation share a chart however they are named")
    expect(page.locator(".tags-count")).to_have_text("5 charts")
    assert sorted(page.locator(".chart-title").all_inner_texts()) == ["Loss", "a", "acc", "b", "mae"]
    page.get_by_text("With validation").click()
    expect(page.locator(".tags-count")).to_have_text("8 charts")

    step("only allowed folders are read")
    page = visitor.go("/training?folder=/etc")
    expect(page.get_by_text("this server may")).to_be_visible()

    step("a log that is dropped is read")
    place = tmp_path / "events.out.tfevents.1.host"
    with EventWriter(tmp_path / "made") as writer:
        for at in range(5):
            writer.scalars(at, {"loss": at})
    place.write_bytes(writer.path.read_bytes())
    page = visitor.go("/training")
    page.locator("input.pick-files").set_input_files(str(place))
    page.wait_for_url("**log=*")
    drawn(page, 1)
    expect(page.locator(".chart-best").first).to_contain_text("best 0 at step 0")

    step("a log that is dropped where models go is known by its content")
    packed = tmp_path / "experiment.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(place, f"experiment/{place.name}")
    page = visitor.go("/")
    page.get_by_role("group", name="Drop a model").get_by_text("Up to").wait_for()
    page.locator("input.pick-files").set_input_files(str(packed))
    page.wait_for_url("**/training?**log=*")
    drawn(page, 1)
