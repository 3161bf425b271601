"""When a page is drawn whole."""

from __future__ import annotations

from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as NotInTime


def settled(page: Page) -> None:
    """Waits until the run of the page that is under way has ended.

    Streamlit closes an open list when the page is drawn under it: a person opens it once more.
    """
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def choose(page: Page, label: str, option: str, *, exact: bool = False) -> None:
    """Chooses from a list; who finds it closed again by an answer of the server that came late opens it once more."""
    wanted = page.get_by_role("option", name=option, exact=exact)
    for last in (False, False, True):
        settled(page)
        page.get_by_role("combobox", name=label).click()
        try:
            wanted.click(timeout=60_000 if last else 10_000)
            return
        except NotInTime:
            if last:
                raise
            page.keyboard.press("Escape")
