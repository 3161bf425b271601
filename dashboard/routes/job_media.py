"""GET /api/jobs/{job}/media/{name}: pictures and sounds that a job made, for the page to show in place."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from dashboard.routes.downloads import job_file
from dashboard.routes.replies import base_path, refusal
from stethoscope.errors import NotFound

_KINDS: Final = {".png": (b"\x89PNG\r\n\x1a\n", "image/png"), ".wav": (b"RIFF", "audio/wav")}


def address(job_id: str, name: str) -> str:
    """Where the page finds a file of a job."""
    return f"{base_path()}/api/jobs/{job_id}/media/{name}"


def media_file(job_id: str, name: str) -> tuple[Path, str]:
    """The file and its type, told by its first bytes: a worker may have run a hostile model.

    Raises:
        NotFound: no such job or output, or it is neither a PNG nor a WAV file.
    """
    path = job_file(job_id, name)
    magic, media_type = _KINDS.get(path.suffix, (b"", ""))
    with path.open("rb") as stream:
        if not magic or stream.read(len(magic)) != magic:
            raise NotFound("Result: expected a picture or a sound, got a file of another kind. Download it instead.")
    return path, media_type


async def show(request: Request) -> Response:
    """Sends one picture or sound; a job's files never change."""
    try:
        path, media_type = await run_sync(media_file, request.path_params["job_id"], request.path_params["name"])
    except NotFound as error:
        return refusal(error)
    return FileResponse(path, media_type=media_type, headers={"Cache-Control": "private, max-age=86400, immutable"})


routes = [Route("/jobs/{job_id}/media/{name}", show)]
