"""What a 1 GB upload costs the server in memory, and what it does to other users' waiting time."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark, median
from benchmarks.http_upload import patterned_blocks, upload
from tests.live import live_server

SIZE_BYTES = 1 << 30


def run(folder: Path) -> dict[str, Any]:
    """Samples the server's memory and health while one upload runs."""
    with live_server(folder) as server:
        time.sleep(8)
        upload(server, patterned_blocks(16 << 20), 16 << 20, "warm.keras")
        before = server.rss_bytes()
        peak, waits, done = before, [], threading.Event()

        def watch() -> None:
            nonlocal peak
            while not done.is_set():
                start = time.perf_counter()
                assert server.healthy(30)
                waits.append(time.perf_counter() - start)
                peak = max(peak, server.rss_bytes())
                time.sleep(0.05)

        watcher = threading.Thread(target=watch)
        watcher.start()
        start = time.perf_counter()
        status = upload(server, patterned_blocks(SIZE_BYTES), SIZE_BYTES, "big.keras").status
        took = time.perf_counter() - start
        done.set()
        watcher.join()
    growth = peak - before
    return {
        "status": status,
        "upload_s": round(took, 2),
        "server_rss_growth_bytes": growth,
        "others_wait_s": {"median": median(waits), "max": round(max(waits), 3)},
        "ratio_to_file": round(growth / SIZE_BYTES, 4),
        "holds": status in (200, 201) and growth <= 30_000_000,
    }


BENCHMARK = Benchmark("upload_memory", "a 1 GiB upload costs the server at most 30 MB", run)
