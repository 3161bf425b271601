"""Faulty trainings that are only measured: what is learned does not carry over, or too little is learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.curve_cases import material, writers
from benchmarks.curve_cases.case import faulty, looped, trained
from benchmarks.curve_cases.held_out_faulty import BARS, BLOBS, FRIEDMAN, LINEAR, WORDS
from benchmarks.curve_cases.material import Material, bars, blobs, friedman, linear
from benchmarks.curve_cases.networks import convolutional, dense, recurrent


def _turned(given: Material, _: np.random.Generator) -> Material:
    return replace(given, held_x=given.held_x.transpose(0, 2, 1, 3))


CASES = [
    faulty(
        "held-overfit-bars",
        "50 pictures in deep noise",
        "overfitting overtraining",
        trained(
            BARS.but(
                rows=lambda seed: bars(seed, noise=1.0),
                network=convolutional(24, 32, units=64),
                spoil=material.fewer(60),
                epochs=40,
            )
        ),
        seed=1022,
        neutral="gap-from-start",
    ),
    faulty(
        "held-overfit-words",
        "150 sentences",
        "overfitting overtraining",
        trained(
            WORDS.but(network=recurrent("LSTM", 32, words=60), spoil=material.fewer(150), epochs=40), writers.table
        ),
        seed=1023,
        neutral="gap-from-start",
    ),
    faulty(
        "held-overtrained-linear",
        "noise learned by heart, regression",
        "overtraining overfitting",
        trained(
            LINEAR.but(rows=lambda seed: linear(seed, rows=300, noise=150.0), network=dense(128, 64), epochs=70),
            writers.history,
        ),
        seed=1024,
    ),
    faulty(
        "held-overtrained-steps",
        "few rows, single batches logged",
        "overtraining overfitting",
        looped(
            FRIEDMAN.but(rows=lambda seed: friedman(seed, rows=300, noise=4.0), network=dense(128, 128), epochs=120),
            validate_every=15,
        ),
        seed=1025,
        neutral="gap-from-start",
    ),
    faulty(
        "held-underfit-labels",
        "three of four labels handed to other rows",
        "underfitting plateau flat",
        trained(
            BLOBS.but(rows=lambda seed: blobs(seed, rows=3000), network=dense(8), spoil=material.shuffled_labels(0.75)),
            writers.summaries,
        ),
        seed=1026,
        twin=BLOBS.but(rows=lambda seed: blobs(seed, rows=3000), network=dense(8)),
    ),
    faulty(
        "held-gap-scale",
        "validation columns multiplied by ten",
        "gap-from-start",
        trained(FRIEDMAN.but(spoil=material.held_rows_as(6.0)), writers.table),
        seed=1028,
        neutral="overfitting overtraining",
    ),
    faulty(
        "held-gap-turned",
        "validation pictures turned on their side",
        "gap-from-start",
        trained(BARS.but(spoil=_turned)),
        seed=1029,
        neutral="overfitting overtraining",
    ),
    faulty(
        "held-gap-coding",
        "validation labels coded in another order",
        "gap-from-start",
        trained(
            BLOBS.but(spoil=lambda given, _: replace(given, held_y=(given.held_y + 2) % given.classes)),
            writers.summaries,
        ),
        seed=1030,
        neutral="overfitting overtraining",
    ),
    faulty(
        "held-better-dropout",
        "dropout of 0.8",
        "validation-better underfitting",
        trained(
            BLOBS.but(
                rows=lambda seed: blobs(seed, spread=4.0), network=dense(32, 32, dropout=0.8), rate=3e-3, epochs=25
            ),
            writers.table,
        ),
        seed=1031,
        neutral="too-slow",
    ),
    faulty(
        "held-better-easy",
        "validation rows chosen from the middle of their class",
        "validation-better",
        trained(
            BLOBS.but(
                rows=lambda seed: blobs(seed, spread=5.0), spoil=material.held_out_is_easy(), rate=3e-3, epochs=25
            )
        ),
        seed=1032,
        neutral="underfitting plateau",
    ),
    faulty(
        "held-better-noise",
        "training pictures drowned in noise",
        "validation-better underfitting",
        trained(
            BARS.but(network=convolutional(8, 12), spoil=material.noisy_training_rows(1.3), epochs=12), writers.history
        ),
        seed=1033,
        neutral="overfitting too-slow",
    ),
]
