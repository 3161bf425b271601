"""Runs compared, texts and precision–recall curves of a log in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, expect

from benchmarks.many_runs import session_start
from stethoscope.models.containers.wire import encode_bytes
from tests.browser.drawing import choose
from tests.browser.graphs import GRAPH
from tests.browser.steps import step
from tests.logs.event_writing import event, graph_def, graph_event, simple, tensor, write_events
from tests.logs.test_media_values import dims, doubles

RUNS = 12
TEXT = "**not bold** <b>nor this</b>"


def many_runs(place: Path) -> Path:
    """Twelve runs whose loss is the smaller the smaller their rate."""
    for run in range(RUNS):
        given = {"lr": 10.0 ** (run % 4 - 4), "optimizer": ("adam", "sgd")[run % 2], "units": float(32 << run % 3)}
        points = [
            event(at, simple("val_loss", run % 4 + 1 / (1 + at) + run / 1000), simple("val_accuracy", run / RUNS))
            for at in range(5)
        ]
        write_events(place / f"run-{run:02}", [session_start(given), *points])
    return place


def media(place: Path) -> Path:
    """A run with texts, curves and a graph."""
    rows = [[5, 4, 2], [1, 1, 0], [3, 3, 4], [0, 1, 3], [0.8, 0.7, 1.0], [1.0, 0.8, 0.4]]
    events = []
    for at in (10, 20):
        text = encode_bytes(8, f"{TEXT} at {at}".encode())
        numbers = encode_bytes(4, doubles([value for row in rows for value in row]))
        events.append(event(at, tensor("notes", 7, text, "text", dims(1))))
        events.append(event(at, tensor("found", 2, numbers, "pr_curves", dims(6, 3))))
    events.append(graph_event(graph_def(("pixels", "Placeholder", ""), ("squashed", "Sigmoid", "pixels"))))
    write_events(place / "run", [*events, event(20, simple("loss", 1.0))])
    return place


def lines(page: Page, count: int) -> None:
    """Waits until the picture of parallel coordinates shows this many runs."""
    expect(page.locator(".st-key-compare-parallel canvas")).to_have_attribute("data-drawn", str(count))


def best(page: Page):
    return page.get_by_test_id("stMarkdown").filter(has_text="Best:")


def test_runs_are_compared_from_a_link_kept_by_drawing_filtered_and_reopened(visit, logs):
    step("comparing opens from a link before the log was read")
    address = f"/training?folder={quote(str(many_runs(logs / 'many')))}&tab=compare&metrics=val_loss,val_accuracy"
    page = visit().go(address)
    lines(page, RUNS)
    expect(best(page)).to_contain_text("run-00, val_loss 0.2000 at step 4")
    expect(page.locator(".st-key-compare-table canvas").first).to_be_visible()
    expect(page.locator(".st-key-compare-scatter .scatterlayer").first).to_be_visible()
    canvas = page.locator(".st-key-compare-parallel canvas")
    expect(canvas).to_have_attribute(
        "aria-label", re.compile("lr, optimizer, units, best val_accuracy, best val_loss: one line for each of 12 runs")
    )

    step("lines are kept by drawing along an axis")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    # The first axis is the rate: its upper half are two of its four values.
    left, top, low = box["x"] + 64, box["y"] + 46, box["y"] + 402
    page.mouse.move(left, top - 1)
    page.mouse.down()
    page.mouse.move(left, (top + low) / 2, steps=4)
    page.mouse.up()
    lines(page, RUNS // 2)
    expect(page.get_by_text("6 of 12 lines kept")).to_be_visible()
    page.mouse.click(left, (top + low) / 2)
    lines(page, RUNS)

    step("a line is named by the pointer")
    across = (box["width"] - 128) / 4
    # In the middle between two axes lies the mean of a line's two values: the best runs end at the very bottom.
    for height in range(2, 60, 6):
        page.mouse.move(left + across * 3.5, low - 175 + height)
        if page.locator(".st-key-compare-parallel .tip").is_visible():
            break
    expect(page.locator(".st-key-compare-parallel .tip")).to_have_text(re.compile(r"^run-\d\d$"))

    step("picture and table are downloaded")
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    with page.expect_download() as table:
        page.get_by_role("button", name="Download CSV").click()
    rows = table.value.path().read_text().splitlines()
    assert rows[0].startswith("run,group,lr,optimizer,units,")
    assert len(rows) == RUNS + 1

    step("a filter and another metric narrow the view")
    page.get_by_role("heading").first.scroll_into_view_if_needed()
    filtered = page.get_by_role("textbox", name="Filter")
    filtered.fill("optimizer=adam lr<0.001")
    filtered.press("Enter")
    lines(page, 3)
    expect(page.get_by_text("3 runs of 12")).to_be_visible()
    choose(page, "Better by", "val_accuracy")
    expect(best(page)).to_contain_text("run-08, val_accuracy 0.6667")
    expect(best(page)).to_contain_text("highest of 3 runs")
    page.wait_for_url(re.compile("by=val_accuracy"))

    step("the link reopens it")
    again = visit().follow(page)
    lines(again, 3)
    expect(best(again)).to_contain_text("run-08, val_accuracy 0.6667")

    step("a filter that names nothing is said")
    filtered.fill("nothing=1")
    filtered.press("Enter")
    expect(page.get_by_text("expected a parameter")).to_be_visible()


def test_texts_curves_and_the_graph_of_a_log_are_looked_at(visit, logs):
    visitor, other = visit(), visit()
    address = f"/training?folder={quote(str(media(logs / 'media')))}"
    page = visitor.go(address)

    step("texts are shown as they are, step by step")
    page.get_by_role("tab", name="Texts").click()
    shown = page.get_by_test_id("stCode")
    expect(shown).to_have_text(f"{TEXT} at 20")
    page.get_by_role("slider").first.press("ArrowLeft")
    expect(shown).to_have_text(f"{TEXT} at 10")
    expect(page).to_have_url(re.compile("tab=texts"))

    step("precision is drawn against recall")
    page = visitor.go(address)
    page.get_by_role("tab", name="Precision–recall").click()
    curve = ".st-key-pr .scatterlayer .trace path.js-line"
    expect(page.locator(curve).first).to_be_visible()
    expect(page.locator(".st-key-pr .xtitle")).to_contain_text("Recall")
    page.wait_for_url(re.compile("tab="))
    again = other.follow(page)
    expect(again.locator(curve).first).to_be_visible()

    step("the graph that was logged is downloaded")
    page = visitor.go(address)
    page.get_by_role("tab", name="Graph").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download .pb").click()
    assert b"squashed" in Path(download.value.path()).read_bytes()

    step("and looked at like a model")
    page.get_by_role("button", name="Look at it in Architecture").click()
    page.wait_for_url(re.compile("/architecture"))
    expect(page.get_by_role("gridcell", name="squashed")).to_be_visible()
    expect(page.frame_locator(GRAPH).get_by_text("Sigmoid").first).to_be_visible()
