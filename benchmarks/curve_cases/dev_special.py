"""Faulty trainings for developing rules: order, schedule, restarts, pauses, copies, and runs that differ in batch size."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.curve_cases import shown, writers
from benchmarks.curve_cases.case import faulty, looped, several, trained
from benchmarks.curve_cases.dev_faulty import CLOUDS, DIGITS, MOONS, WAVES, WINE
from benchmarks.curve_cases.interruptions import begun_anew, copied, losing, paused
from benchmarks.curve_cases.material import Material, sorted_rows
from benchmarks.curve_cases.networks import dense
from benchmarks.curve_cases.rates import from_epoch
from benchmarks.curve_cases.training import Training

_SIZES = "too-slow rate-low rate-high underfitting overfitting overtraining oscillation plateau flat"


def _ten_times(given: Material) -> Material:
    return replace(given, x=given.x * 10, held_x=given.held_x * 10)


def _relabelled(given: Material) -> Material:
    return replace(given, y=(given.y + 1) % given.classes, held_y=(given.held_y + 1) % given.classes)


def _sizes(training: Training, *sizes: int) -> list[tuple[str, Training, int]]:
    return [(f"batch_size={size}", training.but(batch_size=size), 0) for size in sizes]


CASES = [
    faulty(
        "jump-rate",
        "the rate is raised a hundredfold after twelve epochs",
        "jump rate-high",
        trained(DIGITS.but(rate=1e-3, epochs=25, callbacks=lambda: [from_epoch(12, 0.1)])),
        seed=50,
        neutral="divergence oscillation overtraining",
    ),
    faulty(
        "jump-rate-sgd",
        "a schedule that jumps from 0.05 to a rate of 8 half-way",
        "jump rate-high",
        trained(
            CLOUDS.but(optimizer="SGD", rate=0.05, epochs=24, callbacks=lambda: [from_epoch(12, 8.0)]), writers.table
        ),
        seed=51,
        neutral="divergence oscillation overtraining nonfinite explosion flat",
    ),
    faulty(
        "jump-scale",
        "from epoch 15 on the rows come ten times larger",
        "jump",
        begun_anew(CLOUDS.but(epochs=30), 15, keep_weights=True, changed=_ten_times),
        seed=52,
        neutral="restart",
    ),
    faulty(
        "jump-labels",
        "from epoch 10 on the labels come in another coding",
        "jump",
        begun_anew(DIGITS.but(epochs=22), 10, keep_weights=True, changed=_relabelled, writer=writers.summaries),
        seed=53,
        neutral="restart divergence",
    ),
    faulty(
        "jump-order",
        "rows sorted by class and not shuffled, single batches logged",
        "jump oscillation",
        looped(DIGITS.but(spoil=sorted_rows, shuffled=False, optimizer="SGD", rate=0.1, epochs=12)),
        seed=54,
        neutral="rate-high divergence flat underfitting explosion",
        proof=shown.spiking,
    ),
    faulty(
        "jump-order-clouds",
        "four classes one after the other, single batches logged, SGD",
        "jump oscillation",
        looped(CLOUDS.but(spoil=sorted_rows, shuffled=False, optimizer="SGD", rate=0.05, epochs=12)),
        seed=55,
        neutral="rate-high divergence flat underfitting explosion",
        proof=shown.spiking,
    ),
    faulty(
        "restart-fresh",
        "goes on at epoch 14 with fresh weights",
        "restart jump",
        begun_anew(DIGITS.but(epochs=28), 14),
        seed=56,
    ),
    faulty(
        "restart-overlap",
        "killed after 16 epochs, begun anew at 9 with fresh weights in the same folder",
        "restart jump",
        begun_anew(CLOUDS.but(epochs=24), 16, 7),
        seed=57,
    ),
    faulty(
        "restart-table",
        "two trainings appended to one table",
        "restart jump",
        begun_anew(WINE.but(epochs=20), 20, 20, writers.table),
        seed=58,
    ),
    faulty(
        "restart-fresh-table",
        "goes on with fresh weights, regression, table",
        "restart jump",
        begun_anew(WAVES.but(epochs=24), 14, 0, writers.table),
        seed=59,
    ),
    faulty(
        "stalled-pause",
        "nothing happens for eight seconds in epoch 12",
        "stalled",
        trained(DIGITS.but(callbacks=lambda: [paused(9, 12)])),
        seed=60,
    ),
    faulty(
        "stalled-twice",
        "two pauses of ten seconds",
        "stalled",
        trained(MOONS.but(callbacks=lambda: [paused(8, 9), paused(10, 20)]), writers.summaries),
        seed=61,
    ),
    faulty(
        "stalled-lost",
        "the writer loses ten of thirty epochs",
        "stalled",
        trained(WINE.but(epochs=32), losing(writers.tensorboard, 11, 21)),
        seed=62,
        proof=lambda runs, _: "" if len(runs[0].loss) == 32 else "the training ended early",
    ),
    faulty(
        "stalled-lost-table",
        "the table lacks epochs 9 to 18",
        "stalled",
        trained(CLOUDS.but(epochs=26), losing(writers.table, 9, 18)),
        seed=63,
        proof=lambda runs, _: "" if len(runs[0].loss) == 26 else "the training ended early",
    ),
    faulty(
        "copies-folder",
        "a folder copied under another name, beside a run of its own",
        "copies",
        lambda place, seed: [
            *copied(DIGITS.but(epochs=12), ["baseline", "baseline-more-units"])(place, seed),
            *several([("other-seed", DIGITS.but(epochs=12), 7)])(place, seed),
        ],
        seed=64,
    ),
    faulty(
        "copies-seed",
        "three runs of which two have the same seed and settings",
        "copies",
        several([("first", WINE, 0), ("second", WINE, 0), ("third", WINE, 1)], writers.table),
        seed=65,
    ),
    faulty(
        "copies-setting",
        "a setting that does nothing: weight decay of 0",
        "copies",
        several(
            [
                ("plain", MOONS.but(epochs=15), 0),
                ("with-dropout", MOONS.but(epochs=15, network=dense(24, 24, dropout=0.0)), 0),
            ],
            writers.summaries,
        ),
        seed=66,
    ),
    faulty(
        "batch-size-digits",
        "batches of 16, 128 and 1,024 rows at one rate and one number of epochs",
        "batch-size",
        several(_sizes(DIGITS.but(epochs=15, optimizer="SGD", rate=0.02), 16, 128, 1024)),
        seed=67,
        neutral=_SIZES,
    ),
    faulty(
        "batch-size-clouds",
        "batches of 8 and of 512 rows with Adam",
        "batch-size",
        several(_sizes(CLOUDS.but(epochs=12), 8, 64, 1500), writers.table),
        seed=68,
        neutral=_SIZES,
    ),
    faulty(
        "batch-size-regression",
        "batches of 4, 32 and 300 patients",
        "batch-size",
        several(_sizes(WAVES.but(epochs=12), 16, 64, 900), writers.summaries),
        seed=69,
        neutral=_SIZES,
    ),
]
