"""Sending a file to the app the way the browser does: over its upload route, with the page's cookie and token."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path

from dashboard.routes.upload import TOKEN_HEADER
from tests.live import LiveServer

CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Sent:
    """What the app answered: `entry_id` is empty unless it took the file."""

    status: int
    entry_id: str
    error: str = ""


def patterned_blocks(size_bytes: int) -> Iterator[bytes]:
    """Blocks of 1 MiB that add up to `size_bytes`."""
    block = bytes(range(256)) * (CHUNK_BYTES // 256)
    for _ in range(size_bytes // CHUNK_BYTES):
        yield block


def file_blocks(path: Path) -> Iterator[bytes]:
    """The file in blocks of 1 MiB."""
    with path.open("rb") as stream:
        while block := stream.read(CHUNK_BYTES):
            yield block


def upload(server: LiveServer, blocks: Iterable[bytes], size_bytes: int, name: str) -> Sent:
    """Sends `blocks` as one file, as a browser that has just opened the page."""
    connection, _ = begin(server, size_bytes, name)
    for block in blocks:
        connection.send(block)
    response = connection.getresponse()
    answer = json.loads(response.read() or b"{}")
    return Sent(response.status, str(answer.get("id", "")), str(answer.get("error", "")))


def begin(
    server: LiveServer, size_bytes: int, name: str, cookies: SimpleCookie | None = None
) -> tuple[http.client.HTTPConnection, SimpleCookie]:
    """Opens the page for its cookie (unless given), sends the request's head, and leaves the body to the caller."""
    connection = http.client.HTTPConnection("localhost", server.port, timeout=300)
    cookies = cookies or new_browser(server)
    connection.putrequest("PUT", f"{server.base_path}/api/upload?name={name}")
    connection.putheader("Cookie", "; ".join(f"{key}={morsel.value}" for key, morsel in cookies.items()))
    connection.putheader("Origin", f"http://localhost:{server.port}")
    connection.putheader("Sec-Fetch-Site", "same-origin")
    connection.putheader(TOKEN_HEADER, token(server, cookies))
    connection.putheader("Content-Length", str(size_bytes))
    connection.endheaders()
    return connection, cookies


def new_browser(server: LiveServer) -> SimpleCookie:
    """The cookies a browser has after its first visit."""
    connection = http.client.HTTPConnection("localhost", server.port, timeout=60)
    connection.request("GET", f"{server.base_path}/", headers={"Accept": "text/html"})
    response = connection.getresponse()
    cookies: SimpleCookie = SimpleCookie()
    for header in response.headers.get_all("Set-Cookie") or []:
        cookies.load(header)
    response.read()
    connection.close()
    return cookies


def token(server: LiveServer, cookies: SimpleCookie) -> str:
    """What the page of this browser would send along."""
    owner = next(morsel.value for key, morsel in cookies.items() if "owner" in key).split(".")[0]
    key = (server.workspace / "cookie.key").read_bytes()
    return hmac.new(key, f"upload:{owner}".encode(), hashlib.sha256).hexdigest()
