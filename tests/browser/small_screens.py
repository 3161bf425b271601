"""What every page owes a small screen, light and dark."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def assert_nothing_is_cut_off(page: Page) -> None:
    """The page, opened light, is as wide as its window in either scheme."""
    app, main = page.get_by_test_id("stApp"), page.get_by_test_id("stMain")
    light = app.evaluate("element => getComputedStyle(element).backgroundColor")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        if scheme == "dark":
            expect(app).not_to_have_css("background-color", light)
        page.wait_for_timeout(500)
        assert main.evaluate("element => element.scrollWidth - element.clientWidth") == 0, scheme
