"""GET /healthz: whether the server answers and can reach its store."""

from __future__ import annotations

import logging

from anyio.to_thread import run_sync
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import stethoscope
from stethoscope.errors import StethoscopeError
from stethoscope.jobs.store import store

_log = logging.getLogger(__name__)


async def healthz(_request: Request) -> Response:
    """{"status": "ok", …}, or 503 with what is wrong."""
    answer: dict[str, object] = {"status": "ok", "version": stethoscope.__version__}
    try:
        await run_sync(store().usage, "healthz")
    except (OSError, SQLAlchemyError, StethoscopeError):
        _log.exception("the health check cannot read the store")
        answer |= {"status": "failing", "store": "cannot be read; see the log"}
        return JSONResponse(answer, 503, headers={"Cache-Control": "no-store"})
    return JSONResponse(answer, headers={"Cache-Control": "no-store"})
