"""The real app and a real browser; every request that leaves this machine is an error."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.live import CHROMIUM_FLAGS, LiveServer, chromium_path, live_server


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("app")) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        expect.set_options(timeout=60_000)
        launched = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        yield launched
        launched.close()


class Visitor:
    """One person's browser: its own cookies, and a record of where it connected and what its console said."""

    def __init__(self, context: BrowserContext, server: LiveServer) -> None:
        self.server = server
        self.hosts: set[str] = set()
        self.errors: list[str] = []
        self.page: Page = context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).hostname or ""))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def go(self, path: str = "/") -> Page:
        """Opens a page of the app."""
        self.page.goto(self.server.url + path)
        return self.page

    def upload(self, path) -> Page:
        """Chooses a file on the overview and waits for its model card."""
        self.go()
        self.page.locator("input.pick-files").set_input_files(str(path))
        self.page.wait_for_url("**model=*")
        return self.page

    def model_id(self) -> str:
        """The id in the address."""
        return self.page.url.split("model=")[1].split("&")[0]


@pytest.fixture
def visit(browser, server) -> Iterator:
    """Makes visitors; checks at the end that none of them was sent elsewhere."""
    contexts, visitors = [], []

    def make(**options) -> Visitor:
        contexts.append(browser.new_context(viewport={"width": 1440, "height": 900}, **options))
        visitors.append(Visitor(contexts[-1], options.pop("server", server)))
        return visitors[-1]

    yield make
    for context in contexts:
        context.close()
    for visitor in visitors:
        assert visitor.hosts <= {"localhost", "127.0.0.1", ""}, visitor.hosts
        assert not visitor.errors
