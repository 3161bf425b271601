"""GET /api/jobs/{job}/converted/{name}: the model that a conversion made, as one file to keep; several are packed while they are sent."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from typing import Any
from urllib.parse import quote

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route

from dashboard import escape
from dashboard.routes.downloads import job_file
from dashboard.routes.replies import base_path, refusal
from stethoscope.codec import partial_of
from stethoscope.errors import NotFound
from stethoscope.jobs import engine
from stethoscope.tasks.convert import Conversion
from stethoscope.types import JobResult

_AT_ONCE = 1 << 20
_ARCHIVES = (".zip", ".tar", ".gz", ".tgz")
_MOST_BESIDE = 64


@dataclass(frozen=True)
class Converted:
    """What a conversion left: one file, or a model with its weights beside it, which only work together."""

    paths: tuple[Path, ...]

    @property
    def suffix(self) -> str:
        """Of what is sent, with the dot."""
        return ".zip" if len(self.paths) > 1 else self.paths[0].suffix

    @property
    def size_bytes(self) -> int:
        """Of all files together."""
        return sum(path.stat().st_size for path in self.paths)

    def chunks(self) -> Iterator[bytes]:
        """The one file, or a zip of all (not compressed: weights hardly shrink), a MiB at a time."""
        if len(self.paths) == 1:
            with self.paths[0].open("rb") as stream:
                while chunk := stream.read(_AT_ONCE):
                    yield chunk
            return
        outlet = _Outlet()
        with zipfile.ZipFile(outlet, "w", zipfile.ZIP_STORED, strict_timestamps=False) as archive:
            for path in self.paths:
                about = zipfile.ZipInfo(path.name)
                with path.open("rb") as source, archive.open(about, "w", force_zip64=True) as target:
                    while chunk := source.read(_AT_ONCE):
                        target.write(chunk)
                        yield outlet.taken()
        yield outlet.taken()


class _Outlet(RawIOBase):
    """Where the archive is written; what was written is taken away at once."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []

    def writable(self) -> bool:
        """Only that: the archive cannot go back in it."""
        return True

    def write(self, data: Any, /) -> int:
        """Keeps a copy until it is taken."""
        self._waiting.append(bytes(data))
        return len(self._waiting[-1])

    def taken(self) -> bytes:
        """What has been written since the last time."""
        found, self._waiting = b"".join(self._waiting), []
        return found


def converted(job_id: str, result: JobResult) -> Converted:
    """The files of a finished conversion. The names come from a worker that may have run a hostile model.

    Raises:
        NotFound: the job converted nothing, or its files are gone.
    """
    conversion = partial_of(result, Conversion)
    if conversion is None:
        raise NotFound("Result: expected a finished conversion, got one that made nothing. Convert again.")
    names = (conversion.file, *conversion.beside[:_MOST_BESIDE])
    return Converted(tuple(job_file(job_id, name) for name in names))


def address(job_id: str, name: str) -> str:
    """Where the page finds the model that a job made, to be saved as `name`."""
    return f"{base_path()}/api/jobs/{job_id}/converted/{quote(name, safe='')}"


def file_name(source: str, target: str, found: Converted) -> str:
    """What to call the model: "cats.keras" becomes "cats.onnx", "cats_int8.tflite" or "cats_saved_model.zip".

    Args:
        source: the name of the file that was converted. Hostile.
        target: what it was converted to.
        found: what it left.
    """
    path = Path(escape.file_name(source))
    while path.suffix.lower() in _ARCHIVES:
        path = path.with_suffix("")
    stem = path.stem or "model"
    tail = target.replace("-", "_") if found.suffix == ".zip" else target.partition("-")[2]
    if tail and not stem.endswith(tail):
        stem = f"{stem}_{tail}"
    return f"{stem}{found.suffix}"


async def download(request: Request) -> Response:
    """Sends the model as an attachment; only its name is the visitor's, its ending follows from what it is."""
    try:
        found = await run_sync(_of_job, request.path_params["job_id"])
    except NotFound as error:
        return refusal(error)
    name = f"{Path(escape.file_name(request.path_params['name'])).stem}{found.suffix}"
    headers = {"Cache-Control": "private, no-store"}
    if len(found.paths) == 1:
        return FileResponse(found.paths[0], media_type="application/octet-stream", filename=name, headers=headers)
    headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name)}"
    return StreamingResponse(found.chunks(), media_type="application/octet-stream", headers=headers)


def _of_job(job_id: str) -> Converted:
    result = engine().state(job_id).result
    if result is None:
        raise NotFound("Result: expected a finished conversion, got one that is under way. Wait until it is done.")
    return converted(job_id, result)


routes = [Route("/jobs/{job_id}/converted/{name}", download)]
