"""Memory, Devices and Planner: a result appears, cancel works, and a link opens the same view elsewhere."""

from __future__ import annotations

import contextlib
import re

from playwright.sync_api import Error, Page, expect

ONNX, TFLITE = "sample-digits-cnn-onnx", "sample-digits-cnn-tflite"


def shown_to_another(visit, page: Page) -> Page:
    """The same address in somebody else's browser."""
    other = visit()
    return other.go(page.url.replace(other.server.url, ""))


def choose_also(page: Page, title: str) -> None:
    """Chooses one more, again where the list was still opening and moved away from under the mouse."""
    option = page.get_by_role("option", name=title, exact=True)
    # Not by its role: all but the list is hidden from assistive technology while the list is open.
    chosen = page.locator("[data-testid='stMultiSelect']").get_by_text(title, exact=True)
    for _ in range(5):
        with contextlib.suppress(Error):
            if not option.is_visible():
                page.locator("[data-testid='stMultiSelect'] input").click()
            option.click(timeout=5_000)
            chosen.wait_for(timeout=5_000)
            break
    expect(chosen).to_be_visible()
    page.keyboard.press("Escape")


def test_a_sweep_shows_its_curves_and_its_link_opens_them(visit):
    page = visit().go(f"/memory?model={ONNX}&sizes=1%2C+16%2C+64")
    page.get_by_role("button", name="Sweep", exact=True).click()
    expect(page.get_by_text("Worth its memory")).to_be_visible(timeout=90_000)
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    expect(page).to_have_url(re.compile("job="))
    other = shown_to_another(visit, page)
    expect(other.get_by_text("Worth its memory")).to_be_visible()
    expect(other.get_by_label("Batch sizes")).to_have_value("1, 16, 64")


def test_the_peak_is_estimated_before_running_and_its_link_opens_it(visit):
    page = visit().go("/memory?model=sample-digits-cnn&question=Before+running&sizes=1%2C+64")
    page.get_by_role("button", name="Estimate without running").click()
    expect(page.get_by_text("Estimated peak", exact=True)).to_be_visible(timeout=90_000)
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    expect(page.get_by_text("Batch 64").first).to_be_visible()
    other = shown_to_another(visit, page)
    expect(other.get_by_text("Estimated peak", exact=True)).to_be_visible()


def test_a_search_for_what_lowers_the_peak_is_cancelled(visit):
    page = visit().go("/memory?model=sample-digits-cnn&question=What+lowers+it")
    start = page.get_by_role("button", name="Try what lowers it")
    start.click()
    page.get_by_role("main").get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled", exact=True).first).to_be_visible()
    expect(start).to_be_enabled()
    expect(page).to_have_url(re.compile("study="))


def test_refused_settings_become_the_nearest_that_run(visit):
    page = visit().go("/devices?model=sample-digits-cnn&growth=true&card-limit=1GiB&call=call")
    expect(page.get_by_text(re.compile("exclude each other on one card")).first).to_be_visible()
    run = page.get_by_role("button", name="Run with these settings")
    expect(run).to_be_disabled()
    page.get_by_role("button", name="Use the nearest settings that run here").click()
    expect(page.get_by_role("spinbutton", name="Memory limit (MiB)")).to_have_value("1024")
    expect(run).to_be_enabled()
    run.click()
    expect(page.get_by_text("32 samples predicted")).to_be_visible(timeout=120_000)
    expect(page.get_by_text("Ran with 32 rows, model(x).")).to_be_visible()
    other = shown_to_another(visit, page)
    expect(other.get_by_text("32 samples predicted")).to_be_visible()
    expect(other.get_by_text("Ran with 32 rows, model(x).")).to_be_visible()


def test_plans_follow_the_settings_and_models_share_a_card(visit):
    page = visit().go(f"/planner?model={ONNX}&device=t4&devices=4")
    expect(page.get_by_text(re.compile("One device is enough"))).to_be_visible()
    expect(page.get_by_role("combobox", name="Device")).to_have_value("NVIDIA T4")
    page.get_by_text("Several models on one card").click()
    choose_also(page, "Handwritten digits (TFLite)")
    expect(page).to_have_url(re.compile(f"with={TFLITE}(&|$)"))
    page.get_by_role("button", name="Run them together").click()
    expect(page.get_by_text("Both ran at once")).to_be_visible(timeout=120_000)
    other = shown_to_another(visit, page)
    expect(other.get_by_text("Both ran at once")).to_be_visible()
