"""Runs compared, texts and precision–recall curves of a log in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from benchmarks.many_runs import session_start
from stethoscope.containers.wire import encode_bytes
from tests.live import LiveServer, live_server
from tests.logs.event_writing import event, graph_def, graph_event, simple, tensor, write_events
from tests.logs.test_media_values import dims, doubles

RUNS = 12
TEXT = "**not bold** <b>nor this</b>"


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Path:
    """Twelve runs whose loss is the smaller the smaller their rate, and a run with texts and curves."""
    place = tmp_path_factory.mktemp("logs")
    for run in range(RUNS):
        given = {"lr": 10.0 ** (run % 4 - 4), "optimizer": ("adam", "sgd")[run % 2], "units": float(32 << run % 3)}
        points = [
            event(step, simple("val_loss", run % 4 + 1 / (1 + step) + run / 1000), simple("val_accuracy", run / RUNS))
            for step in range(5)
        ]
        write_events(place / "many" / f"run-{run:02}", [session_start(given), *points])
    rows = [[5, 4, 2], [1, 1, 0], [3, 3, 4], [0, 1, 3], [0.8, 0.7, 1.0], [1.0, 0.8, 0.4]]
    media = []
    for step in (10, 20):
        text = encode_bytes(8, f"{TEXT} at {step}".encode())
        numbers = encode_bytes(4, doubles([value for row in rows for value in row]))
        media.append(event(step, tensor("notes", 7, text, "text", dims(1))))
        media.append(event(step, tensor("found", 2, numbers, "pr_curves", dims(6, 3))))
    media.append(graph_event(graph_def(("pixels", "Placeholder", ""), ("squashed", "Sigmoid", "pixels"))))
    write_events(place / "media" / "run", [*media, event(20, simple("loss", 1.0))])
    return place


@pytest.fixture(scope="module")
def server(tmp_path_factory, logs) -> Iterator[LiveServer]:
    """An app that may read one folder of this machine."""
    with live_server(tmp_path_factory.mktemp("app"), log_folders=logs) as running:
        yield running


def compare(visitor, logs) -> Page:
    """Opens the comparison of the many runs by a link."""
    page = visitor.go(f"/training?folder={quote(str(logs / 'many'))}&tab=compare&metrics=val_loss,val_accuracy")
    lines(page, RUNS)
    return page


def lines(page: Page, count: int) -> None:
    """Waits until the picture of parallel coordinates shows this many runs."""
    expect(page.locator(".st-key-compare-parallel canvas")).to_have_attribute("data-drawn", str(count))


def test_comparing_opens_from_a_link_before_the_log_was_read(visit, logs):
    page = compare(visit(), logs)
    expect(page.get_by_test_id("stMarkdown").filter(has_text="Best:")).to_contain_text(
        "run-00, val_loss 0.2000 at step 4"
    )
    expect(page.locator(".st-key-compare-table canvas").first).to_be_visible()
    expect(page.locator(".st-key-compare-scatter .scatterlayer").first).to_be_visible()
    expect(page.locator(".st-key-compare-parallel canvas")).to_have_attribute(
        "aria-label", re.compile("lr, optimizer, units, best val_accuracy, best val_loss: one line for each of 12 runs")
    )


def test_a_filter_and_another_metric_narrow_the_view_and_a_link_reopens_it(visit, logs):
    visitor = visit()
    page = compare(visitor, logs)
    box = page.get_by_role("textbox", name="Filter")
    box.fill("optimizer=adam lr<0.001")
    box.press("Enter")
    lines(page, 3)
    expect(page.get_by_text("3 runs of 12")).to_be_visible()
    page.get_by_role("combobox", name="Better by").click()
    page.get_by_role("option", name="val_accuracy").click()
    best = page.get_by_test_id("stMarkdown").filter(has_text="Best:")
    expect(best).to_contain_text("run-08, val_accuracy 0.6667")
    expect(best).to_contain_text("the highest of 3 runs")
    page.wait_for_url(re.compile("by=val_accuracy"))
    again = visit().go(page.url.removeprefix(visitor.server.url))
    lines(again, 3)
    expect(again.get_by_test_id("stMarkdown").filter(has_text="Best:")).to_contain_text("run-08, val_accuracy 0.6667")
    box.fill("nothing=1")
    box.press("Enter")
    expect(page.get_by_text("expected a parameter, a metric or a note of these runs")).to_be_visible()


def test_lines_are_kept_by_drawing_along_an_axis_and_named_by_the_pointer(visit, logs):
    page = compare(visit(), logs)
    canvas = page.locator(".st-key-compare-parallel canvas")
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
    across = (box["width"] - 128) / 4
    # In the middle between two axes lies the mean of a line's two values: the best runs end at the very bottom.
    for height in range(2, 60, 6):
        page.mouse.move(left + across * 3.5, low - 175 + height)
        if page.locator(".st-key-compare-parallel .tip").is_visible():
            break
    expect(page.locator(".st-key-compare-parallel .tip")).to_have_text(re.compile(r"^run-\d\d$"))
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    with page.expect_download() as table:
        page.get_by_role("button", name="Download CSV").click()
    rows = table.value.path().read_text().splitlines()
    assert rows[0].startswith("run,group,lr,optimizer,units,")
    assert len(rows) == RUNS + 1


def test_texts_are_shown_as_they_are_step_by_step(visit, logs):
    page = visit().go(f"/training?folder={quote(str(logs / 'media'))}")
    page.get_by_role("tab", name="Texts").click()
    shown = page.get_by_test_id("stCode")
    expect(shown).to_have_text(f"{TEXT} at 20")
    page.get_by_role("slider").first.press("ArrowLeft")
    expect(shown).to_have_text(f"{TEXT} at 10")
    expect(page).to_have_url(re.compile("tab=texts"))


def test_precision_is_drawn_against_recall(visit, logs):
    visitor = visit()
    page = visitor.go(f"/training?folder={quote(str(logs / 'media'))}")
    page.get_by_role("tab", name="Precision–recall").click()
    curve = page.locator(".st-key-pr .scatterlayer .trace path.js-line").first
    expect(curve).to_be_visible()
    expect(page.locator(".st-key-pr .xtitle")).to_contain_text("Recall")
    page.wait_for_url(re.compile("tab="))
    again = visit().go(page.url.removeprefix(visitor.server.url))
    expect(again.locator(".st-key-pr .scatterlayer .trace path.js-line").first).to_be_visible()


def test_a_graph_that_was_logged_is_looked_at_like_a_model(visit, logs):
    page = visit().go(f"/training?folder={quote(str(logs / 'media'))}")
    page.get_by_role("tab", name="Graph").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download .pb").click()
    assert b"squashed" in Path(download.value.path()).read_bytes()
    page.get_by_role("button", name="Look at it in Architecture").click()
    page.wait_for_url(re.compile("/architecture"))
    expect(page.get_by_role("gridcell", name="squashed")).to_be_visible()
    expect(page.frame_locator("iframe[title^='Graph of']").get_by_text("Sigmoid").first).to_be_visible()
