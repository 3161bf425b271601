"""An MLflow server as version 3.17 answers, and servers that answer badly or lead elsewhere."""

from __future__ import annotations

import json
import math
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.errors import BadSetting, NotFound, TooLarge, UnreadableFile
from stethoscope.logs import bounded_json
from stethoscope.logs.bounded_json import JsonServer
from stethoscope.logs.mlflow_server import Experiment, MlflowServer
from tests.exploring import examples
from tests.tables import each

API = "/api/2.0/mlflow"
RUN = {
    "info": {
        "run_uuid": "aa",
        "experiment_id": "1",
        "run_name": "first",
        "user_id": "ann",
        "status": "FINISHED",
        "start_time": 1000,
        "end_time": 3500,
        "artifact_uri": "/a",
        "lifecycle_stage": "active",
        "run_id": "aa",
    },
    "data": {
        "metrics": [{"key": "loss", "value": "NaN", "timestamp": 4000, "step": 4}],
        "params": [{"key": "lr", "value": "1e-3"}],
        "tags": [{"key": "note", "value": "hello"}],
    },
    "inputs": {
        "dataset_inputs": [
            {
                "tags": [{"key": "mlflow.data.context", "value": "training"}],
                "dataset": {"name": "six", "digest": "3efaaf32", "source_type": "code", "source": "{}"},
            }
        ]
    },
    "outputs": {},
}
VALUES = [0.5, "NaN", 1.7976931348623157e308, -1.7976931348623157e308, 0.0]


class Answers(BaseHTTPRequestHandler):
    """Answers as a tracking server with two pages of everything."""

    def log_message(self, *_):
        """Keeps quiet."""

    def answer(self, value, status=200, **headers):
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, asked, dict(self.headers)))
        second = asked.get("page_token") == "two"
        if self.path == f"{API}/experiments/search":
            page = [{"experiment_id": "0", "name": "Default", "lifecycle_stage": "active"}]
            more = [{"experiment_id": "1", "name": "digits", "lifecycle_stage": "active"}]
            self.answer({"experiments": more} if second else {"experiments": page, "next_page_token": "two"})
        elif self.path == f"{API}/runs/search":
            other = {"info": {**RUN["info"], "run_id": "bb", "start_time": 500}, "data": {}}
            self.answer({"runs": [other]} if second else {"runs": [RUN], "next_page_token": "two"})
        else:
            self.answer({"error_code": "ENDPOINT_NOT_FOUND"}, 404)

    def do_GET(self):
        query = parse_qs(urlsplit(self.path).query)
        start = 3 if query.get("page_token") == ["two"] else 0
        points = [
            {"key": "loss", "value": value, "timestamp": 1000 * step, "step": step} for step, value in enumerate(VALUES)
        ]
        self.answer({"metrics": points[3:]} if start else {"metrics": points[:3], "next_page_token": "two"})


@pytest.fixture
def serve(monkeypatch):
    """Starts servers on this machine and stops them."""
    monkeypatch.setenv("no_proxy", "*")
    running = []

    def start(handler=Answers, **replaced):
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), replaced))
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)
        return f"http://127.0.0.1:{server.server_port}", server

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


def ask(url, **options):
    return MlflowServer(JsonServer(url, timeout_s=2.0, **options), total_s=5.0)


def test_experiments_runs_and_histories(serve):
    url, server = serve()
    tracker = ask(f"{url}/", token="secret")
    experiments = tracker.experiments()
    assert experiments == (Experiment("0", "Default"), Experiment("1", "digits"))
    older, run = tracker.read(experiments)
    assert (older.run, run.run, run.group, run.tracker) == ("first (bb)", "first (aa)", "digits", "mlflow-server")
    np.testing.assert_array_equal(run.series["loss"].value, [0.5, math.nan, math.inf, -math.inf, 0.0])
    assert run.series["loss"].step.tolist() == [0, 1, 2, 3, 4]
    assert run.series["loss"].wall_time.tolist() == [0, 1, 2, 3, 4]
    assert run.parameters == {"lr": 0.001}
    assert run.notes["data"] == "six 3efaaf32 (training)"
    assert (run.notes["status"], run.notes["note"]) == ("FINISHED", "hello")
    assert {headers["Authorization"] for _, _, headers in server.asked} == {"Bearer secret"}
    assert server.asked[2][1]["experiment_ids"] == ["0", "1"]


def test_a_history_that_is_refused_leaves_the_last_point(serve):
    url, _ = serve(do_GET=lambda handler: handler.answer({}, 500))
    tracker = ask(url)
    (run,) = tracker.read(tracker.experiments(), ids=["aa"])
    assert run.series["loss"].step.tolist() == [4]
    assert "last point" in run.health.problem and "of loss was" in run.health.problem


