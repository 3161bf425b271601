"""What every page owes a small screen, light and dark."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.drawing import settled

_DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))"


def assert_nothing_is_cut_off(page: Page) -> None:
    """The page, opened light, is as wide as its window in either scheme; afterwards its window is as before."""
    before = page.viewport_size
    page.set_viewport_size({"width": 800, "height": 900})
    app, main = page.get_by_test_id("stApp"), page.get_by_test_id("stMain")
    light = app.evaluate("element => getComputedStyle(element).backgroundColor")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        if scheme == "dark":
            expect(app).not_to_have_css("background-color", light)
        settled(page)
        page.evaluate(_DRAWN)
        assert main.evaluate("element => element.scrollWidth - element.clientWidth") == 0, scheme
    page.emulate_media(color_scheme="light")
    if before is not None:
        page.set_viewport_size(before)
