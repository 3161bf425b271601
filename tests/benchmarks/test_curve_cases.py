"""The labelled logs: enough of them, told apart, proven before they are kept, and the same each time they are trained."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.curve_cases import material, networks, writers
from benchmarks.curve_cases.case import DEV, FRESH, HELD_OUT, KINDS, faulty, healthy, looped, trained
from benchmarks.curve_cases.catalogue import LABEL, LOG, NotShown, all_cases, chosen, write
from benchmarks.curve_cases.interruptions import begun_anew, copied, losing
from benchmarks.curve_cases.training import Training
from stethoscope.logs import all_trackers

SMALL = Training(
    lambda seed: material.clouds(seed, rows=240, columns=12, classes=2), networks.dense(6), epochs=4, rate=0.01
)


def _read(place: Path, tracker: str) -> dict[str, dict[str, list[float]]]:
    runs = all_trackers()[tracker].read(place)
    return {run.run: {tag: one.value.tolist() for tag, one in run.series.items()} for run in runs}


def test_there_are_enough_of_every_kind_and_nothing_is_shared_between_the_splits() -> None:
    dev, held, fresh = chosen(DEV), chosen(HELD_OUT), chosen(FRESH)
    assert sum(bool(one.kind) for one in [*dev, *held]) >= 60
    assert sum(not one.kind for one in [*dev, *held]) >= 40
    assert {one.kind for one in dev} | {"rate-low"} >= set(KINDS)
    assert {one.kind for one in held} >= set(KINDS) - {"rate-low"}
    assert all(one.kind in one.accepted and not one.accepted & one.neutral for one in [*dev, *held] if one.kind)
    assert min(sum(bool(one.kind) for one in fresh), sum(not one.kind for one in fresh)) >= 16
    assert max(Counter(one.seed for one in [*dev, *held, *fresh]).values()) == 1


def test_the_list_of_cases_needs_no_framework() -> None:
    code = "import sys; from benchmarks.curve_cases.catalogue import all_cases; all_cases(); print('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_unknown_kinds_and_cases_are_refused() -> None:
    with pytest.raises(ValueError, match="expected kinds of"):
        faulty("x", "", "typo", trained(SMALL))
    with pytest.raises(KeyError):
        chosen(DEV, ["no-such-case"])


def test_a_training_that_shows_its_fault_is_written_with_its_label(tmp_path: Path) -> None:
    case = faulty(
        "rising", "gradient added", "divergence", trained(SMALL.but(rate=-0.02, epochs=8), writers.table), seed=3
    )
    place = write(case, tmp_path)
    label = json.loads((place / LABEL).read_text())
    assert (label["kind"], label["accepted"]) == ("divergence", ["divergence"])
    (run,) = _read(place / LOG, "keras-csv").values()
    assert len(run["loss"]) == 8
    assert run["loss"][-1] > 1.5 * run["loss"][0]


def test_a_training_that_does_not_show_its_label_is_not_kept(tmp_path: Path) -> None:
    fine = trained(SMALL, writers.history)
    with pytest.raises(NotShown, match="finite"):
        write(faulty("nan", "", "nonfinite", fine), tmp_path)
    with pytest.raises(NotShown, match="health, got: run"):
        write(healthy("fine", "", trained(SMALL.but(rate=1e-9), writers.history)), tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_same_seed_gives_the_same_curves_and_the_log_holds_them(tmp_path: Path) -> None:
    make = trained(SMALL, writers.history)
    first, again, other = (make(tmp_path / name, seed)[0] for name, seed in (("a", 5), ("b", 5), ("c", 6)))
    assert first.loss == again.loss
    assert first.loss != other.loss
    (run,) = _read(tmp_path / "a", "keras-history").values()
    assert run["loss"] == list(first.loss)
    assert run["val_accuracy"] == list(first.val_metric)


@pytest.mark.sweep
def test_a_restart_a_loss_of_points_and_a_copy_are_in_the_log(tmp_path: Path) -> None:
    twice = begun_anew(SMALL, 4, 4, writers.table)(tmp_path / "twice", 1)[0]
    (run,) = _read(tmp_path / "twice", "keras-csv").values()
    assert len(twice.loss) == len(run["loss"]) == 8
    trained(SMALL, losing(writers.table, 1, 2))(tmp_path / "lost", 1)
    (lost,) = all_trackers()["keras-csv"].read(tmp_path / "lost")
    assert lost.series["loss"].step.tolist() == [0, 3]
    copied(SMALL, ["one", "two"], writers.history)(tmp_path / "copies", 1)
    one, two = _read(tmp_path / "copies", "keras-history").values()
    assert one == two


def test_a_loop_of_ones_own_logs_every_batch(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tf.summary needs it")
    curves = looped(SMALL.but(spoil=material.sorted_rows, shuffled=False), validate_every=5)(tmp_path, 2)[0]
    (run,) = _read(tmp_path, "tensorboard").values()
    assert np.allclose(run["train/loss"], curves.loss)
    assert len(run["train/loss"]) == 4 * (180 // 32)
    assert len(run["validation/loss"]) == len(curves.val_loss) == 4


def test_what_spoils_rows_changes_what_it_says_and_nothing_else() -> None:
    given, random = material.clouds(1, rows=200), np.random.default_rng(0)
    scaled = material.held_rows_as(2.0, 1.0)(given, random)
    assert np.array_equal(scaled.x, given.x)
    assert np.allclose(scaled.held_x, given.held_x * 2 + 1)
    mixed = material.shuffled_labels(1.0, held_too=False)(given, random)
    assert sorted(mixed.y) == sorted(given.y)
    assert (mixed.y != given.y).mean() > 0.5
    assert np.array_equal(mixed.held_y, given.held_y)
    assert np.isnan(material.with_gap(given, random).x).sum() == 1
    assert (np.diff(material.sorted_rows(given, random).y) >= 0).all()
    easy = material.held_out_is_easy()(given, random)
    assert sorted(easy.x[:, 0].tolist() + easy.held_x[:, 0].tolist()) == sorted(
        given.x[:, 0].tolist() + given.held_x[:, 0].tolist()
    )
    assert len(material.fewer(30)(given, random).x) == 30


def test_other_seeds_are_the_same_cases_with_other_numbers() -> None:
    more = chosen("other_seeds")
    assert {one.id.removesuffix("-again") for one in more} == {one.id for one in chosen(DEV)}
    known = {one.seed for one in all_cases().values()}
    assert not known & {one.seed for one in more}
    assert replace(more[0], id="", seed=0, split="").title == chosen(DEV)[0].title
