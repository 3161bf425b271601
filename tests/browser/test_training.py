"""The curves of a log in a real browser: filter, solo, zoom, hover, links, downloads, and a log that is being written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from stethoscope.keras.event_writer import EventWriter
from tests.browser.small_screens import assert_nothing_is_cut_off
from tests.live import LiveServer, live_server

SAMPLE = "/training?log=sample-training-runs"


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def server(tmp_path_factory, logs) -> Iterator[LiveServer]:
    """An app that may read one folder of this machine."""
    with live_server(tmp_path_factory.mktemp("app"), log_folders=logs, base_path="/team") as running:
        yield running


def opened(visitor, address: str = SAMPLE) -> Page:
    page = visitor.go(address)
    drawn(page)
    return page


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


def test_the_sample_shows_its_runs_charts_and_faults(visit):
    page = visit().go("/training")
    page.get_by_role("button", name="Open the sample log").click()
    drawn(page, 12)
    expect(page.locator(".runs-count")).to_have_text("6 of 6 runs shown")
    expect(page.locator(".chart").first).to_contain_text("epoch_loss")
    expect(page.locator(".chart").first).to_contain_text(re.compile(r"validation: best 0\.08\d+ at epoch"))
    expect(page.get_by_text("3 findings")).to_be_visible()
    expect(row(page, "nan").locator(".finding.critical")).to_be_visible()
    expect(row(page, "seed-1").locator(".finding")).to_have_count(0)


def test_a_filter_that_is_no_regular_expression_is_said_and_loses_nothing(visit):
    page = opened(visit())
    box = page.get_by_role("searchbox", name="Filter runs")
    box.fill("seed-[12]")
    expect(page.locator(".runs-count")).to_have_text("2 of 6 runs match, 2 shown")
    drawn(page, 4)
    box.fill("seed-[12")
    expect(page.locator(".runs-problem")).to_contain_text("No regular expression")
    expect(row(page, "seed-2")).to_be_visible()
    drawn(page, 4)
    box.fill("")
    expect(page.locator(".runs-problem")).to_be_hidden()
    drawn(page, 12)


def test_one_run_alone_and_back_with_mouse_and_keyboard(visit):
    page = opened(visit())
    row(page, "seed-3").dblclick()
    drawn(page, 2)
    expect(row(page, "seed-3")).to_have_attribute("aria-checked", "true")
    expect(row(page, "nan")).to_have_attribute("aria-checked", "false")
    row(page, "seed-3").dblclick()
    drawn(page, 12)
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


def test_colours_are_the_same_whatever_is_shown(visit):
    page = opened(visit())
    colour = "element => getComputedStyle(element.querySelector('.box')).borderTopColor"
    before = row(page, "seed-2").evaluate(colour)
    page.get_by_role("searchbox", name="Filter runs").fill("seed-2")
    drawn(page, 2)
    assert row(page, "healthy/seed-2").or_(row(page, "seed-2")).first.evaluate(colour) == before


def test_zoom_refines_goes_back_and_is_in_the_link(visit):
    visitor = visit()
    page = opened(visitor)
    with page.expect_request(lambda request: request.url.endswith("/curves")) as asked:
        drag(page, 0.2, 0.6)
    question = asked.value.post_data_json
    assert 5 < question["low"] < 20 < question["high"] < 45
    expect(page).to_have_url(re.compile("view=[^&]*e"))
    expect(page.get_by_role("button", name="Back to the view before").first).to_be_visible()
    page.locator(".mean").check()
    expect(page).to_have_url(re.compile("view=[^&]*om"))
    again = opened(visit(), page.url.removeprefix(visitor.server.url))
    expect(again.locator(".mean")).to_be_checked()
    expect(again.get_by_role("button", name="Back to the view before").first).to_be_visible()
    over(again).dblclick()
    expect(again.get_by_role("button", name="Back to the view before")).to_have_count(0)


def test_what_the_pointer_is_at_is_named_pinned_and_let_go(visit):
    page = opened(visit())
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


def test_axes_smoothing_and_groups_are_asked_of_the_server(visit):
    page = opened(visit())

    def curves(request):
        return request.url.endswith("/curves")

    with page.expect_request(lambda request: curves(request) and request.post_data_json["x"] == "relative"):
        page.get_by_role("radio", name="Relative").click()
    with page.expect_request(lambda request: curves(request) and request.post_data_json["smoothing"] == 0.9):
        page.get_by_role("slider", name="Smoothing").fill("0.9")
    page.get_by_label("Group runs").select_option("hparam:units")
    drawn(page, 4)
    expect(page.get_by_role("treeitem").first).to_contain_text("units = 32")
    page.get_by_role("button", name="Logarithmic values").first.click()
    drawn(page, 4)
    page.get_by_role("searchbox", name="Filter charts").fill("accuracy")
    expect(page.locator(".tags-count")).to_have_text("1 of 4 charts")


def test_a_chart_is_downloaded_in_every_form(visit, tmp_path):
    page = opened(visit())
    page.get_by_role("searchbox", name="Filter runs").fill("seed")
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


def test_a_log_that_is_being_written_grows_in_the_page(visit, logs):
    with EventWriter(logs / "live" / "first") as writer:
        for step in range(10):
            writer.scalars(step, {"loss": 1 / (step + 1)})
        page = opened(visit(), f"/training?folder={logs / 'live'}")
        expect(page.locator(".live")).to_have_text("Live")
        expect(page.locator(".chart-best").first).to_contain_text("at step 9")
        for step in range(10, 20):
            writer.scalars(step, {"loss": 1 / (step + 1)})
        expect(page.locator(".chart-best").first).to_contain_text("at step 19")
    with EventWriter(logs / "live" / "second") as writer:
        writer.scalars(0, {"loss": 2.0})
        writer.scalars(1, {"loss": 1.0})
        drawn(page, 2)
    expect(page.locator(".runs-count")).to_have_text("2 of 2 runs shown")


def test_damage_is_said_and_only_allowed_folders_are_read(visit, logs):
    with EventWriter(logs / "cut" / "run") as writer:
        for step in range(10):
            writer.scalars(step, {"loss": 1 / (step + 1)})
    content = bytearray(writer.path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    writer.path.write_bytes(content)
    page = opened(visit(), f"/training?folder={logs / 'cut'}")
    expect(page.locator(".health")).to_contain_text("run 1 damaged record")
    page = visit().go("/training?folder=/etc")
    expect(page.get_by_text("expected one of those this server may read")).to_be_visible()


def test_training_and_validation_share_a_chart_however_they_are_named(visit, logs):
    with EventWriter(logs / "named" / "run") as writer:
        for step in range(3):
            pairs = ("Loss/train", "Loss/test", "acc", "val_acc", "train_mae", "val_mae", "layer/a", "layer/b")
            writer.scalars(step, dict.fromkeys(pairs, 1.0 + step))
    page = opened(visit(), f"/training?folder={logs / 'named'}")
    expect(page.locator(".tags-count")).to_have_text("5 charts")
    titles = page.locator(".chart-title").all_inner_texts()
    assert sorted(titles) == ["Loss", "a", "acc", "b", "mae"]
    page.get_by_text("With validation").click()
    expect(page.locator(".tags-count")).to_have_text("8 charts")


def test_a_log_that_is_dropped_is_read(visit, logs, tmp_path):
    place = tmp_path / "events.out.tfevents.1.host"
    with EventWriter(tmp_path / "made") as writer:
        for step in range(5):
            writer.scalars(step, {"loss": step})
    place.write_bytes(writer.path.read_bytes())
    page = visit().go("/training")
    page.locator("input.pick-files").set_input_files(str(place))
    page.wait_for_url("**log=*")
    drawn(page, 1)
    expect(page.locator(".chart-best").first).to_contain_text("best 0 at step 0")


def test_nothing_is_cut_off_on_a_small_screen(visit):
    page = visit(color_scheme="light").go(SAMPLE)
    page.set_viewport_size({"width": 800, "height": 900})
    drawn(page)
    page.get_by_role("button", name="Runs").click()
    expect(row(page, "seed-1")).to_be_visible()
    assert_nothing_is_cut_off(page)
