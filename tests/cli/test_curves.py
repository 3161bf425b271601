"""`curves`: training logs on the command line."""

from __future__ import annotations

import csv
import json
import math
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

FALLING = [0.1 + math.exp(-at / 4) for at in range(20)]


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "good.json").write_text(json.dumps({"loss": FALLING, "accuracy": [1 - value / 2 for value in FALLING]}))
    (folder / "broken.json").write_text(json.dumps({"loss": [*FALLING[:9], None, None]}))
    return folder


def test_one_json_object_with_runs_health_and_findings(commands, logs):
    done = commands.run("curves", logs, "--json")
    assert done.returncode == 1, done.stderr
    value = json.loads(done.stdout)
    assert value["schema_version"] == 1
    by_name = {one["run"]: one for one in value["runs"]}
    loss = next(tag for tag in by_name["good.json"]["tags"] if tag["tag"] == "loss")
    assert {"tag", "points", "first_step", "last_step", "last_value", "best_value", "best_step"} <= set(loss)
    assert (loss["points"], loss["last_step"], loss["best_step"]) == (20, 19, 19)
    assert {"bad_records", "truncated", "restarts"} <= set(by_name["good.json"]["health"])
    broken = next(tag for tag in by_name["broken.json"]["tags"] if tag["tag"] == "loss")
    assert (broken["last_value"], broken["nonfinite"]) == ("nan", 2)
    (finding,) = value["findings"]
    assert (finding["check_id"], finding["run"], finding["severity"]) == (
        "nonfinite-training",
        "broken.json",
        "critical",
    )
    assert finding["marks"] == [{"run": "broken.json", "tag": "loss", "at": 9.0, "until": 9.0, "label": "NaN"}]


def test_a_table_for_people_and_every_point_as_csv(commands, logs, tmp_path):
    done = commands.run("curves", logs, "--csv", tmp_path / "points.csv", "--fail-on", "critical", "--run", "good")
    assert done.returncode == 0, done.stderr
    assert "good.json" in done.stdout
    assert "broken.json" not in done.stdout
    assert "No finding" in done.stdout
    with (tmp_path / "points.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["value"]) for row in rows if row["tag"] == "loss"] == FALLING


def test_an_archive_is_read_as_its_folder(commands, logs, tmp_path):
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        for path in logs.iterdir():
            archive.write(path, path.name)
    value = json.loads(commands.run("curves", tmp_path / "logs.zip", "--json", "--tag", "loss").stdout)
    assert {tag["tag"] for one in value["runs"] for tag in one["tags"]} == {"loss"}
    assert len(value["runs"]) == 2


def test_nonsense_is_one_line_and_exit_code_2(commands, logs, tmp_path):
    (tmp_path / "empty").mkdir()
    for arguments in (
        ("curves", tmp_path / "missing"),
        ("curves", tmp_path / "empty"),
        ("curves", logs, "--run", "("),
        ("curves", logs, "--fail-on", "dire"),
        ("curves", logs, "--csv", tmp_path / "no" / "such" / "folder.csv"),
        ("curves", "http://127.0.0.1:9/"),
    ):
        done = commands.run(*arguments)
        assert done.returncode == 2, arguments
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr


class Server(BaseHTTPRequestHandler):
    """As much of MLflow as one run needs."""

    def _answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.endswith("experiments/search"):
            self._answer({"experiments": [{"experiment_id": "1", "name": "cats", "lifecycle_stage": "active"}]})
        else:
            info = {"run_id": "abc", "run_name": "first", "experiment_id": "1", "status": "FINISHED"}
            last = {"key": "loss", "value": FALLING[-1], "step": 19, "timestamp": 0}
            self._answer({"runs": [{"info": info, "data": {"metrics": [last]}}]})

    def do_GET(self):
        points = [{"key": "loss", "value": value, "step": at, "timestamp": at} for at, value in enumerate(FALLING)]
        self._answer({"metrics": points})

    def log_message(self, *_arguments):
        pass


def test_an_mlflow_server_is_asked_when_its_address_is_given(commands):
    server = HTTPServer(("127.0.0.1", 0), Server)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        done = commands.run("curves", f"http://127.0.0.1:{server.server_port}", "--json")
    finally:
        server.shutdown()
        server.server_close()
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["runs"]
    assert (found["run"], found["group"], found["tags"][0]["points"]) == ("first", "cats", 20)
