"""The table of samples for users, written from the recipes and the manifest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sample_models.recipe import Recipe

_HEAD = """# Sample models

Models to try: one specimen per behaviour. The small ones are in `built/`, ready to open. This file is written by
`python -m sample_models.build`; edit the recipes instead.

| Sample | File | Size | Parameters | What it shows |
|---|---|--:|--:|---|
"""
_BIG = """
## Big ones, built on demand

They are for timing and memory work: `python -m sample_models.build NAME` writes them to `built/big/`, `--all` builds everything.

| Name | Parameters | What it shows |
|---|--:|---|
"""
_DATA = """
## Data to try

Real data that scikit-learn ships, written by `python -m sample_models.data_sets`. In the manifest these have `"kind": "data"`.

| Data | File | Size | What it is |
|---|---|--:|---|
"""
_FOOT = """
`digits_sample.npz` holds held-out digit images `x` of shape (64, 8, 8, 1) and their labels `y`, for the digits classifiers.
`training_runs.logs.zip` is the sample log of the Training page: six small trainings, written by `python -m
sample_models.training_runs`.
The manifest, `built/manifest.json`, says of each sample what a run must show (`expectations`), what was measured when it was
built (`measured`), and which checks it must raise (`findings`).
"""


def write_readme(recipes: Sequence[Recipe], manifest: Sequence[dict[str, Any]], path: Path) -> None:
    """Writes the table: small samples as built, big ones as declared."""
    small = [
        f"| {made['title']} | `{made['file']}` | {made['size_bytes'] / 1000:,.0f} kB | {made['parameters']:,} "
        f"| {made['behaviour']}{_accuracy(made)} |"
        for made in manifest
        if made.get("kind") != "data"
    ]
    data = [
        f"| {made['title']} | `{made['file']}` | {made['size_bytes'] / 1000:,.0f} kB | {made['behaviour']} |"
        for made in manifest
        if made.get("kind") == "data"
    ]
    big = [f"| `{recipe.id}` | {recipe.parameters:,} | {recipe.behaviour} |" for recipe in recipes if recipe.big]
    path.write_text(
        _HEAD + "\n".join(small) + "\n" + _BIG + "\n".join(big) + "\n" + _DATA + "\n".join(data) + "\n" + _FOOT
    )


def _accuracy(made: dict[str, Any]) -> str:
    return f" Accuracy {made['measured']['accuracy']:.1%}." if "accuracy" in made["measured"] else ""
