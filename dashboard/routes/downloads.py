"""GET /api/jobs/{job}/files/{name}: what a job left, for whoever holds the job's unguessable id."""

from __future__ import annotations

import re
from pathlib import Path

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from dashboard.routes.replies import refusal
from stethoscope.errors import NotFound
from stethoscope.jobs import engine
from stethoscope.jobs.store import is_id

_FILE_NAME = re.compile(r"[^\x00-\x1f\x7f/\\]{1,255}")


def job_file(job_id: str, name: str) -> Path:
    """Returns the output `name` of a finished job. The engine lists plain files only: no links, no folders.

    Raises:
        NotFound: no such job or output.
    """
    if is_id(job_id) and _FILE_NAME.fullmatch(name):
        result = engine().state(job_id).result
        if result is not None and name in result.files and result.files[name].is_file():
            return result.files[name]
    raise NotFound("Result: expected a file of a finished job, got a link that is unknown or expired. Run it again.")


async def download(request: Request) -> Response:
    """Sends one output as an attachment."""
    try:
        path = await run_sync(job_file, request.path_params["job_id"], request.path_params["name"])
    except NotFound as error:
        return refusal(error)
    return FileResponse(
        path, media_type="application/octet-stream", filename=path.name, headers={"Cache-Control": "private, no-store"}
    )


routes = [Route("/jobs/{job_id}/files/{name}", download)]
