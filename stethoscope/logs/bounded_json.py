"""Questions to one web server that answers in JSON: bounded in time and size, and never led to another server."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from http.client import HTTPException, HTTPResponse
from typing import IO, Any
from urllib import error, request
from urllib.parse import SplitResult, urlencode, urlsplit

from stethoscope.errors import BadSetting, NotFound, TooLarge, UnreadableFile
from stethoscope.models.containers.damage import JSON

MAX_ANSWER_BYTES = 64 << 20
_CHUNK_BYTES = 64 << 10
_PORTS = {"http": 80, "https": 443}


def _origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    return url.scheme, url.hostname, url.port or _PORTS.get(url.scheme)


class _SameServer(request.HTTPRedirectHandler):
    """Follows a redirection only to the same scheme, host and port: credentials and questions stay there."""

    max_redirections = 3

    def redirect_request(
        self, req: request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> request.Request | None:
        if _origin(urlsplit(newurl)) != _origin(urlsplit(req.full_url)):
            raise error.URLError(f"it redirects to another server, {urlsplit(newurl).hostname}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class JsonServer:
    """A server by its address."""

    def __init__(
        self, url: str, *, token: str = "", user: str = "", password: str = "", timeout_s: float = 10.0
    ) -> None:
        """Remembers where to ask; asks nothing yet.

        Args:
            url: http or https, with a path where the server lives below one. Without user and password.
            token: sent as a bearer token.
            user: sent with the password where there is no token.
            password: see `user`.
            timeout_s: seconds the server may stay silent.

        Raises:
            BadSetting: the address or the credentials cannot be used.
        """
        try:
            parts = urlsplit(url.strip())
            usable = parts.scheme in _PORTS and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            usable = False
        if not usable or any(char.isspace() or ord(char) < 32 for char in url.strip()):
            raise BadSetting(f"The server's address: expected http://… or https://…, got {url[:100]!r}. Correct it.")
        if parts.username or parts.password:
            raise BadSetting(
                f"The server's address at {parts.hostname}: expected no user or password in it, got some. Give them apart."
            )
        if not all(char.isprintable() for char in token + user + password):
            raise BadSetting("The server's credentials: expected one line of text, got line breaks. Copy them again.")
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self.name = parts.netloc
        self._timeout_s = timeout_s
        self._headers = {"Accept": "application/json", "User-Agent": "stethoscope"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        elif user:
            pair = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
            self._headers["Authorization"] = f"Basic {pair}"
        self._opener = request.OpenerDirector()
        for handler in (
            request.ProxyHandler(),
            request.HTTPHandler(),
            request.HTTPSHandler(),
            request.HTTPDefaultErrorHandler(),
            _SameServer(),
            request.HTTPErrorProcessor(),
        ):
            self._opener.add_handler(handler)

    def get(self, path: str, query: Mapping[str, str | int], deadline: float) -> dict[str, Any]:
        """The answer to a GET. See `_ask` for what it raises."""
        return self._ask(request.Request(f"{self.url}{path}?{urlencode(query)}", headers=self._headers), deadline)

    def post(self, path: str, question: Mapping[str, Any], deadline: float) -> dict[str, Any]:
        """The answer to a POST of JSON. See `_ask` for what it raises."""
        headers = {**self._headers, "Content-Type": "application/json"}
        body = json.dumps(question).encode()
        return self._ask(request.Request(f"{self.url}{path}", body, headers, method="POST"), deadline)

    def _ask(self, question: request.Request, deadline: float) -> dict[str, Any]:
        """Returns the JSON object answered before `deadline` (of `time.monotonic`).

        Raises:
            NotFound: no answer in time, or the server refuses.
            BadSetting: the credentials are wrong or missing.
            TooLarge: the answer is over `MAX_ANSWER_BYTES`.
            UnreadableFile: the answer is no JSON object.
        """
        left = deadline - time.monotonic()
        if left <= 0:
            raise NotFound(f"{self.name}: expected all answers in time, got no time left. Read fewer runs at once.")
        try:
            with self._opener.open(question, timeout=min(self._timeout_s, left)) as answer:
                content = self._content(answer, deadline)
        except error.HTTPError as problem:
            with problem:
                raise self._refusal(problem.code) from problem
        except (OSError, HTTPException, ValueError) as problem:
            reason = getattr(problem, "reason", problem)
            raise NotFound(
                f"{self.name}: expected an answer, got none ({str(reason)[:200]}). Check the address and that it runs."
            ) from problem
        try:
            value = json.loads(content)
        except JSON as problem:
            raise UnreadableFile(
                f"{self.name}: expected an answer in JSON, got other content. Check that this is the tracking server."
            ) from problem
        if not isinstance(value, dict):
            raise UnreadableFile(f"{self.name}: expected a JSON object, got another value. Check the address.")
        return value

    def _content(self, answer: HTTPResponse, deadline: float) -> bytes:
        parts, size = [], 0
        while part := answer.read1(_CHUNK_BYTES):
            parts.append(part)
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                raise TooLarge(f"{self.name}: one answer is larger than {MAX_ANSWER_BYTES:,} bytes. Read fewer runs.")
            if time.monotonic() > deadline:
                raise TimeoutError("the answer took too long")
        return b"".join(parts)

    def _refusal(self, code: int) -> Exception:
        if code in (401, 403):
            return BadSetting(
                f"{self.name}: expected to be let in, got status {code}. Give a token or user and password."
            )
        return NotFound(f"{self.name}: expected an answer, got status {code}. Check the address and the server's log.")
