"""DVC repositories as DVC 3 writes them: data versions, lineage, parameters, metrics, and what changed."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from stethoscope.logs.dvc import DvcProject, read_project
from stethoscope.logs.dvc_runs import TRACKER, compare, data_of, version_of
from tests.exploring import examples
from tests.tables import each

PIPELINE = """
stages:
  prepare:
    cmd: python src/prepare.py data/raw
    deps: [data/raw, src/prepare.py]
    params: [prepare.split]
    outs: [data/prepared]
  train:
    cmd:
      - python src/train.py
      - echo done
    deps:
      - data/prepared
      - src/train.py
    params:
      - train.lr
      - other.toml:
    outs:
      - model.keras
    metrics:
      - ${where}/metrics.json:
          cache: false
  evaluate:
    cmd: python src/evaluate.py
    deps: [model.keras]
vars:
  - where: reports
"""


def lock(raw="a" * 32, prepared="b" * 32, lr="1e-3", size=100):
    return f"""
schema: '2.0'
stages:
  prepare:
    cmd: python src/prepare.py data/raw
    deps:
    - path: data/raw
      hash: md5
      md5: {raw}.dir
      size: {size}
      nfiles: 3
    - path: src/prepare.py
      hash: md5
      md5: {"c" * 32}
      size: 10
    params:
      params.yaml:
        prepare.split: 0.2
    outs:
    - path: data/prepared
      hash: md5
      md5: {prepared}.dir
      size: 50
      nfiles: 2
  train:
    cmd: |-
      python src/train.py
    deps:
    - path: data/prepared
      hash: md5
      md5: {prepared}.dir
    - path: src/train.py
      hash: md5
      md5: {"d" * 32}
    params:
      params.yaml:
        train:
          lr: {lr}
    outs:
    - path: model.keras
      hash: md5
      md5: {"e" * 32}
