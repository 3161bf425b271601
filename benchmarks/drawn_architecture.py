"""From opening the Architecture page to a drawn architecture of a 500 MB model: weights left out, against all of it.

The same app twice; the second time a setting makes it hand the viewer the whole file. Each opening is a fresh browser,
in two ways: by a click in the open app, as after an upload; and by its link, which first loads the whole app.
Memory is the resident memory of the tab's process (its JavaScript heap is part of that and reported beside it), its
peak while the page loads, nothing subtracted; an empty page in the same browser is reported for comparison.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from benchmarks.benchmark import Benchmark, median, sample
from benchmarks.browser_memory import browser_page, largest_tab_bytes, peak_of
from benchmarks.http_upload import file_blocks, upload
from sample_models.big_dense import PARAMETERS
from tests.live import LiveServer, live_server

MODELS = ("onnx_500mb", "dense_500mb")
OPENINGS = 3
_EVERYTHING = "1TiB"
_SETTLE_S = 8


def run(folder: Path) -> dict[str, Any]:
    """Opens each model several times with and without its weights, in both ways; figures are medians."""
    files = [sample(name, folder) for name in MODELS]
    figures: dict[str, Any] = {"blank_page_rss_bytes": _blank_page_bytes()}
    opened: dict[str, dict[str, dict[str, float]]] = {file.name: {} for file in files}
    for mode, settings in (("without_weights", {}), ("whole_file", {"skeleton_above_bytes": _EVERYTHING})):
        home = folder / mode
        home.mkdir()
        with live_server(home, **settings) as server:
            time.sleep(_SETTLE_S)
            for file in files:
                sent = upload(server, file_blocks(file), file.stat().st_size, file.name)
                if not sent.entry_id:
                    raise RuntimeError(f"{file.name} was not taken: {sent.status} {sent.error}")
                opened[file.name][mode] = _open_often(server, sent.entry_id)
    for name, modes in opened.items():
        figures[name] = modes | {
            f"{key}_ratio": round(modes["without_weights"][key] / modes["whole_file"][key], 3)
            for key in ("clicked_s", "linked_s", "peak_rss_bytes")
        }
    compared = [figures[name] for name in opened]
    return figures | {
        "holds": all(one["clicked_s_ratio"] <= 1 / 2 and one["peak_rss_bytes_ratio"] <= 1 / 4 for one in compared),
        "holds_by_link": all(one["linked_s_ratio"] <= 1 / 2 for one in compared),
    }


def _open_often(server: LiveServer, entry_id: str) -> dict[str, float]:
    linked, clicked = [], []
    for _ in range(OPENINGS):
        linked.append(_open(server, entry_id, by_link=True))
        clicked.append(_open(server, entry_id, by_link=False))
    return {
        "clicked_s": median([one["drawn_s"] for one in clicked]),
        "linked_s": median([one["drawn_s"] for one in linked]),
        "peak_rss_bytes": median([one["peak_rss_bytes"] for one in linked + clicked]),
        "js_heap_bytes": median([one["js_heap_bytes"] for one in linked + clicked]),
    }


def _open(server: LiveServer, entry_id: str, *, by_link: bool) -> dict[str, float]:
    """Seconds until the first node is visible, and the tab's memory up to then."""
    with browser_page() as (browser, page), peak_of(largest_tab_bytes) as peak:
        if by_link:
            start = time.perf_counter()
            page.goto(f"{server.url}/architecture?model={entry_id}", wait_until="commit")
        else:
            page.goto(f"{server.url}/overview?model={entry_id}")
            page.get_by_text(f"{PARAMETERS:,}").first.wait_for(timeout=60_000)
            time.sleep(1)
            start = time.perf_counter()
            page.get_by_role("link", name="Architecture", exact=True).click()
        page.frame_locator("iframe[title^='Graph of']").locator("g.graph-node").first.wait_for(timeout=120_000)
        drawn = time.perf_counter() - start
        heap = _heap_bytes(browser, page)
        time.sleep(0.3)
    return {"drawn_s": round(drawn, 3), "peak_rss_bytes": peak[0], "js_heap_bytes": heap}


def _blank_page_bytes() -> int:
    with browser_page() as (_, page), peak_of(largest_tab_bytes) as peak:
        page.goto("about:blank")
        time.sleep(1)
    return peak[0]


def _heap_bytes(browser: Browser, page: Page) -> int:
    session = browser.contexts[0].new_cdp_session(page)
    session.send("Performance.enable")
    metrics = session.send("Performance.getMetrics")["metrics"]
    return int(next(one["value"] for one in metrics if one["name"] == "JSHeapTotalSize"))


BENCHMARK = Benchmark(
    "drawn_architecture",
    "after a click, 500 MB are drawn in at most half the time and a quarter of the memory when weights stay on the server",
    run,
)
