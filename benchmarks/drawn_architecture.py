"""From opening the Architecture page to a drawn architecture of a 500 MB model: weights left out, against all of it.

The same app twice; the second time a setting makes it hand the viewer the whole file. Each opening is a fresh browser.
Memory is the resident memory of the tab's process (its JavaScript heap is part of that and reported beside it), its
peak while the page loads, nothing subtracted; an empty page in the same browser is reported for comparison.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.benchmark import Benchmark, median, sample
from benchmarks.http_upload import file_blocks, upload
from tests.live import CHROMIUM_FLAGS, LiveServer, chromium_path, live_server

MODELS = ("onnx_500mb", "dense_500mb")
OPENINGS = 3
_EVERYTHING = "1TiB"
_SETTLE_S = 8


def run(folder: Path) -> dict[str, Any]:
    """Opens each model several times with and without its weights; the first opening follows the upload at once."""
    files = [sample(name, folder) for name in MODELS]
    figures: dict[str, Any] = {"blank_page_rss_bytes": _blank_page_bytes()}
    opened: dict[str, dict[str, list[dict[str, float]]]] = {}
    for mode, settings in (("without_weights", {}), ("whole_file", {"skeleton_above_bytes": _EVERYTHING})):
        home = folder / mode
        home.mkdir()
        with live_server(home, **settings) as server:
            time.sleep(_SETTLE_S)
            for file in files:
                sent = upload(server, file_blocks(file), file.stat().st_size, file.name)
                if not sent.entry_id:
                    raise RuntimeError(f"{file.name} was not taken: {sent.status} {sent.error}")
                rounds = [_open(server, sent.entry_id) for _ in range(OPENINGS)]
                opened.setdefault(file.name, {})[mode] = rounds
    for name, modes in opened.items():
        figures[name] = _compare(modes["without_weights"], modes["whole_file"])
    compared = [figures[file.name] for file in files]
    return figures | {
        "holds": all(
            one["time_ratio"] <= 1 / 2 and one["first_time_ratio"] <= 1 / 2 and one["memory_ratio"] <= 1 / 4
            for one in compared
        )
    }


def _compare(light: list[dict[str, float]], heavy: list[dict[str, float]]) -> dict[str, Any]:
    def middle(rounds: list[dict[str, float]], key: str) -> float:
        return median([one[key] for one in rounds])

    return {
        "without_weights": {key: middle(light, key) for key in light[0]} | {"first_drawn_s": light[0]["drawn_s"]},
        "whole_file": {key: middle(heavy, key) for key in heavy[0]} | {"first_drawn_s": heavy[0]["drawn_s"]},
        "time_ratio": round(middle(light, "drawn_s") / middle(heavy, "drawn_s"), 3),
        "first_time_ratio": round(light[0]["drawn_s"] / heavy[0]["drawn_s"], 3),
        "memory_ratio": round(middle(light, "peak_rss_bytes") / middle(heavy, "peak_rss_bytes"), 3),
    }


def _open(server: LiveServer, entry_id: str) -> dict[str, float]:
    """Seconds until the first node is visible, and the tab's memory up to then."""
    with _browser() as (browser, page), _peak_of_tabs() as peak:
        start = time.perf_counter()
        page.goto(f"{server.url}/architecture?model={entry_id}", wait_until="commit")
        page.frame_locator("iframe[title^='Graph of']").locator("g.graph-node").first.wait_for(timeout=120_000)
        drawn = time.perf_counter() - start
        heap = _heap_bytes(browser, page)
        time.sleep(0.3)
    return {"drawn_s": round(drawn, 3), "peak_rss_bytes": peak[0], "js_heap_bytes": heap}


def _blank_page_bytes() -> int:
    with _browser() as (_, page), _peak_of_tabs() as peak:
        page.goto("about:blank")
        time.sleep(1)
    return peak[0]


def _heap_bytes(browser: Browser, page: Page) -> int:
    session = browser.contexts[0].new_cdp_session(page)
    session.send("Performance.enable")
    metrics = session.send("Performance.getMetrics")["metrics"]
    return int(next(one["value"] for one in metrics if one["name"] == "JSHeapTotalSize"))


@contextmanager
def _browser() -> Iterator[tuple[Browser, Page]]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        try:
            yield browser, browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        finally:
            browser.close()


@contextmanager
def _peak_of_tabs() -> Iterator[list[int]]:
    """Watches the largest renderer process below this one; the list's only item is its peak resident memory."""
    peak, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            peak[0] = max(peak[0], _largest_tab_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()


def _largest_tab_bytes() -> int:
    """Resident memory of the largest renderer, in bytes; Chromium keeps a spare empty one beside the page's."""
    largest = 0
    for child in psutil.Process().children(recursive=True):
        try:
            if "--type=renderer" in child.cmdline():
                largest = max(largest, child.memory_info().rss)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return largest


BENCHMARK = Benchmark(
    "drawn_architecture",
    "a 500 MB model is drawn in at most half the time and a quarter of the browser memory when its weights stay here",
    run,
)
