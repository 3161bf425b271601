"""Netron's own page and scripts from the installed package, and the model it draws, on our origin.

The page as shipped calls outside services, asks for cookie consent and refuses to work when it is old. The rewritten
index and the policy sent with it leave nothing that could reach another machine.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path

from anyio.to_thread import run_sync
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from dashboard import analysis
from dashboard.routes.replies import SecurityHeaders, base_path, refusal
from stethoscope.errors import StethoscopeError
from stethoscope.jobs.store import Entry, store
from stethoscope.models.containers.archive import is_archive
from stethoscope.settings import settings


def _package() -> Path:
    # Located, not imported: the package is a web server of its own.
    spec = importlib.util.find_spec("netron")
    if spec is None or spec.origin is None:
        raise RuntimeError("netron is not installed. Run `uv sync`.")
    return Path(spec.origin).parent


PACKAGE = _package()
OURS = Path(__file__).resolve().parents[1] / "architecture" / "graph_view"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self' blob: data:; worker-src 'self' blob:; frame-src 'none'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
_READ_AS_THEY_ARE = {".keras", ".h5", ".hdf5", ".tflite", ".onnx", ".pb", ".pbtxt"}
_SUFFIXES = {".js", ".json", ".css", ".png", ".ico"}
# What Netron loads for any model, in five rounds one after another; named in the page they all come at once.
_EARLY = (
    "base",
    "text",
    "flatbuffers",
    "flexbuffers",
    "zip",
    "tar",
    "python",
    "json",
    "xml",
    "protobuf",
    "hdf5",
    "grapher",
    "browser",
    "view",
    "message",
    "onnx",
    "onnx-proto",
    "onnx-schema",
    "pytorch",
    "tflite",
    "tflite-schema",
    "mlnet",
    "dagre",
)
_PRELOADS = "".join(f'<link rel="modulepreload" href="{name}.js">' for name in _EARLY)
_REWRITES = (
    # Version 0.0.0 means "not packaged": no telemetry. Without a date it never claims to be out of date.
    (re.compile(r'<meta name="version" content="[^"]*">'), '<meta name="version" content="0.0.0">'),
    (re.compile(r'<meta name="date" content="[^"]*">'), ""),
    (re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>'), ""),
    (
        re.compile(r"</head>"),
        f'{_PRELOADS}<link rel="stylesheet" type="text/css" href="bridge.css"><script src="culling.js"></script><script src="bridge.js"></script></head>',
    ),
)


@functools.cache
def index_html() -> str:
    """Netron's page, rewritten.

    Raises:
        RuntimeError: the installed Netron's page is not the one this was written for.
    """
    text = (PACKAGE / "index.html").read_text("utf-8")
    for pattern, replacement in _REWRITES:
        text, count = pattern.subn(replacement, text)
        if count != 1:
            raise RuntimeError(
                f"netron/index.html: expected {pattern.pattern!r} once, got {count}. Install netron==9.3.3."
            )
    return text


@functools.cache
def view_js() -> str:
    """Netron's view script, with shapes written without the CJK brackets that most machines have no font for.

    Raises:
        RuntimeError: the installed Netron's script is not the one this was written for.
    """
    text = (PACKAGE / "view.js").read_text("utf-8")
    if text.count(r"\u3008") < 4 or text.count(r"\u3009") < 2:
        raise RuntimeError("netron/view.js: expected shapes in brackets, got none. Install netron==9.3.3.")
    return text.replace(r"\u3008", r"\u00a0").replace(r"\u3009", "")


async def view_script(_request: Request) -> Response:
    """Netron's view script, rewritten."""
    return Response(view_js(), media_type="text/javascript", headers={"Cache-Control": "private, max-age=600"})


async def index(_request: Request) -> Response:
    """Netron's page. The consent cookie keeps it from asking an outside service where the user is."""
    response = HTMLResponse(index_html(), headers={"Cache-Control": "no-cache"})
    response.set_cookie("consent", "1", path=f"{base_path()}/netron", samesite="lax", max_age=400 * 24 * 3600)
    return response


async def bridge(request: Request) -> Response:
    """Our script and style inside Netron's page."""
    return FileResponse(OURS / request.url.path.rsplit("/", 1)[-1], headers={"Cache-Control": "no-cache"})


async def model(request: Request) -> Response:
    """The model, or its skeleton, for whoever has the entry's id."""
    try:
        path = await run_sync(_drawable_path, request.path_params["entry_id"])
    except StethoscopeError as error:
        return refusal(error)
    # Sent as a ZIP whatever it is: Streamlit's compression leaves that type alone, which is four times as fast.
    return FileResponse(path, media_type="application/zip", headers={"Cache-Control": "private, no-store"})


async def whole(request: Request) -> Response:
    """The model as it was uploaded, weights included, for whoever has the entry's id and asks for it."""
    try:
        entry = await run_sync(store().get, request.path_params["entry_id"])
    except StethoscopeError as error:
        return refusal(error)
    return FileResponse(entry.path, media_type="application/zip", headers={"Cache-Control": "private, no-store"})


def needs_skeleton(entry: Entry) -> bool:
    """Whether Netron gets the graph without the weights: large files, archives, and names that hide the format."""
    return entry.size_bytes > settings().skeleton_above_bytes or not readable_whole(entry)


def readable_whole(entry: Entry) -> bool:
    """Whether Netron reads the file as it is: no archive around it, and a name that tells the format."""
    return entry.file.suffix in _READ_AS_THEY_ARE and (entry.file.suffix == ".keras" or not is_archive(entry.path))


def drawable(entry: Entry) -> tuple[str, Path]:
    """What Netron gets: (file name to tell the format by, path). The skeleton comes from the describe job."""
    if needs_skeleton(entry):
        skeleton = analysis.skeleton_path(entry)
        if skeleton is not None:
            return skeleton
    return entry.name, entry.path


def _drawable_path(entry_id: str) -> Path:
    return drawable(store().get(entry_id))[1]


class _Assets(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        if "/" in path or Path(path).suffix not in _SUFFIXES:
            return Response(status_code=404)
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "private, max-age=600"
        return response


async def _with_slash(_request: Request) -> Response:
    return RedirectResponse(f"{base_path()}/netron/")


def netron_routes(base: str) -> list[BaseRoute]:
    """Everything below `{base}/netron`."""
    return [
        Route(f"{base}/netron", _with_slash),
        Mount(
            f"{base}/netron",
            routes=[
                Route("/", index),
                Route("/bridge.js", bridge),
                Route("/bridge.css", bridge),
                Route("/culling.js", bridge),
                Route("/view.js", view_script),
                Route("/data/{entry_id}/model", model),
                Route("/data/{entry_id}/whole", whole),
                Mount("/", _Assets(directory=PACKAGE)),
            ],
            middleware=[Middleware(SecurityHeaders, policy=POLICY)],
        ),
    ]
