"""PUT /api/upload: a file from the browser straight to disk, in constant memory, other requests unhindered.

GET /api/upload?size_bytes=N asks first: a browser that is refused in the middle of sending may never see the answer.
"""

from __future__ import annotations

import functools
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from anyio.to_thread import run_sync
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dashboard import analysis
from dashboard.routes.owner_cookie import is_upload_token, owner_of
from dashboard.routes.replies import refusal, sentence
from stethoscope.errors import QuotaExceeded, StethoscopeError
from stethoscope.jobs.store import Entry, Upload, store
from stethoscope.settings import settings
from stethoscope.types import UploadKind

TOKEN_HEADER = "X-Stethoscope-Token"
_BUFFER_BYTES = 4 << 20
_log = logging.getLogger(__name__)
_running: Counter[str] = Counter()


@functools.cache
def _disk_threads() -> anyio.CapacityLimiter:
    # Apart from the server's own threads: slow disks must not keep pages from being served.
    return anyio.CapacityLimiter(8)


async def ask(request: Request) -> Response:
    """Says whether a file of `size_bytes` would be taken: {"ok": true}, or the sentence why not."""
    owner = _owner(request)
    if isinstance(owner, Response):
        return owner
    size = request.query_params.get("size_bytes", "")
    if not size.isascii() or not size.isdigit() or len(size) > 18:
        return sentence("size_bytes: expected a number of bytes. Reload the page.", 400)
    try:
        await run_sync(store().check_room, owner, int(size), limiter=_disk_threads())
    except StethoscopeError as error:
        return refusal(error)
    return JSONResponse({"ok": True}, headers={"Cache-Control": "no-store"})


async def put(request: Request) -> Response:
    """Receives one file; answers {"id", "name", "size_bytes"} or a sentence. "expected=data": what it was sent as."""
    owner = _owner(request)
    if isinstance(owner, Response):
        return owner
    length = request.headers.get("content-length", "")
    expected = int(length) if length.isascii() and length.isdigit() and len(length) < 19 else None
    try:
        with _slot(owner):
            upload = await run_sync(store().upload, owner, expected, limiter=_disk_threads())
            try:
                received = await _receive(request, upload)
                if expected is not None and received != expected:
                    return sentence("The upload broke off. Send the file again.", 400)
                if not received:
                    return sentence("The file: expected content, got 0 bytes. Save it again.", 400)
                name = request.query_params.get("name", "")
                entry = await run_sync(upload.commit, name, owner, _expected(request), limiter=_disk_threads())
            finally:
                upload.abort()
    except StethoscopeError as error:
        return refusal(error)
    except TimeoutError:
        return sentence("The upload stopped sending and was dropped. Send the file again.", 408)
    except ClientDisconnect:
        # Nobody is left to read an answer; the partial file is gone.
        return Response(status_code=499)
    if entry.kind is UploadKind.MODEL:
        await run_sync(_begin_reading, entry)
    return JSONResponse({"id": entry.id, "name": entry.name, "size_bytes": entry.size_bytes})


routes = [Route("/upload", ask, methods=["GET"]), Route("/upload", put, methods=["PUT"])]


def _owner(request: Request) -> str | Response:
    owner = owner_of(request.cookies)
    if owner is None:
        return sentence("This browser is not known here. Allow cookies for this site and reload the page.", 401)
    site = request.headers.get("sec-fetch-site", "same-origin")
    if site != "same-origin" or not is_upload_token(owner, request.headers.get(TOKEN_HEADER, "")):
        return sentence("This request did not come from our own page. Reload the page and try again.", 403)
    return owner


def _expected(request: Request) -> UploadKind | None:
    kind = request.query_params.get("expected", "")
    return UploadKind(kind) if kind in set(UploadKind) else None


@contextmanager
def _slot(owner: str) -> Iterator[None]:
    if _running[owner] >= settings().uploads_per_owner or _running.total() >= settings().uploads_total:
        raise QuotaExceeded("Too many uploads are running. Wait for one to finish, then try again.")
    _running[owner] += 1
    try:
        yield
    finally:
        _running[owner] -= 1
        if not _running[owner]:
            del _running[owner]


def _begin_reading(entry: Entry) -> None:
    """Starts the description that the first page will ask for, so that it is there when it does."""
    try:
        analysis.describe(entry)
    except StethoscopeError as error:
        _log.warning("the description of a new upload could not be started: %s", error)


async def _receive(request: Request, upload: Upload) -> int:
    buffer = bytearray()
    chunks = request.stream()
    while True:
        with anyio.fail_after(settings().upload_idle_s):
            chunk = await anext(chunks, None)
        if chunk is None:
            break
        buffer += chunk
        if len(buffer) >= _BUFFER_BYTES:
            await run_sync(upload.write, buffer, limiter=_disk_threads())
            buffer = bytearray()
    if buffer:
        await run_sync(upload.write, buffer, limiter=_disk_threads())
    return upload.size_bytes
