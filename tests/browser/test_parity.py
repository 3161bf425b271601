"""Parity: a model and its 8-bit conversion are compared from the empty page, reopened by link, and looked at in the graph."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

VERDICT = re.compile(r"digits_cnn_int8\.tflite answers as digits_cnn\.keras does")


def compare(page: Page) -> None:
    button = page.get_by_role("main").get_by_role("button", name="Compare", exact=True)
    expect(button).to_be_enabled()
    button.click()


def test_a_sample_and_its_conversion_are_compared_and_seen_by_others(visit):
    page = visit().go("/parity?model=sample-digits-cnn")
    page.get_by_role("button", name="Try it on a sample and its 8-bit conversion").click()
    compare(page)
    expect(page.get_by_text(VERDICT)).to_be_visible(timeout=150_000)
    expect(page).to_have_url(re.compile("other=sample-digits-cnn-int8.*job="))
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    expect(page.get_by_text("Layers kept as integers, the noisiest first")).to_be_visible()
    expect(page.get_by_text("Rows that disagree most")).to_be_visible()

    other = visit()
    other.go(page.url.replace(other.server.url, ""))
    expect(other.page.get_by_text(VERDICT)).to_be_visible()

    graph = other.go("/architecture?model=sample-digits-cnn&colour=parity&layer=strokes")
    expect(graph.get_by_text("parity error:")).to_be_visible()


def test_a_comparison_is_found_again_after_another_page(visit):
    page = visit().go("/parity?model=sample-digits-cnn&other=sample-digits-cnn-onnx")
    compare(page)
    expect(page).to_have_url(re.compile("job="))
    page.get_by_role("link", name="Overview", exact=True).click()
    expect(page.get_by_role("heading", name="What is in this model?")).to_be_visible()
    page.get_by_role("link", name="Parity", exact=True).click()
    expect(page.get_by_text(re.compile(r"digits_cnn\.onnx answers as"))).to_be_visible(timeout=150_000)
    expect(page).to_have_url(re.compile("other=sample-digits-cnn-onnx"))
