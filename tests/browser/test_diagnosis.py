"""One click from the Overview to a cause, a fix and its proof."""

from __future__ import annotations

import re

from playwright.sync_api import expect


def test_one_click_finds_the_cause_and_proves_the_fix(visit):
    visitor = visit()
    page = visitor.go("/?model=sample-cancer-softmax-one-unit")
    page.get_by_role("button", name="Diagnose", exact=True).click()
    expect(page.get_by_text("Softmax over a single unit").first).to_be_visible(timeout=60_000)
    expect(page.get_by_text("The fix helps").first).to_be_visible(timeout=150_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    expect(page.get_by_text('activation="sigmoid"').first).to_be_visible()
    expect(page).to_have_url(re.compile("diagnosis=[0-9]{13}-"))

    other = visit().go(page.url.replace(visitor.server.url, ""))
    expect(other.get_by_text("Softmax over a single unit").first).to_be_visible()
    expect(other.get_by_text("The fix helps").first).to_be_visible()


def test_a_diagnosis_is_cancelled_and_says_so(visit):
    page = visit().go("/diagnosis?model=sample-digits-deep-sigmoid")
    page.get_by_role("button", name="Diagnose", exact=True).click()
    cancel = page.get_by_role("main").get_by_role("button", name="Cancel")
    cancel.click()
    expect(page.get_by_text("Cancelled", exact=True).first).to_be_visible()
    expect(page.get_by_role("button", name="Diagnose", exact=True)).to_be_enabled()


def test_the_overfit_test_answers(visit):
    page = visit().go("/overfit?model=sample-digits-cnn")
    page.get_by_role("button", name="Run the test").click()
    expect(page.get_by_text("It can", exact=True)).to_be_visible(timeout=90_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
