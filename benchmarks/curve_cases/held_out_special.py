"""Faulty trainings that are only measured: order, schedule, restarts, pauses, copies, runs that differ in batch size."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.curve_cases import shown, writers
from benchmarks.curve_cases.case import faulty, looped, several, trained
from benchmarks.curve_cases.held_out_faulty import BARS, BLOBS, CANCER, CIRCLES, FRIEDMAN, LINEAR, WORDS
from benchmarks.curve_cases.interruptions import begun_anew, copied, losing, paused
from benchmarks.curve_cases.material import Material, sorted_rows
from benchmarks.curve_cases.networks import dense
from benchmarks.curve_cases.rates import from_epoch

_SIZES = "too-slow rate-low rate-high underfitting overfitting overtraining oscillation plateau flat"


def _raw(given: Material) -> Material:
    return replace(given, x=given.x * 8 + 3, held_x=given.held_x * 8 + 3)


def _swapped(given: Material) -> Material:
    return replace(given, y=1 - given.y, held_y=1 - given.held_y)


CASES = [
    faulty(
        "held-jump-rate",
        "another rate from epoch 10 on: 0.2 instead of 0.001",
        "jump rate-high",
        trained(BARS.but(epochs=20, callbacks=lambda: [from_epoch(10, 0.2)]), writers.summaries),
        seed=1050,
        neutral="divergence oscillation overtraining flat plateau",
    ),
    faulty(
        "held-jump-rate-linear",
        "another rate from epoch 13 on, regression",
        "jump rate-high",
        trained(FRIEDMAN.but(callbacks=lambda: [from_epoch(13, 0.3)]), writers.table),
        seed=1051,
        neutral="divergence oscillation overtraining explosion",
    ),
    faulty(
        "held-jump-raw",
        "from epoch 12 on the rows are not scaled any more",
        "jump",
        begun_anew(FRIEDMAN.but(epochs=24), 12, keep_weights=True, changed=_raw, writer=writers.table),
        seed=1052,
        neutral="restart divergence explosion",
    ),
    faulty(
        "held-jump-labels",
        "from epoch 15 on the two classes are swapped",
        "jump",
        begun_anew(CANCER.but(epochs=32), 15, keep_weights=True, changed=_swapped),
        seed=1053,
        neutral="restart divergence",
    ),
    faulty(
        "held-jump-order",
        "bars kind by kind, not shuffled, single batches logged",
        "jump oscillation",
        looped(BARS.but(spoil=sorted_rows, shuffled=False, epochs=12, optimizer="SGD", rate=0.05)),
        seed=1054,
        neutral="rate-high divergence flat underfitting explosion",
        proof=shown.spiking,
    ),
    faulty(
        "held-restart-fresh",
        "goes on at epoch 18 with fresh weights",
        "restart jump",
        begun_anew(CIRCLES.but(epochs=32), 18),
        seed=1055,
    ),
    faulty(
        "held-restart-overlap",
        "killed after 18 epochs, begun anew at 6 in the same folder",
        "restart jump",
        begun_anew(FRIEDMAN.but(epochs=26), 18, 12, writers.summaries),
        seed=1056,
    ),
    faulty(
        "held-restart-table",
        "a second training appended to the same table",
        "restart jump",
        begun_anew(BLOBS.but(epochs=18), 18, 18, writers.table),
        seed=1057,
    ),
    faulty(
        "held-stalled-pause",
        "twelve seconds without a point",
        "stalled",
        trained(CANCER.but(epochs=40, callbacks=lambda: [paused(12, 22)])),
        seed=1058,
    ),
    faulty(
        "held-stalled-words",
        "a pause in the second half",
        "stalled",
        trained(CIRCLES.but(callbacks=lambda: [paused(14, 21)]), writers.summaries),
        seed=1059,
    ),
    faulty(
        "held-stalled-lost",
        "epochs 14 to 27 are missing",
        "stalled",
        trained(BLOBS.but(epochs=40), losing(writers.tensorboard, 14, 27)),
        seed=1060,
        proof=lambda runs, _: "" if len(runs[0].loss) == 40 else "the training ended early",
    ),
    faulty(
        "held-copies-folder",
        "a copied folder beside two runs of their own",
        "copies",
        lambda place, seed: [
            *copied(BARS.but(epochs=10), ["lr-0.001", "lr-0.0003"], writers.summaries)(place, seed),
            *several([("lr-0.002", BARS.but(epochs=10, rate=2e-3), 3)], writers.summaries)(place, seed),
        ],
        seed=1061,
    ),
    faulty(
        "held-copies-seed",
        "two runs with one seed",
        "copies",
        several([("monday", WORDS.but(epochs=8), 0), ("tuesday", WORDS.but(epochs=8), 0)], writers.table),
        seed=1062,
    ),
    faulty(
        "held-batch-size-linear",
        "batches of 8, 60 and 900 rows at one rate",
        "batch-size",
        several(
            [
                (f"batch_size={size}", LINEAR.but(network=dense(24), epochs=12, batch_size=size), 0)
                for size in (8, 60, 900)
            ]
        ),
        seed=1063,
        neutral=_SIZES,
    ),
    faulty(
        "held-batch-size-bars",
        "batches of 16 and 700 pictures",
        "batch-size",
        several([(f"batch_size={size}", BARS.but(epochs=10, batch_size=size), 0) for size in (16, 700)], writers.table),
        seed=1064,
        neutral=_SIZES,
    ),
]
