"""The version of data and what changed; drift, once and as a monitor."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from stethoscope.cli.app import app
from stethoscope.cli.data_changes import version_lines
from stethoscope.codec import decode
from stethoscope.logs.data_fingerprint import ArrayFingerprint
from stethoscope.studies.monitor import history
from stethoscope.tasks.read_versions import DataVersions, NamedFingerprint
from tests.logs.test_dvc import repository
from tests.studies.test_monitor import listening


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("STETHOSCOPE_WORKSPACE", str(tmp_path / "workspace"))
    return lambda *words: CliRunner().invoke(app, ["versions", *map(str, words)])


def test_a_fingerprint_and_a_gate(run, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(3, 2))
    (tmp_path / "x.csv").write_text("a,b\n0,1\n2,3\n4,5\n")
    done = run(tmp_path / "x.npy", "--before", tmp_path / "x.csv", "--fail-on-change")
    assert done.exit_code == 0, done.output
    assert "Nothing changed." in done.output
    (tmp_path / "x.csv").write_text("a,b\n0,1\n")
    done = run(tmp_path / "x.npy", "--before", tmp_path / "x.csv", "--fail-on-change")
    assert done.exit_code == 1
    assert "1 → 3 rows" in done.output


def test_a_repository_as_json(run, tmp_path):
    done = run(repository(tmp_path / "repo"), "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert value["schema_version"] == 1
    assert value["states"][0]["data"][0]["path"] == "data/raw"
    said = version_lines(decode(DataVersions, value))
    assert any(line.startswith("  stage train: ") and "up to date" in line for line in said)


def test_changes_as_json_say_from_which_state_to_which(run, tmp_path):
    before, after = repository(tmp_path / "one"), repository(tmp_path / "two", digest="f" * 32)
    done = run(after, "--before", before, "--json")
    assert done.exit_code == 0, done.output
    change = next(change for change in json.loads(done.stdout)["changes"] if change["kind"] == "data")
    assert (change["from"], change["to"], change["what"]) == (0, 1, "data/raw")
    assert (change["before"]["hash"], change["after"]["hash"]) == ("a" * 32 + ".dir", "f" * 32 + ".dir")


def test_nothing_there_says_so(run, tmp_path):
    done = run(tmp_path / "none")
    assert done.exit_code == 2
    assert "Check the path" in done.output


def test_names_cannot_command_a_terminal():
    part = ArrayFingerprint("x", "0" * 64, (3,), "float64")
    (line,) = version_lines(DataVersions((), fingerprints=(NamedFingerprint("0" * 64, (part,), "\x1b[31mred\n"),)))
    assert line.endswith("?[31mred?")


FEATURE = {"name", "test", "statistic", "p_value", "drifted"}


@pytest.fixture
def data(tmp_path):
    generator = np.random.default_rng(0)
    for name, shift in (("then", 0.0), ("same", 0.0), ("now", 1.0)):
        rows = np.stack([generator.normal(shift, 1, 150), generator.normal(size=150)], axis=1)
        (tmp_path / f"{name}.csv").write_text("a,b\n" + "\n".join(f"{one},{other}" for one, other in rows))
    return tmp_path


def test_the_contract(commands, data):
    done = commands.run("drift", data / "then.csv", data / "now.csv", "--json")
    value = json.loads(done.stdout)
    assert done.returncode == 1 and value["verdict"] == "drift" and value["schema_version"] == 1
    assert all(one.keys() >= FEATURE for one in value["features"]) and value["features"][0]["name"] == "a"
    assert 0 < value["smallest_detectable"] < 1 and value["status"] == "ok" and value["settings"]["alpha"] == 0.05
    same = commands.answer("drift", data / "then.csv", data / "same.csv")
    assert same["verdict"] == "no_drift" and not any(one["drifted"] for one in same["features"])


def test_for_people(commands, data):
    done = commands.run("drift", data / "then.csv", data / "now.csv", "--columns", "b")
    assert done.returncode == 0 and done.stdout.startswith("no drift") and "could show" in done.stdout


def test_a_monitor(commands, data):
    monitor = data / "monitor.json"
    with listening() as (url, got):
        saved = commands.run(
            "drift", data / "then.csv", data / "same.csv", "--alpha", 0.01, "--webhook", url, "--save-monitor", monitor
        )
        assert saved.returncode == 0 and not got
        assert commands.run("drift", "--monitor", monitor, data / "same.csv").returncode == 0
        assert commands.run("drift", data / "now.csv", "--monitor", monitor).returncode == 1
    assert [one["verdict"] for one in got] == ["drift"]
    # The server is gone: that is said, and changes nothing else.
    done = commands.run("drift", "--monitor", monitor, data / "now.csv", "--json")
    assert done.returncode == 1 and "cannot be reached" in done.stderr
    assert json.loads(done.stdout)["webhook"]["sent"] is False
    missing = commands.run("drift", "--monitor", monitor, data / "nothing.csv")
    assert missing.returncode == 2 and "no such file" in missing.stderr
    runs = history(monitor)
    assert [run.verdict for run in runs] == ["no_drift", "drift", "drift", None] and runs[0].alpha == 0.01


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "empty"), ("a,b\n", "rows"), ("c,d\n1,2\n3,4\n", "expected columns"), ("a,b\n1,2\n", "at least 2 rows")],
)
def test_data_that_cannot_be_compared(commands, data, content, said):
    (data / "odd.csv").write_text(content)
    done = commands.run("drift", data / "then.csv", data / "odd.csv", "--json")
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1
    assert json.loads(done.stdout)["verdict"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--alpha", "2"], "alpha"),
        (["--min-effect", "big"], "min_effect"),
        (["--webhook", "file:///x"], "http"),
        (["--time", "z"], "--time"),
    ],
)
def test_settings_that_make_no_sense(commands, data, words, said):
    done = commands.run("drift", data / "then.csv", data / "same.csv", *words)
    assert done.returncode == 2 and said in done.stderr


def test_pickled_objects_are_refused(commands, data):
    np.save(data / "odd.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    done = commands.run("drift", data / "odd.npy", data / "odd.npy")
    assert done.returncode == 3 and done.stderr.strip()
