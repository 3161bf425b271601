"""Convert: a model is converted, downloaded, kept and compared by link; several at once; cancelled; and while another page is shown."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

MODEL = "/convert?model=sample-digits-cnn"


def main(page: Page):
    return page.get_by_role("main")


def convert(page: Page) -> None:
    button = main(page).get_by_role("button", name="Convert", exact=True)
    expect(button).to_be_enabled()
    button.click()


def go(page: Page, name: str) -> None:
    """Follows a link in the sidebar, once more where the first click is lost.

    Streamlit folds a timer's rerun of a part of the page into a whole run that still waits, and takes the page of the later request:
    the sidebar's timer, between a click and the start of the run that it asks for, brings the old page back.
    """
    link = page.get_by_role("link", name=name, exact=True)
    link.click()
    try:
        page.wait_for_url(re.compile("/convert" if name == "Convert" else r"/\?"), timeout=20_000)
    except PlaywrightTimeout:
        link.click()


def test_a_converted_model_is_downloaded_kept_and_seen_by_others(visit, tmp_path):
    page = visit().go(f"{MODEL}&to=onnx")
    convert(page)
    verdict = re.compile("ONNX Runtime ran it on 8 rows; .*same class in all rows")
    expect(page.get_by_text(verdict)).to_be_visible(timeout=150_000)
    expect(page).to_have_url(re.compile("job="))
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("Download digits_cnn.onnx")).click()
    assert download.value.suggested_filename == "digits_cnn.onnx"
    assert b"digit" in Path(download.value.path()).read_bytes()

    other = visit()
    other.go(page.url.replace(other.server.url, ""))
    expect(other.page.get_by_text(verdict)).to_be_visible()

    page.get_by_role("button", name="Open as a model here").click()
    expect(page.get_by_text("is among your models now")).to_be_visible()
    page.get_by_role("button", name="Switch to it").click()
    expect(page.get_by_text("Nothing can be made from this file")).to_be_visible(timeout=90_000)
    expect(page).not_to_have_url(re.compile("sample-digits-cnn|job="))


def test_a_conversion_goes_on_while_another_page_is_shown(visit):
    page = visit().go(f"{MODEL}&to=saved_model")
    convert(page)
    expect(page).to_have_url(re.compile("job="))
    go(page, "Overview")
    expect(page.get_by_role("heading", name="What is in this model?")).to_be_visible()
    go(page, "Convert")
    expect(page.get_by_text(re.compile("TensorFlow ran it on 8 rows"))).to_be_visible(timeout=150_000)


def test_all_targets_are_asked_for_at_once_and_cancelled_at_once(visit):
    page = visit().go("/convert?model=sample-digit-pairs")
    every = page.get_by_role("button", name="Convert to all")
    expect(every).to_be_enabled()
    every.click()
    expect(page.get_by_text(re.compile("of 8 targets converted"))).to_be_visible()
    main(page).get_by_role("button", name="Cancel all").click()
    expect(main(page).get_by_role("button", name=re.compile("Cancel"))).to_have_count(0)
    page.get_by_text("Frozen graph", exact=True).first.click()
    expect(page.get_by_text("This run was cancelled")).to_be_visible()
    expect(page).to_have_url(re.compile("to=frozen_graph"))
