"""The server's side of the app: its routes, middleware, and what happens when it starts and stops."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio.to_thread import run_sync
from sqlalchemy.exc import SQLAlchemyError
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from dashboard import navigation, removal
from dashboard.routes import conversions, downloads, job_media, runs, upload
from dashboard.routes.health import healthz
from dashboard.routes.late_ticks import LateTicks
from dashboard.routes.netron_assets import netron_routes
from dashboard.routes.owner_cookie import OwnerCookie
from dashboard.routes.page_policy import PagePolicy
from dashboard.routes.replies import SecurityHeaders, base_path
from dashboard.training import followed
from stethoscope.errors import StethoscopeError
from stethoscope.jobs import engine
from stethoscope.jobs.store import register_samples, store
from stethoscope.settings import settings

CLEAN_EVERY_S = 3600.0
_DESCRIPTORS = 65_536
_log = logging.getLogger(__name__)


async def first_page(request: Request) -> Response:
    """The first page lives at the app's own address: its name in a link leads there, with the view it carries."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{base_path()}/{query}")


def routes() -> list[BaseRoute]:
    """Our routes, below the app's base path."""
    base = base_path()
    secured = [Middleware(SecurityHeaders)]
    return [
        Route(f"{base}/healthz", healthz, middleware=secured),
        Route(f"{base}/{navigation.page_files()[0].url_path}", first_page),
        Mount(
            f"{base}/api",
            routes=[*upload.routes, *downloads.routes, *conversions.routes, *job_media.routes, *runs.routes],
            middleware=secured,
        ),
        *netron_routes(base),
    ]


def middleware() -> list[Middleware]:
    """What wraps every request, Streamlit's included."""
    return [Middleware(OwnerCookie), Middleware(PagePolicy), Middleware(LateTicks)]


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Prepares the store and warms the workers; cleans up every hour while the server runs."""
    logging.getLogger("stethoscope").setLevel(settings().log_level)
    await run_sync(_start)
    cleaning = asyncio.create_task(_clean_forever())
    try:
        yield
    finally:
        cleaning.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await cleaning
        await run_sync(followed.forget_all)
        await run_sync(engine().stop)


def _start() -> None:
    _allow_many_descriptors()
    register_samples(store(), settings().samples_dir)
    removal.clean()
    engine().warm()
    # After each run of a page Streamlit searches all objects for garbage. What was imported until here is none.
    gc.collect()
    gc.freeze()


def _allow_many_descriptors() -> None:
    """Raises the soft limit, often 1024: a browser needs about ten, and three for two minutes after it has gone."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def _clean_forever() -> None:
    while True:
        await asyncio.sleep(CLEAN_EVERY_S)
        try:
            await run_sync(_clean)
        except (OSError, SQLAlchemyError, StethoscopeError):
            _log.exception("cleaning the workspace failed; it will be tried again")


def _clean() -> None:
    removal.clean()
    followed.forget_idle()
    if settings().expire_days > 0:
        engine().expire(settings().expire_days * 24 * 3600)
