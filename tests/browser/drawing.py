"""When a page is drawn whole."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def settled(page: Page) -> None:
    """Waits until the run of the page that is under way has ended.

    Streamlit closes an open list when the page is drawn under it: a person opens it once more.
    """
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def choose(page: Page, label: str, option: str, *, exact: bool = False) -> None:
    """Chooses from a list."""
    settled(page)
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=exact).click()
