"""What a model does: a diagnosis with its proof, tests of behaviour, predictions."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from stethoscope.checks import all_checks
from tests.browser.small_screens import assert_nothing_is_cut_off
from tests.browser.steps import step

LONG_MS = 150_000
CAUSE = all_checks()["softmax-one-unit"].title


def test_one_click_finds_the_cause_and_proves_the_fix_and_a_diagnosis_is_cancelled(visit):
    visitor = visit()
    page = visitor.go("/?model=sample-cancer-softmax-one-unit")

    step("the cause is found, the fix proven")
    page.get_by_role("button", name="Diagnose", exact=True).click()
    expect(page.get_by_text(CAUSE).first).to_be_visible(timeout=LONG_MS)
    expect(page.get_by_text("The fix helps").first).to_be_visible(timeout=LONG_MS)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    expect(page.get_by_text('activation="sigmoid"').first).to_be_visible()
    expect(page).to_have_url(re.compile("diagnosis=[0-9]{13}-"))

    step("the link shows it to others")
    other = visit().follow(page)
    expect(other.get_by_text(CAUSE).first).to_be_visible()
    expect(other.get_by_text("The fix helps").first).to_be_visible()

    step("another diagnosis is cancelled and says so")
    page = visitor.go("/diagnosis?model=sample-digits-deep-sigmoid")
    page.get_by_role("button", name="Diagnose", exact=True).click()
    page.get_by_role("main").get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled", exact=True).first).to_be_visible()
    expect(page.get_by_role("button", name="Diagnose", exact=True)).to_be_enabled()


def test_an_unsteady_model_an_overfit_test_and_a_prediction_answer(visit):
    visitor = visit()

    step("an unsteady model is traced to its layer")
    page = visitor.go("/consistency?model=sample-dropout-at-inference")
    page.get_by_role("button", name="Run the test").click()
    expect(page.get_by_text("always_on_dropout").first).to_be_visible(timeout=LONG_MS)
    expect(page).to_have_url(re.compile("job="))

    step("the overfit test answers")
    page = visitor.go("/overfit?model=sample-digits-cnn")
    page.get_by_role("button", name="Run the test").click()
    expect(page.get_by_text("It can", exact=True)).to_be_visible(timeout=LONG_MS)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()

    step("a prediction shows its result and offers it")
    page = visitor.go("/prediction?model=sample-digits-cnn&samples=8&batch=4")
    expect(page.get_by_role("button", name="Predict")).to_be_visible()
    assert_nothing_is_cut_off(page)
    page.get_by_role("button", name="Predict").click()
    expect(page.get_by_text(re.compile("peak memory", re.IGNORECASE)).first).to_be_visible(timeout=LONG_MS)
    expect(page.get_by_text(re.compile("download", re.IGNORECASE)).first).to_be_visible()