"""


def added(digest="a" * 32):
    return f"outs:\n- md5: {digest}.dir\n  size: 100\n  nfiles: 3\n  hash: md5\n  path: raw\n"


def repository(place, accuracy=0.9, digest="a" * 32, **options):
    (place / "data").mkdir(parents=True)
    (place / "reports").mkdir()
    (place / "dvc.yaml").write_text(PIPELINE)
    (place / "dvc.lock").write_text(lock(raw=digest, **options))
    (place / "data" / "raw.dvc").write_text(added(digest))
    (place / "params.yaml").write_text("prepare: {split: 0.2}\ntrain: {lr: 1e-3, layers: [8, 4]}\n")
    (place / "other.toml").write_text("seed = 7\n")
    (place / "reports" / "metrics.json").write_text(f'{{"accuracy": {accuracy}, "by": {{"a": NaN}}, "ok": true}}')
    return place


def test_a_repository_is_read(tmp_path):
    project = read_project(repository(tmp_path / "repo"))
    assert project.problems == ()
    assert [(one.path, one.hash, one.files, one.size_bytes) for one in project.data] == [
        ("data/raw", "a" * 32 + ".dir", 3, 100)
    ]
    stages = {stage.name: stage for stage in project.stages}
    assert stages["train"].parameters == {"params.yaml:train.lr": 0.001}
    assert [(name, stage.ran) for name, stage in stages.items()] == [
        ("prepare", True),
        ("train", True),
        ("evaluate", False),
    ]
    assert project.parameters == {
        "params.yaml:prepare.split": 0.2,
        "params.yaml:train.lr": 0.001,
        "params.yaml:train.layers.0": 8,
        "params.yaml:train.layers.1": 4,
        "other.toml:seed": 7,
    }
    assert project.metrics["reports/metrics.json:accuracy"] == 0.9
    assert math.isnan(project.metrics["reports/metrics.json:by.a"])
    assert len(project.metrics) == 2


def test_data_is_followed_through_the_stages(tmp_path):
    project = read_project(repository(tmp_path / "repo"))
    train = next(stage for stage in project.stages if stage.name == "train")
    assert [(one.path, one.hash[:4]) for one in project.sources(train)] == [("data/raw", "aaaa")]


def test_results_of_older_data_are_named(tmp_path):
    place = repository(tmp_path / "repo")
    assert read_project(place).outdated() == {"evaluate": "it never ran"}
    (place / "data" / "raw.dvc").write_text(added("f" * 32))
    assert read_project(place).outdated()["prepare"] == "it used data/raw as aaaaaaaa, which is ffffffff now"
    (place / "params.yaml").write_text("train: {lr: 0.5}\n")
    assert read_project(place).outdated()["train"] == "it ran with params.yaml:train.lr = 0.001, which is 0.5 now"


def test_what_changed_between_two_states(tmp_path):
    before = read_project(repository(tmp_path / "before"))
    after = read_project(repository(tmp_path / "after", 0.95, digest="f" * 32, prepared="9" * 32, lr="0.01", size=120))
    raw, prepared, rate, accuracy = compare(before, after)
    assert raw.text.startswith("Data data/raw: ") and prepared.text.startswith("Output data/prepared: ")
    assert [part in raw.text for part in ("aaaaaaaa (3 files, 100 bytes) → ", " → ffffffff (3 files, 120 bytes)")] == [
        True,
        True,
    ]
    assert [
        part in prepared.text for part in ("bbbbbbbb (2 files, 50 bytes) → ", " → 99999999 (2 files, 50 bytes)")
    ] == [True, True]
    assert rate.text == "Parameter params.yaml:train.lr: 0.001 → 0.01."
    assert accuracy.text == "Metric reports/metrics.json:accuracy: 0.9 → 0.95 (+0.05)."
    assert compare(before, before) == ()


def test_two_lock_files_are_enough(tmp_path):
    for name, options in (("old.lock", {}), ("new.lock", {"lr": "0.1"})):
        (tmp_path / name).write_text(lock(**options))
    changes = compare(read_project(tmp_path / "old.lock"), read_project(tmp_path / "new.lock"))
    assert [change.text for change in changes] == ["Parameter params.yaml:train.lr: 0.001 → 0.1."]


def test_hashes_of_dvc_2_and_3_are_not_compared(tmp_path):
    for name, how in (("old", ""), ("new", "  hash: md5\n")):
        (tmp_path / f"{name}.dvc").write_text(f"outs:\n- md5: {name[0] * 32}\n{how}  path: data.csv\n")
    assert compare(read_project(tmp_path / "old.dvc"), read_project(tmp_path / "new.dvc")) == ()


def test_the_version_is_the_same_exactly_when_the_data_is(tmp_path):
    one, two, three = (
        version_of(data_of(read_project(repository(tmp_path / name, accuracy, digest=digest * 32))))
        for name, accuracy, digest in (("one", 0.9, "a"), ("two", 0.95, "f"), ("three", 0.91, "a"))
    )
    assert one == three != two
    assert version_of(()) == ""


def test_pipelines_in_folders_keep_their_paths_apart(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "dvc.lock").write_text(
            f"schema: '2.0'\nstages:\n  train:\n    cmd: x\n    deps:\n    - path: ../shared.csv\n      md5: {name * 32}\n"
        )
    project = read_project(tmp_path)
    assert [stage.name for stage in project.stages] == ["a/dvc.yaml:train", "b/dvc.yaml:train"]
    assert {used.path for stage in project.stages for used in stage.dependencies} == {"shared.csv"}


@each("name", ["../secret.json", "/etc/hostname.json", "link.json", "linked/secret.json", "a" * 300])
def test_nothing_outside_the_repository_is_opened(tmp_path, name):
    (tmp_path / "secret.json").write_text('{"password": 1234}')
    place = tmp_path / "repo"
    place.mkdir()
    (place / "link.json").symlink_to(tmp_path / "secret.json")
    (place / "linked").symlink_to(tmp_path)
    (place / "dvc.yaml").write_text(f"metrics: ['{name}']\nparams: ['{name}']\n")
    project = read_project(place)
    assert (project.metrics, project.parameters) == ({}, {})
    assert "outside the repository" in " ".join(project.problems)


def test_curves_of_dvclive(tmp_path):
    place = repository(tmp_path / "repo")
    folder = place / "dvclive"
    (folder / "plots" / "metrics" / "train").mkdir(parents=True)
    (folder / "plots" / "metrics" / "train" / "loss.tsv").write_text("step\tloss\n0\t0.5\n1\tnan\nrubbish\n2\t0.2")
    (folder / "plots" / "metrics" / "acc.tsv").write_text("timestamp\tstep\tacc\n1000\t0\t0.5\n2000\t1\t0.75\n")
    (folder / "metrics.json").write_text('{"train": {"loss": 0.2}, "test": {"acc": 0.7}, "step": 2}')
    (folder / "params.yaml").write_text("lr: 1e-3\n")
    assert TRACKER.sniff(place)
    (run,) = TRACKER.read(place)
    assert (run.run, run.group, run.parameters) == ("dvclive", "repo", {"lr": 0.001})
    assert run.series["train/loss"].step.tolist() == [0, 1]
    assert run.series["acc"].wall_time.tolist() == [1.0, 2.0]
    assert run.series["test.acc"].step.tolist() == [2]
    assert set(run.series) == {"train/loss", "acc", "test.acc"}
    assert (run.health.bad_records, run.health.truncated_bytes) == (1, 5)
    assert run.notes["data data/raw"] == "md5 " + "a" * 32 + ".dir"


def test_a_repository_without_curves_is_one_run(tmp_path):
    (run,) = TRACKER.read(repository(tmp_path / "repo"))
    assert run.series["reports/metrics.json:accuracy"].value.tolist() == [0.9]
    assert run.notes["outdated"].startswith("evaluate: ") and "never ran" in run.notes["outdated"]


def test_a_folder_without_dvc_is_none(tmp_path):
    (tmp_path / "a.yaml").write_text("x: 1")
    assert not TRACKER.sniff(tmp_path)
    assert read_project(tmp_path) == DvcProject(tmp_path.name)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "stages",
                    "deps",
                    "outs",
                    "params",
                    "metrics",
                    "vars",
                    "path",
                    "md5",
                    "cmd",
                    "do",
                    "schema",
                    "size",
                    "a",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@examples(30)
@given(st.dictionaries(st.sampled_from(["stages", "outs", "vars", "params", "metrics", "schema", "a"]), _VALUES))
def test_files_of_any_shape_are_no_crash(tmp_path_factory, value):
    import yaml

    place = tmp_path_factory.mktemp("dvc")
    for name in ("dvc.yaml", "dvc.lock", "a.dvc", "params.yaml"):
        (place / name).write_text(yaml.safe_dump(value))
    project = read_project(place)
    compare(project, DvcProject("other"))
    project.outdated()
    TRACKER.read(place)
