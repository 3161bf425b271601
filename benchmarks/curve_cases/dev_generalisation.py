"""Faulty trainings for developing rules: what is learned does not carry over, or too little is learned."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.curve_cases import material, writers
from benchmarks.curve_cases.case import faulty, looped, trained
from benchmarks.curve_cases.dev_faulty import CLOUDS, DIABETES, DIGITS, PICTURES, WAVES, WINE
from benchmarks.curve_cases.material import clouds, fewer, held_rows_as, noisy_training_rows, shuffled_labels
from benchmarks.curve_cases.networks import convolutional, dense

CASES = [
    # Overfitting, overtraining
    faulty(
        "overfit-digits",
        "60 rows for 500 units",
        "overfitting overtraining",
        trained(DIGITS.but(network=dense(256, 256), spoil=fewer(60), epochs=40)),
        seed=30,
        neutral="gap-from-start",
    ),
    faulty(
        "overfit-clouds",
        "wrong labels learned by heart",
        "overfitting overtraining",
        trained(
            CLOUDS.but(rows=lambda seed: clouds(seed, rows=700, wrong=0.3), network=dense(256, 128), epochs=50),
            writers.table,
        ),
        seed=31,
    ),
    faulty(
        "overfit-regression",
        "350 patients, 300 units, 120 epochs",
        "overtraining overfitting",
        trained(DIABETES.but(network=dense(192, 128), epochs=60), writers.summaries),
        seed=32,
    ),
    faulty(
        "overtrained-clouds",
        "300 rows of two classes, a quarter of the labels wrong",
        "overtraining overfitting",
        trained(
            CLOUDS.but(
                rows=lambda seed: clouds(seed, rows=400, classes=2, wrong=0.25), network=dense(128, 128), epochs=70
            )
        ),
        seed=33,
    ),
    faulty(
        "overtrained-steps",
        "single batches logged, validation turned early",
        "overtraining overfitting",
        looped(
            CLOUDS.but(rows=lambda seed: clouds(seed, rows=800, wrong=0.25), network=dense(256, 128), epochs=50),
            validate_every=20,
        ),
        seed=34,
        neutral="gap-from-start",
    ),
    faulty(
        "overfit-pictures",
        "80 pictures, convolutions",
        "overfitting overtraining",
        trained(PICTURES.but(network=convolutional(32, 64, units=128), spoil=fewer(50), epochs=40), writers.history),
        seed=35,
        neutral="gap-from-start",
    ),
    # Underfitting
    faulty(
        "underfit-labels",
        "half of the labels were handed to other rows",
        "underfitting plateau flat",
        trained(
            CLOUDS.but(
                rows=lambda seed: clouds(seed, rows=3000), network=dense(16), spoil=shuffled_labels(0.7), epochs=25
            )
        ),
        seed=36,
        twin=CLOUDS.but(rows=lambda seed: clouds(seed, rows=3000), network=dense(16), epochs=25),
        neutral="overfitting",
    ),
    faulty(
        "underfit-two-units",
        "two hidden units for ten digits",
        "underfitting plateau",
        trained(DIGITS.but(network=dense(1), rate=0.02, epochs=40), writers.table),
        seed=37,
        twin=DIGITS.but(epochs=40),
    ),
    faulty(
        "underfit-penalty",
        "a weight penalty of 0.3",
        "underfitting plateau",
        trained(DIGITS.but(network=dense(48, 32, penalty=0.3), epochs=25)),
        seed=38,
        twin=DIGITS.but(epochs=25),
        neutral="flat",
    ),
    # Apart from the first epoch
    faulty(
        "gap-inverted",
        "validation pictures are white on black, training pictures black on white",
        "gap-from-start",
        trained(PICTURES.but(spoil=held_rows_as(-1.0, 1.0))),
        seed=39,
        neutral="overfitting overtraining",
    ),
    faulty(
        "gap-shifted",
        "validation columns not centred",
        "gap-from-start",
        trained(CLOUDS.but(spoil=held_rows_as(1.0, 3.0)), writers.table),
        seed=40,
        neutral="overfitting overtraining",
    ),
    faulty(
        "gap-labels",
        "validation labels in another order than validation rows",
        "gap-from-start",
        trained(
            WINE.but(spoil=lambda given, random: replace(given, held_y=random.permutation(given.held_y))),
            writers.summaries,
        ),
        seed=41,
        neutral="overfitting overtraining",
    ),
    faulty(
        "gap-regression",
        "validation rows of another scale, regression",
        "gap-from-start",
        trained(WAVES.but(spoil=held_rows_as(-1.0)), writers.history),
        seed=42,
        neutral="overfitting overtraining",
    ),
    # Validation better
    faulty(
        "better-dropout",
        "dropout of 0.7 in every layer",
        "validation-better underfitting",
        trained(DIGITS.but(network=dense(64, 64, dropout=0.7), epochs=25)),
        seed=43,
        neutral="too-slow",
    ),
    faulty(
        "better-easy",
        "validation rows are those nearest to the middle of their class",
        "validation-better",
        trained(
            CLOUDS.but(rows=lambda seed: clouds(seed, wrong=0.2), spoil=material.held_out_is_easy(), network=dense(24)),
            writers.table,
        ),
        seed=44,
        neutral="underfitting",
    ),
    faulty(
        "better-noise",
        "training rows drowned in noise that validation rows do not have",
        "validation-better underfitting",
        trained(DIGITS.but(spoil=noisy_training_rows(0.6), epochs=15), writers.summaries),
        seed=45,
    ),
]
