"""/api/runs/{id}/…: runs, curves, summaries and exports of a log, for whoever holds its unguessable id."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from dashboard.routes.replies import refusal, sentence
from dashboard.training import followed
from stethoscope.codec import plain
from stethoscope.errors import BadInput, NotFound, StethoscopeError
from stethoscope.logs.runs.chart import pack, view_of
from stethoscope.logs.runs.export import KINDS
from stethoscope.logs.runs.export import export as export_points
from stethoscope.logs.runs.table import RunTable
from stethoscope.logs.runs.window import window

MAX_BODY_BYTES = 4 << 20
_HEADERS = {"Cache-Control": "private, no-store"}
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")


@functools.cache
def _threads() -> anyio.CapacityLimiter:
    # Apart from the server's own threads: many charts must not keep pages from being served.
    return anyio.CapacityLimiter(4)


async def index(request: Request) -> Response:
    """Runs, tags and media; 204 where nothing is new since `revision`."""
    known = request.query_params.get("revision", "")
    return await _answer(lambda: _index(request.path_params["log_id"], known))


async def curves(request: Request) -> Response:
    """A chart's window: see stethoscope/logs/runs/chart.py."""
    body = await _body(request)
    if body is None:
        return sentence(f"The request: expected at most {MAX_BODY_BYTES:,} bytes. Choose fewer runs.", 413)
    return await _answer(lambda: _curves(request.path_params["log_id"], body))


async def summary(request: Request) -> Response:
    """Per run: points, first and last step, last and best value of one tag, over all points."""
    tag = request.query_params.get("tag", "")
    return await _answer(lambda: _summary(request.path_params["log_id"], tag))


async def export(request: Request) -> Response:
    """Every point of the log, or of some tags and runs, as CSV or Parquet."""
    query = request.query_params
    return await _answer(
        lambda: _export(request.path_params["log_id"], query.get("format", ""), query.getlist("tag"), query.get("runs"))
    )


routes = [
    Route("/runs/{log_id}/index", index),
    Route("/runs/{log_id}/curves", curves, methods=["POST"]),
    Route("/runs/{log_id}/export", export),
    Route("/runs/{log_id}/summary", summary),
]


async def _answer(work: Callable[[], Response]) -> Response:
    try:
        return await run_sync(work, limiter=_threads())
    except StethoscopeError as error:
        return refusal(error)


async def _body(request: Request) -> bytes | None:
    """The request's body; None when it is too long."""
    found = bytearray()
    async for chunk in request.stream():
        found += chunk
        if len(found) > MAX_BODY_BYTES:
            return None
    return bytes(found)


def _index(log_id: str, known: str) -> Response:
    found = followed.opened(log_id)
    if known and known == str(found.revision) and found.table is not None:
        return Response(status_code=204, headers=_HEADERS)
    return Response(found.index_bytes(), media_type="application/json", headers=_HEADERS)


def _table(log_id: str) -> tuple[followed.OpenLog, RunTable]:
    found = followed.opened(log_id, look=False)
    if found.table is None:
        raise NotFound(found.problem or "The logs are still being read. Wait a moment.")
    return found, found.table


def _curves(log_id: str, body: bytes) -> Response:
    found, table = _table(log_id)
    try:
        asked: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadInput("The request: expected JSON. Reload the page.") from error
    content = pack(window(table, view_of(asked, table)), found.revision)
    # Said to be encoded, so that the server does not compress it: that takes longer than the chart and saves a third.
    headers = {**_HEADERS, "Content-Encoding": "identity"}
    return Response(content, media_type="application/octet-stream", headers=headers)


def _summary(log_id: str, tag: str) -> Response:
    found, table = _table(log_id)
    number = _number(tag, "tag", len(table.tags))
    rows = [plain(row) for row in table.summary(number)]
    value = {"revision": found.revision, "tag": table.tags[number], "runs": rows}
    return Response(json.dumps(value), media_type="application/json", headers=_HEADERS)


def _export(log_id: str, kind: str, tags: list[str], runs: str | None) -> Response:
    found, table = _table(log_id)
    if kind not in KINDS:
        raise BadInput(f"format: expected csv or parquet, got {kind[:100]!r}. Reload the page.")
    chosen_tags = [_number(tag, "tag", len(table.tags)) for tag in tags] or None
    chosen = None if runs is None else [_number(run, "runs", len(table.runs)) for run in runs.split(",") if run]
    content = export_points(table, "csv" if kind == "csv" else "parquet", chosen_tags, chosen)
    name = _NOT_PLAIN.sub("_", Path(found.title).name)[:100] or "runs"
    headers = {**_HEADERS, "Content-Disposition": f'attachment; filename="{name}.{kind}"'}
    media_type = "text/csv; charset=utf-8" if kind == "csv" else "application/vnd.apache.parquet"
    return StreamingResponse(content, media_type=media_type, headers=headers)


def _number(text: str, name: str, count: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) >= count:
        raise BadInput(f"{name}: expected a number below {count:,}, got {text[:100]!r}. Reload the page.")
    return int(text)
