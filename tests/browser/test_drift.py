"""Drift: data is chosen, compared and looked at, the comparison kept as a monitor, run again, and seen by others."""

from __future__ import annotations

import contextlib
import re

from playwright.sync_api import Error, Page, expect

VERDICT = "4 of 10 features drifted; x: contrast most"
LONG_MS = 150_000


def press(page: Page, name: str) -> None:
    button = page.get_by_role("main").get_by_role("button", name=name, exact=True)
    expect(button).to_be_enabled()
    button.click()


def choose(page: Page, label: str, title: str) -> None:
    """Chooses data or a feature, again where the box was drawn anew while it opened."""
    option = page.get_by_role("option", name=title)
    for _ in range(5):
        with contextlib.suppress(Error):
            if not option.is_visible():
                page.get_by_role("combobox", name=label).click(timeout=10_000)
            option.click(timeout=5_000)
            return
    option.click()


def test_the_whole_way_from_two_samples_to_the_history_of_a_monitor(visit):
    me = visit()
    page = me.go("/drift?model=sample-digits-cnn")
    page.get_by_role("button", name="Try it on digits, half of them brighter").click()
    expect(page.get_by_text("makes of both: predictions, confidence, a layer")).to_be_visible()
    press(page, "Compare")
    expect(page.get_by_text(VERDICT)).to_be_visible(timeout=LONG_MS)
    expect(page).to_have_url(re.compile("reference=sample-digits-before.*job="))
    choose(page, "Feature to look at", "x: sharpness")
    expect(page.get_by_text("has changed: a small drift")).to_be_visible()
    expect(page).to_have_url(re.compile("feature=x"))

    page.get_by_role("button", name="Save as monitor").click()
    page.get_by_role("textbox", name="Name").fill("Scanner at the harbour")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Not run yet")).to_be_visible()
    choose(page, "Data of today", "Digits, as they were")
    press(page, "Run it")
    expect(page.get_by_text("1 run, 0 alarms")).to_be_visible(timeout=LONG_MS)
    choose(page, "Data of today", "Digits, half of them brighter")
    press(page, "Run it")
    expect(page.get_by_text("2 runs, 1 alarm")).to_be_visible(timeout=LONG_MS)
    schedule = page.get_by_text("Run it by a schedule")
    expect(schedule).to_have_count(1)
    schedule.click()
    expect(page.get_by_text(re.compile(r"drift --monitor /.*/monitors/.*monitor\.json")).first).to_be_visible()

    other = visit()
    theirs = other.go(page.url.replace(me.server.url, ""))
    expect(theirs.get_by_text("2 runs, 1 alarm")).to_be_visible()
    expect(theirs.get_by_role("button", name="Run it", exact=True)).to_have_count(0)

    page.reload()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("2 runs, 1 alarm")).to_be_visible()


def test_a_log_is_divided_by_its_moments_without_a_model_and_seen_by_others(visit):
    me = visit()
    page = me.go("/drift")
    page.get_by_role("button", name="Try it on a log of predictions").click()
    press(page, "Compare")
    expect(page.get_by_text("accuracy outside of its limits in 2 of 14 current ones")).to_be_visible(timeout=LONG_MS)
    expect(page.get_by_text("Where it is worst")).to_be_visible()
    other = visit()
    other.go(page.url.replace(me.server.url, ""))
    expect(other.page.get_by_text("3 of 6 features drifted; ink most")).to_be_visible()