def test_pages_that_never_end_are_left(serve):
    def circle(handler):
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.answer({"experiments": [{"experiment_id": "1", "name": "x"}], "next_page_token": "again"})

    url, _ = serve(do_POST=circle)
    assert len(ask(url).experiments()) == 2


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"experiments": None},
        {"experiments": [1, None, {"name": 3}]},
        {"experiments": {"a": 1}},
        {"experiments": [], "next_page_token": 7},
    ],
    ids=str,
)
def test_answers_of_another_shape_are_no_crash(serve, answer):
    url, _ = serve(do_POST=lambda handler: handler.answer(answer))
    tracker = ask(url)
    assert all(isinstance(one.id, str) for one in tracker.experiments())
    assert tracker.read((Experiment("1", "x"),)) == ()


def test_runs_of_another_shape_are_left_out(serve):
    broken = [
        {"info": 1},
        {"info": {"run_id": "x", "experiment_id": "9"}},
        {},
        {
            "info": {"run_id": "cc", "experiment_id": "1"},
            "data": {
                "metrics": [
                    {"key": "loss", "value": "rubbish", "step": 1},
                    {"key": "loss", "value": 1, "step": "9" * 30},
                    {"key": "loss", "value": True, "step": 1},
                    {"key": "acc", "value": 2, "step": "3", "timestamp": "x"},
                ]
            },
        },
    ]
    url, _ = serve(
        do_POST=lambda handler: handler.answer({"runs": broken}), do_GET=lambda handler: handler.answer({}, 500)
    )
    (run,) = ask(url).read((Experiment("1", "x"),))
    assert {name: points.value.tolist() for name, points in run.series.items()} == {"acc": [2.0]}
    assert run.health.bad_records == 3


class Says:
    """A server that answers everything with one value."""

    def __init__(self, value):
        self.value = value

    def post(self, *_):
        return self.value

    get = post


_NAMES = ["runs", "experiments", "metrics", "info", "data", "inputs", "dataset_inputs", "dataset", "tags", "params"]
_NAMES += ["key", "value", "step", "timestamp", "run_id", "experiment_id", "next_page_token", "start_time"]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["1", "x", "NaN", "loss"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=5),
    max_leaves=30,
)


@examples(40)
@given(st.dictionaries(st.sampled_from(_NAMES), _JSON))
def test_answers_of_any_shape_are_no_crash(value):
    tracker = MlflowServer(Says(value))
    tracker.experiments()
    tracker.read((Experiment("1", "x"),))


@pytest.mark.parametrize("content", [b"", b"<html>", b"[1]", b"[" * 100_000, b"\xff"])
def test_an_answer_that_is_no_json_is_said_to_be_none(serve, content):
    url, _ = serve(do_POST=lambda handler: handler.answer(content))
    with pytest.raises(UnreadableFile, match="expected"):
        ask(url).experiments()


@pytest.mark.parametrize(("status", "kind"), [(401, BadSetting), (403, BadSetting), (404, NotFound), (503, NotFound)])
def test_refusals(serve, status, kind):
    url, _ = serve(do_POST=lambda handler: handler.answer({"message": "no"}, status))
    with pytest.raises(kind, match=str(status)):
        ask(url).experiments()


def test_another_server_is_never_asked(serve):
    elsewhere, other = serve()
    url, _ = serve(do_POST=lambda handler: handler.answer(b"", 302, Location=f"{elsewhere}{API}/experiments/search"))
    with pytest.raises(NotFound, match="redirects"):
        ask(url, token="secret").experiments()
    assert other.asked == []


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_other_kinds_of_addresses_are_never_opened(serve, place):
    url, _ = serve(do_POST=lambda handler: handler.answer(b"", 302, Location=place))
    with pytest.raises(NotFound):
        ask(url).experiments()


def test_an_endless_answer_is_cut(serve, monkeypatch):
    def pour(handler):
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b" " * 65536)
        except OSError:
            return

    monkeypatch.setattr(bounded_json, "MAX_ANSWER_BYTES", 1 << 20)
    url, _ = serve(do_POST=pour)
    with pytest.raises(TooLarge):
        ask(url).experiments()


def test_a_slow_answer_ends_in_time(serve):
    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b" ")
                time.sleep(0.05)
        except OSError:
            return

    url, _ = serve(do_POST=drip)
    begun = time.monotonic()
    with pytest.raises(NotFound):
        MlflowServer(JsonServer(url, timeout_s=2.0), total_s=0.5).experiments()
    assert time.monotonic() - begun < 60


def test_nobody_there(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(NotFound, match="Check the address"):
        ask(f"http://127.0.0.1:{port}").experiments()


@each(
    "url",
    [
        "",
        "mlruns",
        "file:///etc",
        "ftp://x",
        "http://",
        "http://a b",
        "http://x:99999",
        "http://u:p@x",
        "http://[x",
        "http://x\r\ny",
    ],
)
def test_addresses_that_cannot_be_used(url):
    with pytest.raises(BadSetting):
        JsonServer(url)


def test_credentials_of_more_than_one_line():
    with pytest.raises(BadSetting):
        JsonServer("http://x", token="a\r\nHost: b")
