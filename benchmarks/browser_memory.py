"""Chromium for benchmarks, and the most memory that something takes while they run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from tests.live import CHROMIUM_FLAGS, chromium_path


@contextmanager
def browser_page() -> Iterator[tuple[Browser, Page]]:
    """A browser that has never been anywhere, and its only page."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        try:
            yield browser, browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        finally:
            browser.close()


@contextmanager
def peak_of(look: Callable[[], int]) -> Iterator[list[int]]:
    """Watches a number of bytes; the list's only item is the largest seen."""
    peak, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            peak[0] = max(peak[0], look())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()


def largest_tab_bytes() -> int:
    """Resident memory of the largest renderer, in bytes; Chromium keeps a spare empty one beside the page's."""
    largest = 0
    for child in psutil.Process().children(recursive=True):
        try:
            if "--type=renderer" in child.cmdline():
                largest = max(largest, child.memory_info().rss)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return largest
