"""Opens the app's pages as a browser known as ME would, and reads what they show."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from dashboard import navigation
from stethoscope.store import Entry, store

ME, OTHER = "me-me-me-me", "other-other"
HOSTILE = '"><img src=x onerror=alert(1)> [a](javascript:alert(1)) :red[x] $x$'
PAGES = {page.url_path: f"../pages/{page.path.name}" for page in navigation.page_files()}


def add(tmp_path: Path, make: Callable[[Path], Path], name: str = "model.onnx", owner: str = ME) -> Entry:
    return store().add_file(make(tmp_path / "made" / "model.onnx"), name, owner)


def open_page(app: AppTest, url_path: str, entry: Entry | None = None, **params: str) -> AppTest:
    """Opens a page by its link and waits until the model has been read."""
    if entry is not None:
        app.query_params["model"] = entry.id
    for name, value in params.items():
        app.query_params[name] = value
    app.run()
    if url_path != "overview":
        app.switch_page(PAGES[url_path])
    return settle(app)


def settle(app: AppTest, seconds: float = 90) -> AppTest:
    """Runs the page until nothing is under way on it."""
    deadline = time.monotonic() + seconds
    app.run()
    while any(key.startswith("cancel-page") for key in keys(app)) and time.monotonic() < deadline:
        time.sleep(0.2)
        app.run()
    assert not app.exception, app.exception
    return app


def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Waits for what happens beside the page."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.05)


def keys(app: AppTest) -> list[str]:
    return [button.key or "" for button in app.button]


def text(app: AppTest) -> str:
    parts = [*app.title, *app.subheader, *app.markdown, *app.caption, *app.warning, *app.error, *app.info]
    return "\n".join(str(part.value) for part in parts)


def drawn(app: AppTest) -> str:
    """Everything the page sent that may be read as Markdown."""
    return text(app) + "\n".join(button.label for button in app.button)
