"""A saved monitor reads back as it was, keeps a history, and posts its alarms to a real server."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from stethoscope.drift.settings import DriftSettings
from stethoscope.errors import BadSetting, UnreadableFile
from stethoscope.studies.monitor import Monitor, checked_url, history, history_path, post, remember
from stethoscope.types import Status
from tests.drift.sides import compared, side
from tests.tables import each


@contextmanager
def listening(status: int = 200, headers: tuple[tuple[str, str], ...] = ()):
    got = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/alarm", got
    finally:
        server.shutdown()
        server.server_close()


def test_saved_and_read_back(tmp_path):
    asked = Monitor(
        tmp_path / "then.csv",
        DriftSettings(alpha=0.01, columns=("a",)),
        tmp_path / "m.keras",
        "https://host/x",
        {"trusted": True},
    )
    asked.save(tmp_path / "monitor.json")
    assert Monitor.load(tmp_path / "monitor.json") == asked
    # Both can be moved together.
    assert json.loads((tmp_path / "monitor.json").read_text())["reference"] == "then.csv"
    with pytest.raises(BadSetting, match="Choose another place"):
        asked.save(tmp_path / "none" / "monitor.json")


@each("text", ["", "[]", "{}", '{"reference": 3}', "{" * 5000])
def test_what_is_no_monitor(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(UnreadableFile, match="--save-monitor"):
        Monitor.load(tmp_path / "m.json")


def test_history(tmp_path):
    path = tmp_path / "m.json"
    assert history(path) == []
    report = compared(side(a=range(50)), side(a=range(50, 110)))
    remember(path, "now.csv", Status.OK, report)
    remember(path, "later.csv", Status.FAILED, None, "No such file.")
    with history_path(path).open("a") as stream:
        stream.write("half a li")
    first, second = history(path)
    assert (first.verdict, first.worst, first.statistic, first.n_current) == ("drift", "a", 1.0, 60)
    assert first.p_value == min(test.p_adjusted for test in [*report.features, *report.ran])
    assert second.verdict is None and second.sentence == "No such file." and second.in_words == "did not run"


def test_an_alarm_arrives_without_pictures():
    with listening() as (url, got):
        assert (
            post(url, {"verdict": "drift", "features": [{"name": "a", "histogram": {"edges": [1]}}], "over_time": {}})
            == ""
        )
    assert got == [{"verdict": "drift", "features": [{"name": "a"}]}]


def test_an_alarm_that_does_not_arrive_is_said():
    with listening(500) as (url, _):
        assert "answered 500" in post(url, {})
    assert "cannot be reached" in post(url, {}, timeout_s=2)
    with listening(302, (("Location", "http://127.0.0.1:1/elsewhere"),)) as (url, _):
        assert "answered 302" in post(url, {})


@each("url", ["file:///etc/passwd", "ftp://host/x", "host/x", "http://", "http://[", "http://a b/"])
def test_other_addresses_are_refused(url):
    with pytest.raises(BadSetting, match="http or https"):
        checked_url(url)
