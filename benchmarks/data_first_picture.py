"""From the moment data is opened to its first rows: a table of 100,000 rows, an archive of 20,000 pictures, arrays of 1 GB.

Two times of each: the job in a worker (started, contained, answered), and Chromium on the link of data that was just uploaded, until its
first row is drawn, with Streamlit's own start in it (`empty_page_s`), which is
taken off before the claim is judged. Beside them what the same costs where a notebook reads all of it: pandas, Pillow over every file, numpy.load.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from benchmarks import data_files
from benchmarks.benchmark import Benchmark, median, process
from benchmarks.http_upload import file_blocks, upload
from stethoscope.jobs import engine
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.live import CHROMIUM_FLAGS, LiveServer, chromium_path, live_server

FIRST_PICTURE_S, MEMORY_BYTES = 3.0, 512 << 20
RUNS = 3
_FIRST_ROW = "[data-place] img, [data-testid='stDataFrame'] canvas"
_WHOLE = {
    "table.csv": "import pandas, sys; print(len(pandas.read_csv(sys.argv[1])))",
    "pictures.zip": (
        "import io, sys, zipfile; from PIL import Image; import numpy\n"
        "with zipfile.ZipFile(sys.argv[1]) as archive:\n"
        "    rows = [numpy.asarray(Image.open(io.BytesIO(archive.read(name)))) for name in archive.namelist()]\n"
        "print(len(rows))"
    ),
    "arrays.npz": "import numpy, sys; print(numpy.load(sys.argv[1])['x'].shape)",
}


def run(folder: Path) -> dict[str, Any]:
    """Median seconds until the first picture, and the memory a reading added; the whole reading for comparison."""
    files = {
        "table.csv": data_files.write_csv,
        "pictures.zip": data_files.write_pictures,
        "arrays.npz": data_files.write_npz,
    }
    found: dict[str, Any] = {}
    for name, write in files.items():
        write(folder / name)
        found[name] = {"bytes": (folder / name).stat().st_size} | _jobs(folder / name)
        whole = process(sys.executable, "-c", _WHOLE[name], str(folder / name))
        found[name] |= {
            "whole_in_a_notebook_s": round(whole["wall_s"], 2),
            "whole_in_a_notebook_bytes": whole["rss_bytes"],
        }
    with live_server(folder) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        empty = [_empty_s(browser, server) for _ in range(RUNS + 1)][1:]
        for name in files:
            found[name]["page_s"] = _page_s(browser, server, folder / name)
        browser.close()
    return {
        "files": found,
        "empty_page_s": median(empty),
        "holds": all(
            one["job_s"] <= FIRST_PICTURE_S
            and one["page_s"] - median(empty) <= FIRST_PICTURE_S
            and one["job_peak_bytes"] <= MEMORY_BYTES
            for one in found.values()
        ),
    }


def _jobs(path: Path) -> dict[str, Any]:
    """Reads the first 24 rows as the page does."""
    seconds, peaks = [], []
    for _ in range(RUNS):
        start = time.monotonic()
        job = Job("read_data", {"data": ModelFile.at(path)}, {"start": 0, "count": 24}, Budget(2 << 30, 120))
        result = engine().wait(engine().submit(job, fresh=True))
        seconds.append(time.monotonic() - start)
        if result.status is not Status.OK:
            raise RuntimeError(f"{path.name}: {result.reason}")
        peaks.append(result.peak_rss_bytes)
    return {"job_s": median(seconds), "job_slowest_s": round(max(seconds), 3), "job_peak_bytes": max(peaks)}


def _page_s(browser: Any, server: LiveServer, path: Path) -> float:
    """Uploads the file, then opens its link in a new tab until the first row stands there."""
    sent = upload(server, file_blocks(path), path.stat().st_size, path.name)
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    start = time.monotonic()
    page.goto(f"{server.url}/data?data={sent.entry_id}")
    page.locator(_FIRST_ROW).first.wait_for(timeout=120_000)
    passed_s = time.monotonic() - start
    page.close()
    return round(passed_s, 3)


def _empty_s(browser: Any, server: LiveServer) -> float:
    """Seconds until the same page stands there without data: what Streamlit itself takes."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    start = time.monotonic()
    page.goto(f"{server.url}/data")
    page.get_by_role("heading", level=1).wait_for()
    passed_s = time.monotonic() - start
    page.close()
    return passed_s


BENCHMARK = Benchmark(
    "data_first_picture",
    "the first rows of 100,000 rows of CSV, 20,000 pictures in a zip and 1 GB of arrays are drawn within 3 s, in at most 512 MB",
    run,
)
