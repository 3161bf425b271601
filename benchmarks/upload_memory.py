"""What a 1 GB upload costs the server in memory, and what it does to other users' waiting time."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import threading
import time
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark, median
from dashboard.routes.upload import TOKEN_HEADER
from tests.live import LiveServer, live_server

SIZE_BYTES = 1 << 30
_CHUNK = 1 << 20


def upload(server: LiveServer, size_bytes: int, name: str = "big.keras") -> int:
    """Sends `size_bytes` the way the browser does; returns the status."""
    connection = http.client.HTTPConnection("localhost", server.port, timeout=300)
    connection.request("GET", f"{server.base_path}/", headers={"Accept": "text/html"})
    response = connection.getresponse()
    cookies = SimpleCookie()
    for header in response.headers.get_all("Set-Cookie") or []:
        cookies.load(header)
    response.read()
    connection.putrequest("PUT", f"{server.base_path}/api/upload?name={name}")
    connection.putheader("Cookie", "; ".join(f"{key}={morsel.value}" for key, morsel in cookies.items()))
    connection.putheader("Origin", f"http://localhost:{server.port}")
    connection.putheader("Sec-Fetch-Site", "same-origin")
    connection.putheader(TOKEN_HEADER, _token(server, cookies))
    connection.putheader("Content-Length", str(size_bytes))
    connection.endheaders()
    block = bytes(range(256)) * (_CHUNK // 256)
    for _ in range(size_bytes // _CHUNK):
        connection.send(block)
    return connection.getresponse().status


def _token(server: LiveServer, cookies: SimpleCookie) -> str:
    """What the page of this browser would send along."""
    owner = next(morsel.value for key, morsel in cookies.items() if "owner" in key).split(".")[0]
    key = (server.workspace / "cookie.key").read_bytes()
    return hmac.new(key, f"upload:{owner}".encode(), hashlib.sha256).hexdigest()


def run(folder: Path) -> dict[str, Any]:
    """Samples the server's memory and health while one upload runs."""
    with live_server(folder) as server:
        time.sleep(8)
        upload(server, 16 << 20, "warm.keras")
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
        status = upload(server, SIZE_BYTES)
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
