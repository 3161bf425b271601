"""`drift` as a program sees it: the contract's keys, exit codes, a monitor with its history and webhook."""

from __future__ import annotations

import json

import numpy as np
import pytest

from stethoscope.studies.monitor import history
from tests.studies.test_monitor import listening

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
