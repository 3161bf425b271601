"""MLflow file stores as large as a test wants them, written as MLflow writes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

_META = """artifact_uri: mlflow-artifacts:/1/{run}/artifacts
end_time: {end}
entry_point_name: ''
experiment_id: '1'
lifecycle_stage: active
run_id: {run}
run_name: {name}
source_name: ''
source_type: 4
source_version: ''
start_time: {start}
status: 3
tags: []
user_id: ann
"""


def write_store(place: Path, runs: int, metrics: int, points: int) -> Path:
    """`place`/mlruns with one experiment: curves that fall, eight parameters and three tags each; returns that folder."""
    experiment = place / "mlruns" / "1"
    experiment.mkdir(parents=True)
    (experiment / "meta.yaml").write_text("experiment_id: '1'\nlifecycle_stage: active\nname: many\n")
    for run in range(runs):
        generator = np.random.default_rng(run)
        identity, start = f"{run:032x}", 1_767_225_600_000 + run * 60_000
        folder = experiment / identity
        for name in ("metrics", "params", "tags", "artifacts"):
            (folder / name).mkdir(parents=True)
        (folder / "meta.yaml").write_text(
            _META.format(run=identity, name=f"run-{run}", start=start, end=start + 50_000)
        )
        for name in range(metrics):
            values = np.exp(-np.linspace(0, 4, points)) + generator.normal(0, 0.01, points) + name
            lines = (f"{start + step * 500} {value} {step}\n" for step, value in enumerate(values.tolist()))
            (folder / "metrics" / f"metric_{name}").write_text("".join(lines))
        given = {
            "lr": f"{10 ** generator.uniform(-5, -1):.6g}",
            "optimizer": ("adam", "sgd")[run % 2],
            "seed": str(run),
        }
        given |= dict.fromkeys(("batch_size", "units", "depth", "epochs", "patience"), "32")
        for name, text in given.items():
            (folder / "params" / name).write_text(text)
        for name, text in (
            ("mlflow.user", "ann"),
            ("mlflow.source.name", "train.py"),
            ("mlflow.runName", f"run-{run}"),
        ):
            (folder / "tags" / name).write_text(text)
    return place / "mlruns"
