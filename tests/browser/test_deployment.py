"""Convert, parity and drift: asked for, left and found again, downloaded, cancelled, kept, and seen by others through a link."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.drawing import choose
from tests.browser.steps import step

LONG_MS = 150_000


def main(page: Page):
    return page.get_by_role("main")


def press(page: Page, name: str) -> None:
    button = main(page).get_by_role("button", name=name, exact=True)
    expect(button).to_be_enabled()
    button.click()


def test_a_converted_model_is_downloaded_kept_and_seen_by_others(visit):
    visitor = visit()

    step("a conversion goes on while another page is shown")
    page = visitor.go("/convert?model=sample-digits-cnn&to=onnx")
    press(page, "Convert")
    expect(page).to_have_url(re.compile("job="))
    visitor.turn_to("Overview")
    expect(page.get_by_role("heading", name="What is in this model?")).to_be_visible()
    visitor.turn_to("Convert")
    verdict = re.compile("ONNX Runtime ran .* 8 rows; .*in all rows")
    expect(page.get_by_text(verdict)).to_be_visible(timeout=LONG_MS)
    expect(page).to_have_url(re.compile("job="))
    expect(page.locator(".js-plotly-plot")).to_have_count(3)

    step("what came out is downloaded")
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("Download digits_cnn.onnx")).click()
    assert download.value.suggested_filename == "digits_cnn.onnx"
    assert b"digit" in Path(download.value.path()).read_bytes()

    step("the link shows it to others")
    expect(visit().follow(page).get_by_text(verdict)).to_be_visible()

    step("it becomes a model here")
    page.get_by_role("button", name="Open as a model here").click()
    expect(page.get_by_text("among your models")).to_be_visible()
    page.get_by_role("button", name="Switch to it").click()
    expect(page.get_by_text("Nothing can be")).to_be_visible(timeout=LONG_MS)
    expect(page).not_to_have_url(re.compile("sample-digits-cnn|job="))

    step("all targets are asked for at once and cancelled at once")
    page = visitor.go("/convert?model=sample-digit-pairs")
    press(page, "Convert to all")
    expect(page.get_by_text(re.compile("of 8 targets converted"))).to_be_visible()
    press(page, "Cancel all")
    expect(main(page).get_by_role("button", name=re.compile("Cancel"))).to_have_count(0)
    page.get_by_text("Frozen graph", exact=True).first.click()
    expect(page.get_by_text("run was cancelled")).to_be_visible()
    expect(page).to_have_url(re.compile("to=frozen_graph"))


def test_a_sample_and_its_conversion_are_compared_found_again_and_seen_by_others(visit):
    visitor = visit()
    verdict = re.compile(r"digits_cnn_int8\.tflite answers as digits_cnn\.keras does")

    step("a comparison is found again after another page")
    page = visitor.go("/parity?model=sample-digits-cnn")
    page.get_by_role("button", name="Try it on a sample and its 8-bit conversion").click()
    press(page, "Compare")
    expect(page).to_have_url(re.compile("job="))
    visitor.turn_to("Overview")
    expect(page.get_by_role("heading", name="What is in this model?")).to_be_visible()
    visitor.turn_to("Parity")
    expect(page.get_by_text(verdict)).to_be_visible(timeout=LONG_MS)
    expect(page).to_have_url(re.compile("other=sample-digits-cnn-int8.*job="))

    step("it tells of layers and rows")
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    expect(page.get_by_text("kept as integers")).to_be_visible()
    expect(page.get_by_text("Rows that disagree")).to_be_visible()

    step("the link shows it to others")
    other = visit()
    theirs = other.follow(page)
    expect(theirs.get_by_text(verdict)).to_be_visible()

    step("and the graph of the model has it")
    other.go("/architecture?model=sample-digits-cnn&colour=parity&layer=strokes")
    expect(theirs.get_by_text(re.compile("parity error:"))).to_be_visible()

    step("models that a link names are compared")
    page = visitor.go("/parity?model=sample-digits-cnn&other=sample-digits-cnn-onnx")
    press(page, "Compare")
    expect(page.get_by_text(re.compile(r"digits_cnn\.onnx answers as"))).to_be_visible(timeout=LONG_MS)
    expect(page).to_have_url(re.compile("other=sample-digits-cnn-onnx"))


def test_drift_is_found_and_kept_as_a_monitor_with_a_history(visit):
    visitor, other = visit(), visit()

    step("two samples are compared")
    page = visitor.go("/drift?model=sample-digits-cnn")
    page.get_by_role("button", name="Try it on digits, half of them brighter").click()
    expect(page.get_by_text("of both: predictions")).to_be_visible()
    press(page, "Compare")
    expect(page.get_by_text(re.compile("4 of 10 .*x: contrast most"))).to_be_visible(timeout=LONG_MS)
    expect(page).to_have_url(re.compile("reference=sample-digits-before.*job="))

    step("a feature is looked at")
    choose(page, "Feature to look at", "x: sharpness")
    expect(page.get_by_text("changed: a small")).to_be_visible()
    expect(page).to_have_url(re.compile("feature=x"))

    step("the comparison is kept as a monitor")
    page.get_by_role("button", name="Save as monitor").click()
    page.get_by_role("textbox", name="Name").fill("Scanner at the harbour")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Not run yet")).to_be_visible()

    step("the monitor is run on data of two days")
    choose(page, "Data of today", "Digits, as they were")
    press(page, "Run it")
    expect(page.get_by_text("1 run, 0 alarms")).to_be_visible(timeout=LONG_MS)
    choose(page, "Data of today", "Digits, half of them brighter")
    press(page, "Run it")
    expect(page.get_by_text("2 runs, 1 alarm")).to_be_visible(timeout=LONG_MS)

    step("it says how it is run by a schedule")
    schedule = page.get_by_text("Run it by")
    expect(schedule).to_have_count(1)
    schedule.click()
    expect(page.get_by_text(re.compile(r"drift --monitor /.*/monitors/.*monitor\.json")).first).to_be_visible()

    step("others see its history and cannot run it")
    theirs = other.follow(page)
    expect(theirs.get_by_text("2 runs, 1 alarm")).to_be_visible()
    expect(theirs.get_by_role("button", name="Run it", exact=True)).to_have_count(0)

    step("it is deleted, and not")
    page.reload()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("2 runs, 1 alarm")).to_be_visible()


def test_a_log_is_divided_by_its_moments_without_a_model_and_seen_by_others(visit):
    page = visit().go("/drift")
    page.get_by_role("button", name="Try it on a log of predictions").click()
    press(page, "Compare")
    expect(page.get_by_text(re.compile("accuracy outside of .* 2 of 14"))).to_be_visible(timeout=LONG_MS)
    expect(page.get_by_text("Where it is")).to_be_visible()

    step("the link shows it to others")
    expect(visit().follow(page).get_by_text(re.compile("2 of 5 .*ink most"))).to_be_visible()
