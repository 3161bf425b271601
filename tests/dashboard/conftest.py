from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import analysis, asked_job, identity, progress, sidebar
from dashboard.behaviour import prediction_parts
from dashboard.cost import lowering_inputs, sharing_inputs
from dashboard.data import data_jobs
from dashboard.deployment import convert_jobs
from dashboard.routes import owner_cookie
from dashboard.training import followed, log_choice
from stethoscope.lab.studies import studies
from stethoscope.settings import settings
from stethoscope.store import store
from tests.conftest import PROJECT
from tests.dashboard.visiting import ME


def _forget() -> None:
    for cached in (settings, store, studies, owner_cookie._key, owner_cookie.cookie_name):
        cached.cache_clear()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty workspace; settings made by `monkeypatch.setenv` before the first call count."""
    folder = tmp_path / "workspace"
    monkeypatch.setenv("STETHOSCOPE_WORKSPACE", str(folder))
    monkeypatch.setenv("STETHOSCOPE_MIN_FREE_DISK_BYTES", "0")
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
    for module in (
        analysis,
        asked_job,
        convert_jobs,
        data_jobs,
        followed,
        log_choice,
        lowering_inputs,
        prediction_parts,
        progress,
        sharing_inputs,
        sidebar,
    ):
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
