from __future__ import annotations

import re

import pytest

from dashboard import analysis
from dashboard.routes import netron_assets
from stethoscope.jobs.store import store


def _add(owner: str, content: bytes, name: str):
    with store().upload(owner) as upload:
        upload.write(content)
        return upload.commit(name)


def test_the_page_has_nothing_that_calls_home(server):
    answer = server.ask("GET", "/netron/")
    text = answer.body.decode()
    assert '<meta name="version" content="0.0.0">' in text
    assert 'name="date"' not in text
    assert "bridge.js" in text
    assert "connect-src 'self'" in answer.headers["content-security-policy"]
    assert not re.search(r"https?:|\*", answer.headers["content-security-policy"])
    assert any(cookie.startswith("consent=1") and "Path=/netron" in cookie for cookie in answer.cookies)


@pytest.mark.parametrize("base_path_option", ["/team/models"])
def test_everything_is_below_the_base_path(server):
    assert server.ask("GET", "/netron/view.js").status == 200
    assert server.ask("GET", "/healthz").status == 200
    server.base = ""
    assert server.ask("GET", "/netron/view.js").status == 404


def test_every_script_that_the_page_names_is_served(server):
    for name in re.findall(r'(?:src|href)="([^":#]+\.(?:js|css|png|ico))"', netron_assets.index_html()):
        answer = server.ask("GET", f"/netron/{name}")
        assert answer.status == 200, name
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "server.py",
        "__init__.py",
        "__pycache__/server.cpython-311.pyc",
        "../netron/server.py",
        "%2e%2e/keras/version.py",
        "nothing.js",
    ],
)
def test_only_its_web_files_are_served(server, path):
    assert server.ask("GET", f"/netron/{path}").status == 404


def test_the_private_names_that_the_bridge_uses_exist():
    view = (netron_assets.PACKAGE / "view.js").read_text()
    for name in (
        "_table",
        "activate(value, source)",
        "scrollTo(selection",
        "'selectionchange'",
        "_updateActiveTarget(stack)",
        "activeTarget",
        "_path",
        "_menu",
        "showNodeProperties",
    ):
        assert name in view, name
    assert "window.__view__ = new" in (netron_assets.PACKAGE / "index.js").read_text()
    assert "openURL(url)" in (netron_assets.PACKAGE / "browser.js").read_text()


def test_a_small_model_is_served_as_it_is(server):
    entry = _add(server.owner, b"TFL3 model", "a.tflite")
    answer = server.ask("GET", f"/netron/data/{entry.id}/model")
    assert (answer.status, answer.body) == (200, b"TFL3 model")
    assert answer.headers["content-type"] == "application/zip", (
        "other types are compressed, which takes four times as long"
    )
    assert answer.headers["cache-control"] == "private, no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize("entry_id", ["nobody-has-this-one", "..%2f..%2fstore.sqlite", "x" * 300, "%00"])
def test_a_wrong_id_gets_nothing(server, entry_id):
    assert server.ask("GET", f"/netron/data/{entry_id}/model").status == 404


@pytest.mark.parametrize(
    ("content", "name", "limit"),
    [
        (b"x" * 2000, "large.tflite", "1000"),
        (b"PK\x03\x04 saved model", "net.zip", "1000000"),
        (b"\x1f\x8b saved model", "net.tar.gz", "1000000"),
        (b"PK\x03\x04 with data", "net.onnx", "1000000"),
        (b"a .keras by another name", "download", "1000000"),
    ],
)
def test_large_files_archives_and_odd_names_are_drawn_from_their_skeleton(
    workspace, monkeypatch, request, tmp_path, content, name, limit
):
    monkeypatch.setenv("STETHOSCOPE_SKELETON_ABOVE_BYTES", limit)
    server = request.getfixturevalue("server")
    skeleton = tmp_path / "skeleton"
    skeleton.write_bytes(b"only the graph")
    monkeypatch.setattr(analysis, "skeleton_path", lambda entry: ("saved_model.pb", skeleton))
    entry = _add(server.owner, content, name)
    assert server.ask("GET", f"/netron/data/{entry.id}/model").body == b"only the graph"
    assert netron_assets.drawable(entry) == ("saved_model.pb", skeleton)


def test_a_keras_file_is_an_archive_that_netron_reads_itself(workspace):
    assert not netron_assets.needs_skeleton(_add("ada", b"PK\x03\x04", "net.keras"))
