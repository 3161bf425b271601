"""Opens the app's pages as a browser known as ME would, and reads what they show."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from dashboard import navigation
from stethoscope.jobs.store import Entry, store
from tests.conftest import PROJECT
from tests.waiting import until

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


def settle(app: AppTest) -> AppTest:
    """Runs the page until nothing is under way on it."""
    until(lambda: not any(key.startswith("cancel-page") for key in keys(app.run())), every_s=0.2)
    assert not app.exception, app.exception
    return app


def keys(app: AppTest) -> list[str]:
    return [button.key or "" for button in app.button]


def text(app: AppTest) -> str:
    parts = [*app.title, *app.subheader, *app.markdown, *app.caption, *app.warning, *app.error, *app.info]
    return "\n".join(str(part.value) for part in parts)


def said(app: AppTest) -> str:
    """That text as a reader sees it: without Markdown's escapes and marks that only keep words together."""
    return text(app).replace("\\", "").replace("\u2060", "")


def badges(app: AppTest) -> dict[str, str]:
    """Verdicts on the page: the colour of each by its label."""
    found = re.findall(r":(\w+)-badge\[(.*?)\]", "\n".join(str(one.value) for one in app.markdown))
    return {label.replace("\\", ""): colour for colour, label in found}


def address(app: AppTest, name: str) -> str | None:
    """What the address says under this name."""
    value = app.query_params.get(name)
    return value[0] if isinstance(value, list) else value


def visitor(page: str, **link: str) -> AppTest:
    """Somebody who opens a link in a new browser tab."""
    return open_page(AppTest.from_file(str(PROJECT / "dashboard" / "Home.py"), default_timeout=90), page, **link)


def reopened(app: AppTest, page: str) -> AppTest:
    """Another browser tab with the same address."""
    return visitor(page, **{name: str(address(app, name)) for name in app.query_params})


def cancel(app: AppTest) -> AppTest:
    """Presses the button that ends what runs on this page, and waits until it has ended."""
    app.run()
    next(button for button in app.button if (button.key or "").startswith("cancel-page")).click()
    app.run()
    return settle(app)


def drawn(app: AppTest) -> str:
    """Everything the page sent that may be read as Markdown."""
    return text(app) + "\n".join(button.label for button in app.button)
