from __future__ import annotations

import functools
import hashlib
import http.client
import importlib
import itertools
import re
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from urllib.parse import quote

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import identity
from dashboard.routes import owner_cookie
from dashboard.training import followed
from stethoscope.jobs.store import store
from stethoscope.settings import settings
from stethoscope.studies import kept_monitors
from stethoscope.studies.study import studies
from tests.conftest import PROJECT
from tests.dashboard.visiting import ME


def _forget() -> None:
    for cached in (settings, store, studies, owner_cookie._key, owner_cookie.cookie_name):
        cached.cache_clear()


@functools.cache
def _that_use_the_engine() -> list[ModuleType]:
    """Every module of the dashboard that has the engine under its own name: one left out would start a second engine."""
    paths = sorted((PROJECT / "dashboard").rglob("*.py"))
    asking = [
        path for path in paths if re.search(r"^from stethoscope\.jobs import engine$", path.read_text("utf-8"), re.M)
    ]
    return [importlib.import_module(".".join(path.relative_to(PROJECT).with_suffix("").parts)) for path in asking]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Path]:
    """An empty workspace; settings made by `monkeypatch.setenv` before the first call count."""
    folder = tmp_path / "workspace"
    monkeypatch.setenv("STETHOSCOPE_WORKSPACE", str(folder))
    monkeypatch.setenv("STETHOSCOPE_MIN_FREE_DISK_BYTES", "0")
    # Ids are among the parameters of jobs: with the same ones each time, recorded answers fit. Other tests have others, as all
    # share one engine.
    mark, numbers = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:12], itertools.count(1)
    for module in (importlib.import_module("stethoscope.jobs.store.store"), kept_monitors):
        monkeypatch.setattr(module, "new_id", lambda: f"{mark}-{next(numbers):04d}")
    _forget()
    yield folder
    if store.cache_info().currsize:
        store().close()
    _forget()


@pytest.fixture
def app(workspace: Path, engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The app for a browser that is known as ME."""
    monkeypatch.setenv("STETHOSCOPE_SAMPLES_DIR", str(workspace.parent / "samples"))
    monkeypatch.setattr(identity, "owner_of", lambda _cookies: ME)
    for module in _that_use_the_engine():
        monkeypatch.setattr(module, "engine", lambda: engine)
    yield AppTest.from_file(str(PROJECT / "dashboard" / "Home.py"), default_timeout=90)
    followed.forget_all()
    for state in engine.jobs(active=True):
        engine.cancel(state.id)


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    cookies: list[str] = field(default_factory=list)


@dataclass
class Browser:
    """A client of a running server that keeps its owner cookie, as a browser does."""

    port: int
    base: str = ""
    cookie: str = ""

    def ask(self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        sent = {"Cookie": self.cookie} if self.cookie else {}
        connection.request(method, self.base + path, body=body, headers={**sent, **(headers or {})})
        reply = connection.getresponse()
        pairs = [(name.lower(), value) for name, value in reply.getheaders()]
        cookies = [value for name, value in pairs if name == "set-cookie"]
        answer = Answer(reply.status, dict(pairs), reply.read(), cookies)
        connection.close()
        return answer

    def open_page(self) -> Answer:
        answer = self.ask("GET", "/", headers={"Accept": "text/html"})
        for cookie in answer.cookies:
            if cookie.startswith("stethoscope_owner"):
                self.cookie = cookie.split(";")[0]
        return answer

    @property
    def owner(self) -> str:
        name, _, value = self.cookie.partition("=")
        return owner_cookie.owner_of({name: value}) or ""

    @property
    def token(self) -> dict[str, str]:
        return {"X-Stethoscope-Token": owner_cookie.upload_token(self.owner)}

    def put(self, content: object, name: str = "model.keras", headers: dict[str, str] | None = None) -> Answer:
        return self.ask("PUT", f"/api/upload?name={quote(name)}", content, {**self.token, **(headers or {})})


@pytest.fixture
def base_path_option() -> str:
    return ""


@pytest.fixture
def server(workspace: Path, base_path_option: str) -> Iterator[Browser]:
    """Our routes and middleware on a real port, with a plain page in Streamlit's place."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import HTMLResponse
    from starlette.routing import Route
    from streamlit import config

    from dashboard.routes import server as ours

    config.set_option("server.baseUrlPath", base_path_option)
    page = Route(f"{base_path_option}/", lambda _: HTMLResponse("<p>the page</p>"))
    app = Starlette(routes=[*ours.routes(), page], middleware=ours.middleware())
    listener = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    browser = Browser(listener.getsockname()[1], base_path_option)
    browser.open_page()
    yield browser
    running.should_exit = True
    thread.join(10)
    listener.close()
    config.set_option("server.baseUrlPath", "")
