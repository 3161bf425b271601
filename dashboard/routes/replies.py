"""What all our routes answer with: the base path they live under, security headers, and errors as sentences."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stethoscope.errors import NotFound, QuotaExceeded, StethoscopeError, TooLarge, UnsafeFile

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "SAMEORIGIN",
}
API_POLICY = "default-src 'none'; frame-ancestors 'self'; sandbox"


def base_path() -> str:
    """The URL path the app lives under: "" or "/team/models". Streamlit does not prefix custom routes by itself."""
    from streamlit import config

    path = str(config.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


class SecurityHeaders:
    """Adds security headers to every response of the routes it wraps; a route's own headers win."""

    def __init__(self, app: ASGIApp, policy: str = API_POLICY) -> None:
        self._app = app
        self._headers = {**_HEADERS, "Content-Security-Policy": policy}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, with a `send` that adds the headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def refusal(error: StethoscopeError) -> JSONResponse:
    """The error as {"error": sentence, "kind": class name} with a fitting status code."""
    status = 400
    for kind, code in ((TooLarge, 413), (QuotaExceeded, 507), (NotFound, 404), (UnsafeFile, 422)):
        if isinstance(error, kind):
            status = code
            break
    return sentence(str(error), status, type(error).__name__)


def sentence(text: str, status: int, kind: str = "StethoscopeError") -> JSONResponse:
    """An error answer that the page can show as it is."""
    return JSONResponse({"error": text, "kind": kind}, status, headers={"Cache-Control": "no-store"})
