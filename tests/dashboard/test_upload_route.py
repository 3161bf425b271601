from __future__ import annotations

import http.client
import json
import socket

import pytest

from dashboard import analysis
from stethoscope.jobs.store import store
from stethoscope.types import UploadKind
from tests.dashboard.conftest import Browser
from tests.jobs.store.conftest import files_in
from tests.waiting import until


def test_a_file_arrives_whole_under_its_name(server):
    content = bytes(range(256)) * 40_000
    answer = server.put(content, "größe/../my model.keras")
    assert answer.status == 200, answer.body
    told = json.loads(answer.body)
    entry = store().get(told["id"])
    assert (told["name"], told["size_bytes"]) == ("my model.keras", len(content))
    assert entry.path.read_bytes() == content
    assert entry.owner == server.owner


@pytest.mark.parametrize(
    ("content", "query", "kind"),
    [
        (b"PK", "name=a.zip", UploadKind.MODEL),
        (b"PK", "name=a.zip&expected=data", UploadKind.DATA),
        (b"PK", "name=a.zip&expected=logs", UploadKind.LOGS),
        (b"PK", "name=a.zip&expected=nonsense", UploadKind.MODEL),
        (b'{"a": 1}\n{"a": 2}\n', "name=a.jsonl", UploadKind.DATA),
        (b"\x89HDF\r\n\x1a\n", "name=a.h5&expected=data", UploadKind.MODEL),
    ],
)
def test_only_models_are_described(server, workspace, monkeypatch, content, query, kind):
    begun = []
    monkeypatch.setattr(analysis, "describe", begun.append)
    answer = server.ask("PUT", f"/api/upload?{query}", content, server.token)
    assert answer.status == 200, answer.body
    assert store().get(json.loads(answer.body)["id"]).kind is kind
    assert bool(begun) is (kind is UploadKind.MODEL)


def test_it_streams_without_a_declared_length(server):
    answer = server.put(iter([b"a" * 100_000] * 100))
    assert json.loads(answer.body)["size_bytes"] == 10_000_000


@pytest.mark.parametrize(
    "headers", [{"X-Stethoscope-Token": ""}, {"X-Stethoscope-Token": "0" * 64}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_another_site_cannot_upload(server, headers, workspace):
    answer = server.put(b"x", headers=headers)
    assert answer.status == 403
    assert files_in(workspace / "store") == []


def test_an_unknown_browser_cannot_upload(server):
    stranger = Browser(server.port)
    answer = stranger.ask("PUT", "/api/upload?name=x", b"x", server.token)
    assert answer.status == 401
    assert "cookies" in json.loads(answer.body)["error"]


def test_one_owners_token_does_not_work_for_another(server):
    other = Browser(server.port)
    other.open_page()
    assert other.put(b"x", headers=server.token).status == 403


def test_a_file_over_the_cap_is_refused_before_it_is_read(workspace, monkeypatch, request):
    monkeypatch.setenv("STETHOSCOPE_MAX_UPLOAD_BYTES", "1000")
    server = request.getfixturevalue("server")
    asked = server.ask("GET", "/api/upload?size_bytes=1001", headers=server.token)
    assert asked.status == 413
    assert "1000 bytes" in json.loads(asked.body)["error"]
    assert json.loads(server.ask("GET", "/api/upload?size_bytes=1000", headers=server.token).body) == {"ok": True}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("PUT", "/api/upload?name=x")
    for name, value in {**server.token, "Cookie": server.cookie, "Content-Length": "2000000000"}.items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()
    assert server.put(iter([b"x" * 600, b"y" * 600])).status == 413, "also when the length was not declared"
    assert files_in(workspace / "store") == []


def test_a_full_share_is_said(workspace, monkeypatch, request):
    monkeypatch.setenv("STETHOSCOPE_QUOTA_BYTES", "1000")
    server = request.getfixturevalue("server")
    assert server.put(b"x" * 800).status == 200
    answer = server.put(b"y" * 800)
    assert answer.status == 507
    assert json.loads(answer.body)["kind"] == "QuotaExceeded"
    assert "200 bytes left" in json.loads(answer.body)["error"]


def test_an_upload_that_breaks_off_leaves_nothing(server, workspace):
    head = f"PUT /api/upload?name=x HTTP/1.1\r\nHost: x\r\nCookie: {server.cookie}\r\nContent-Length: 9000000\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in server.token.items())
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(head.encode() + b"\r\n" + b"x" * 6_000_000)
        until(lambda: files_in(workspace / "store"))
    until(lambda: not files_in(workspace / "store"))
    assert store().list(server.owner) == ()


def test_an_upload_that_stops_sending_is_dropped(workspace, monkeypatch, request):
    monkeypatch.setenv("STETHOSCOPE_UPLOAD_IDLE_S", "0.3")
    server = request.getfixturevalue("server")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("PUT", "/api/upload?name=x")
    for name, value in {**server.token, "Cookie": server.cookie, "Content-Length": "100"}.items():
        connection.putheader(name, value)
    connection.endheaders(b"only this")
    assert connection.getresponse().status == 408
    connection.close()
    assert files_in(workspace / "store") == []


def test_only_some_uploads_run_at_once(workspace, monkeypatch, request):
    monkeypatch.setenv("STETHOSCOPE_UPLOADS_PER_OWNER", "1")
    server = request.getfixturevalue("server")
    first = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    first.putrequest("PUT", "/api/upload?name=x")
    for name, value in {**server.token, "Cookie": server.cookie, "Content-Length": "10"}.items():
        first.putheader(name, value)
    first.endheaders(b"12345")
    until(lambda: files_in(workspace / "store"))
    assert server.put(b"second").status == 507
    other = Browser(server.port)
    other.open_page()
    assert other.put(b"somebody else").status == 200
    first.send(b"67890")
    assert first.getresponse().status == 200
    first.close()
    assert server.put(b"second").status == 200


def test_an_empty_file_is_refused(server, workspace):
    assert server.put(b"").status == 400
    assert files_in(workspace / "store") == []


@pytest.mark.parametrize("size", ["", "-1", "1e9", "²", "9" * 30])
def test_asking_with_a_senseless_size_is_refused(server, size):
    from urllib.parse import quote

    assert server.ask("GET", f"/api/upload?size_bytes={quote(size)}", headers=server.token).status == 400
