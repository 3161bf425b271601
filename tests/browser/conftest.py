"""The real app and a real browser, which finds no other host; every request for one is an error."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from tests import recorded
from tests.browser import steps
from tests.conftest import ALL
from tests.live import CHROMIUM_FLAGS, LiveServer, chromium_path, live_server
from tests.recorded import recording_folder

HERE = re.compile(r"(https?|wss?)://(localhost|127\.0\.0\.1)[:/]|blob:|data:|about:")
RUN_IN_BROWSER = ("convert", "trial")
"""Kinds of jobs that journeys watch while they run."""
FRAMEWORKS = ("libtensorflow", "_pywrap_tensorflow", "onnxruntime", "ai_edge_litert", "/keras/", "tf_keras")
# Chromium's own address bar, which nobody sees, is drawn by two more processes. The others are what Playwright turns off: the
# later list counts.
_FEATURES_OFF = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)
# Tabs of one browser share a process, and with it the app's scripts as they were compiled for the first of them. Pages that are
# looked at for seconds gain nothing from compiling those again, better.
FLAGS = [
    *CHROMIUM_FLAGS,
    "--process-per-site",
    "--js-flags=--no-opt,--single-threaded",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    f"--disable-features={','.join(_FEATURES_OFF)}",
]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Iterator[None]:
    """Names the step at which a journey failed."""
    if call.when == "setup":
        steps.begin()
    if call.when == "call" and call.excinfo is not None and steps.last():
        call.excinfo.value.add_note(f"at {steps.last()}")
    return (yield)


@pytest.fixture(scope="session")
def logs(tmp_path_factory) -> Path:
    """The folder whose logs the app may read."""
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="session")
def first_in_line() -> None:
    """What is started from here on comes before the tests of other workers, where that may be said."""
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, 0)


@pytest.fixture(scope="session")
def server(first_in_line, tmp_path_factory, logs) -> Iterator[LiveServer]:
    """The app for all journeys: below a path, with a cap small enough to reach, two jobs at once whatever the machine has.

    Its workspace holds what earlier visitors had computed of the samples; what is computed now answers those who come after.
    """
    folder, recording, counts = (
        tmp_path_factory.mktemp("app"),
        recording_folder(),
        os.environ.get("STETHOSCOPE_TEST_GIVEN"),
    )
    planted = {} if ALL or recording else recorded.plant(folder / "workspace", but=RUN_IN_BROWSER)
    with live_server(
        folder, base_path="/team/models", max_upload_bytes="300MiB", log_folders=logs, job_slots=2, light_slots=2
    ) as running:
        listening = recorded.Overheard(running.workspace, recording / "browser.jsonl") if recording else nullcontext()
        with listening:
            yield running
        if counts:
            told = {"given": sorted(recorded.used_of(planted, running.workspace)), "ran": 0}
            (Path(counts) / "browser.json").write_text(json.dumps(told), "utf-8")
        mapped = running.mapped_libraries()
        assert not [name for name in FRAMEWORKS if name in mapped], "only workers may import a framework"


@pytest.fixture(scope="session")
def playwright(first_in_line) -> Iterator[Playwright]:
    with sync_playwright() as started:
        expect.set_options(timeout=60_000)
        yield started


@pytest.fixture(scope="session")
def browser(playwright) -> Iterator[Browser]:
    launched = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
    yield launched
    launched.close()


def _path(page: Page) -> str:
    return page.url.partition("?")[0]


class Visitor:
    """One person's tab, and a record of what it asked for and did not get, and of what its console said."""

    def __init__(self, context: BrowserContext, server: LiveServer) -> None:
        self.server = server
        self.asked_in_vain: list[str] = []
        self.errors: list[str] = []
        self.page: Page = context.new_page()
        self.page.set_default_timeout(60_000)
        # A host elsewhere is never found. To be told of every request of a page, over a hundred, is a tenth of what it costs.
        self.page.on("requestfailed", lambda request: self.asked_in_vain.append(request.url))
        self.page.on("websocket", lambda opened: self.asked_in_vain.append(opened.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def go(self, path: str = "/") -> Page:
        """Opens a page of the app."""
        self.page.goto(self.server.url + path)
        return self.page

    def follow(self, page: Page) -> Page:
        """Opens the address that somebody else's tab shows."""
        return self.go(page.url.removeprefix(self.server.url))

    def turn_to(self, name: str) -> Page:
        """Follows a link of the sidebar."""
        before = _path(self.page)
        self.page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()
        self.page.wait_for_url(lambda url: url.partition("?")[0] != before)
        return self.page

    def asked_elsewhere(self) -> list[str]:
        """What it asked other hosts for."""
        return [url for url in self.asked_in_vain if not HERE.match(url)]

    def model_id(self) -> str:
        """The id in the address."""
        return self.page.url.split("model=")[1].split("&")[0]


@pytest.fixture(scope="session")
def two_browsers(browser, server) -> Iterator[list[BrowserContext]]:
    """Two browsers that are kept: what they have loaded of the app is not loaded again. Without its cookie, each is somebody new."""
    screen = {"width": 1440, "height": 900}
    contexts = [browser.new_context(viewport=screen, reduced_motion="reduce") for _ in range(2)]
    for context in contexts:
        # With its last tab the process would go, and all that it has compiled. What is open here has the headers of a page.
        context.new_page().goto(f"{server.url}/favicon.png")
    yield contexts
    for context in contexts:
        context.close()


def somebody_new(context: BrowserContext) -> BrowserContext:
    """The same browser as another person's: nothing is left in it but the cache."""
    context.clear_cookies()
    context.clear_permissions()
    return context


def without_charts(page: Page) -> None:
    """For journeys in which nobody looks at a chart: their library is what such a page spends most of its time on."""
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.setBlockedURLs", {"urls": ["*lotly*"]})


@pytest.fixture
def visit(two_browsers, server) -> Iterator[Callable[..., Visitor]]:
    """Makes visitors, each a person of their own; checks at the end that none was sent elsewhere and no script failed.

    The first keeps their browser to the end of the test; the others take turns in the second one: with the next to come, the
    one before loses the cookie.
    """
    visitors: list[Visitor] = []

    def make(
        at: LiveServer = server,
        scheme: Literal["light", "dark"] = "light",
        may: tuple[str, ...] = (),
        *,
        charts: bool = True,
    ) -> Visitor:
        context = somebody_new(two_browsers[bool(visitors)])
        if may:
            context.grant_permissions([*may])
        visitor = Visitor(context, at)
        visitor.page.emulate_media(color_scheme=scheme)
        if not charts:
            without_charts(visitor.page)
        visitors.append(visitor)
        return visitor

    yield make
    for visitor in visitors:
        visitor.page.close()
    for visitor in visitors:
        assert visitor.asked_elsewhere() == []
        assert visitor.errors == []
