"""The page Training with 1,000 runs of 20 curves each, in Chromium: until it can be used, and how long each filter takes.

The log has been read and judged before (its reading is measured elsewhere); every opening is a new tab of one browser on the link, with
all of Streamlit's start in it; an empty page of the app is timed beside it, and once a browser that has never been here. A filter is typed as a user does, and is done when every chart in sight shows its result.
Of the view Compare: until its picture of all runs is drawn and its table stands, and until the picture shows a filter's or another metric's runs.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright

from benchmarks import many_runs
from benchmarks.benchmark import Benchmark, median
from tests.live import CHROMIUM_FLAGS, LiveServer, chromium_path, live_server

RUNS, POINTS = 1_000, 200
TAGS = [f"{group}/{letter}" for group in ("layer", "loss", "metric", "rate") for letter in "abcde"]
OPENINGS = 5
RUN_FILTERS = ("run-00", "run-0[0-4]", "group-3/", "(even|odd)", "")
CHART_FILTERS = ("loss", "", "metric/[ab]", "")
INTERACTIVE_S, FILTER_S = 3.0, 0.5
COMPARE_FILTERS = (("run-00", RUNS // 10), ("", RUNS), ("lr<0.001 or optimizer=sgd", None), ("", RUNS))
COMPARED_S, COMPARE_FILTER_S = 3.0, 1.0
_SCREEN = {"width": 1440, "height": 900}
_REST_S = 2
_LOOK_AHEAD_S = 8
"""Until a person would type, the page fetches what comes next below."""
# The charts in sight, once nothing is asked for, waited for or still to be drawn.
_DONE = """async ([selector, text]) => {
  const root = [...document.querySelectorAll('*')].map((one) => one.shadowRoot).find((one) => one && one.querySelector('.curves'));
  const { app } = root.querySelector('.curves');
  const box = root.querySelector(selector);
  const frame = () => new Promise((next) => requestAnimationFrame(next));
  const start = performance.now();
  box.value = text;
  box.dispatchEvent(new Event('input'));
  await frame();
  const shown = () => [...app.sections.charts.values()].filter((chart) => {
    const { top, bottom } = chart.element.getBoundingClientRect();
    return chart.element.isConnected && bottom > 0 && top < window.innerHeight;
  });
  const ready = () => !app.waiting.size && shown().every((chart) => chart.plot && chart.layers.every((layer) => layer.answer && !(layer.abort && layer.asked && !layer.answer)));
  do await frame(); while (!ready());
  return performance.now() - start;
}"""


def run(folder: Path) -> dict[str, Any]:
    """Opens the page several times and filters runs and charts; figures are medians and the slowest."""
    logs = folder / "logs"
    many_runs.write(logs, RUNS, TAGS, POINTS)
    with live_server(folder, log_folders=logs) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        context = browser.new_context(viewport=_SCREEN)
        first_s = _opened(context, server, logs)[0]
        _judged(context, server, logs)
        openings = [_opened(context, server, logs) for _ in range(OPENINGS)]
        empty = [_empty_s(context, server) for _ in range(OPENINGS)]
        cold = _opened(browser.new_context(viewport=_SCREEN), server, logs)
        page = _page(context, server, logs)
        time.sleep(_LOOK_AHEAD_S)
        filters = {
            kind: {f"{place}: {text or 'cleared'}": _filter_s(page, selector, text) for place, text in enumerate(texts)}
            for kind, selector, texts in (
                ("runs", ".runs-filter", RUN_FILTERS),
                ("charts", ".tags-filter", CHART_FILTERS),
            )
        }
        compared = [_compared_s(context, server, logs) for _ in range(OPENINGS)]
        changes = _compare_changes(context, server, logs)
        browser.close()
    interactive = [one[0] for one in openings]
    slowest = max(value for found in filters.values() for value in found.values())
    return {
        "runs": RUNS,
        "tags": len(TAGS),
        "points_per_curve": POINTS,
        "first_opening_with_reading_s": round(first_s, 2),
        "interactive_s": median(interactive),
        "interactive_slowest_s": round(max(interactive), 3),
        "new_browser_interactive_s": round(cold[0], 3),
        "empty_page_s": median(empty),
        "all_in_sight_drawn_s": median([one[1] for one in openings]),
        "filters_s": filters,
        "slowest_filter_s": slowest,
        "compare_s": median(compared),
        "compare_slowest_s": round(max(compared), 3),
        "compare_changes_s": changes,
        "holds": median(interactive) <= INTERACTIVE_S
        and slowest <= FILTER_S
        and median(compared) <= COMPARED_S
        and max(changes.values()) <= COMPARE_FILTER_S,
    }


def _page(context: BrowserContext, server: LiveServer, logs: Path) -> Page:
    page = context.new_page()
    page.goto(f"{server.url}/training?folder={logs}")
    page.locator(f".chart[data-drawn='{RUNS}']").first.wait_for(timeout=300_000)
    return page


def _judged(context: BrowserContext, server: LiveServer, logs: Path) -> None:
    """Waits until the checks have looked at the log: they do so once, beside the first opening."""
    page = _page(context, server, logs)
    page.get_by_text(re.compile(r"^\d+ findings?$|^No fault was found")).first.wait_for(timeout=300_000)
    page.close()


def _opened(context: BrowserContext, server: LiveServer, logs: Path) -> tuple[float, float]:
    """(seconds until the list of runs can be used and the first chart shows all, until all charts in sight do)."""
    start = time.monotonic()
    page = _page(context, server, logs)
    interactive_s = time.monotonic() - start
    _filter_s(page, ".runs-filter", "")
    whole_s = time.monotonic() - start
    page.close()
    return interactive_s, whole_s


def _compared(context: BrowserContext, server: LiveServer, logs: Path) -> Page:
    page = context.new_page()
    page.goto(f"{server.url}/training?folder={logs}&tab=compare")
    page.locator(f".st-key-compare-parallel canvas[data-drawn='{RUNS}']").wait_for(timeout=300_000)
    page.locator(".st-key-compare-table canvas").first.wait_for(timeout=300_000)
    return page


def _compared_s(context: BrowserContext, server: LiveServer, logs: Path) -> float:
    """Seconds until Compare shows its picture of all runs and its table."""
    start = time.monotonic()
    page = _compared(context, server, logs)
    passed_s = time.monotonic() - start
    page.close()
    return passed_s


def _compare_changes(context: BrowserContext, server: LiveServer, logs: Path) -> dict[str, float]:
    """Seconds until the picture shows what each filter leaves, and another metric, once all is at rest."""
    page = _compared(context, server, logs)
    page.locator(".st-key-compare-scatter .scatterlayer").first.wait_for()
    found = {}
    box, picture = page.get_by_role("textbox", name="Filter"), page.locator(".st-key-compare-parallel canvas")
    before = picture.get_attribute("data-drawn")
    for place, (text, lines) in enumerate(COMPARE_FILTERS):
        time.sleep(_REST_S)
        start = time.monotonic()
        box.fill(text)
        box.press("Enter")
        wanted = f"[data-drawn='{lines}']" if lines else f":not([data-drawn='{before}'])"
        page.locator(f".st-key-compare-parallel canvas{wanted}").wait_for()
        found[f"{place}: {text or 'cleared'}"] = round(time.monotonic() - start, 3)
        before = picture.get_attribute("data-drawn")
    time.sleep(_REST_S)
    page.get_by_role("combobox", name="Better by").click()
    other = page.get_by_role("option").nth(1)
    name = other.inner_text()
    start = time.monotonic()
    other.click()
    page.locator(f".st-key-compare-parallel canvas[aria-label*='best {name}:']").wait_for()
    found["another metric"] = round(time.monotonic() - start, 3)
    page.close()
    return found


def _empty_s(context: BrowserContext, server: LiveServer) -> float:
    """Seconds until the app shows a page without anything on it."""
    page = context.new_page()
    start = time.monotonic()
    page.goto(f"{server.url}/memory")
    page.get_by_text("Choose a model first").wait_for()
    passed_s = time.monotonic() - start
    page.close()
    return passed_s


def _filter_s(page: Page, selector: str, text: str) -> float:
    return round(float(page.evaluate(_DONE, [selector, text])) / 1000, 3)


BENCHMARK = Benchmark(
    id="training_browser",
    claim="The page Training with 1,000 runs × 20 curves: usable within 3 s, each filter within 0.5 s; Compare within 3 s, each change of it within 1 s",
    run=run,
)
