"""Faulty trainings for developing rules: wrong settings, wrong rows, wrong size."""

from __future__ import annotations

from benchmarks.curve_cases import material, shown, writers
from benchmarks.curve_cases.case import faulty, looped, trained
from benchmarks.curve_cases.material import clouds, diabetes, digit_pictures, digits, moons, waves, wine
from benchmarks.curve_cases.networks import convolutional, dense, recurrent
from benchmarks.curve_cases.rates import cycles, decayed
from benchmarks.curve_cases.training import Training

DIGITS = Training(digits, dense(48, 32), epochs=20)
PICTURES = Training(digit_pictures, convolutional(8, 16), epochs=12)
WINE = Training(wine, dense(24), batch_size=16, epochs=40)
DIABETES = Training(diabetes, dense(32, 16), batch_size=16, epochs=40)
MOONS = Training(moons, dense(24, 24), epochs=30)
CLOUDS = Training(clouds, dense(64, 32), epochs=20)
EDGE = Training(diabetes, dense(), "SGD", batch_size=400, epochs=40)
WAVES = Training(waves, recurrent("LSTM", 16), epochs=15)


CASES = [
    # Not finite
    faulty(
        "nan-rate-regression",
        "SGD at a rate of 3 on a regression",
        "nonfinite divergence explosion rate-high",
        trained(DIABETES.but(optimizer="SGD", rate=3.0), writers.table),
        seed=1,
    ),
    faulty(
        "nan-missing-value",
        "one value of one row is missing",
        "nonfinite",
        trained(MOONS.but(network=dense(24, 24, activation="tanh"), spoil=material.with_gap)),
        seed=2,
        neutral="divergence explosion flat",
    ),
    faulty(
        "nan-raw-rows",
        "rows 3,000 times too large, SGD",
        "nonfinite divergence explosion rate-high",
        trained(
            WAVES.but(network=dense(32), optimizer="SGD", rate=0.02, spoil=material.rows_as(3000)), writers.history
        ),
        seed=3,
    ),
    faulty(
        "nan-steps",
        "SGD at 0.9 with momentum, deep, single batches logged",
        "nonfinite divergence explosion rate-high",
        looped(
            DIABETES.but(network=dense(64, 64, 64), optimizer="SGD", rate=0.5, options={"momentum": 0.95}, epochs=12)
        ),
        seed=4,
    ),
    faulty(
        "nan-late",
        "a rate that grows by half every 20 steps until nothing is left, single batches logged",
        "nonfinite divergence explosion rate-high",
        looped(
            DIABETES.but(network=dense(32), optimizer="SGD", rate=decayed(0.01, 20, 1.5), epochs=16), validate_every=20
        ),
        seed=5,
        neutral="jump oscillation",
    ),
    # Rising
    faulty(
        "rising-edge",
        "gradient descent a little beyond the edge of stability",
        "divergence rate-high explosion",
        trained(EDGE.but(rate=0.252)),
        seed=6,
    ),
    faulty(
        "rising-growing-rate",
        "a schedule that multiplies the rate by 1.5 every epoch",
        "divergence rate-high explosion",
        trained(
            CLOUDS.but(optimizer="SGD", rate=decayed(0.05, 47, 1.6), epochs=25, options={"momentum": 0.9}),
            writers.summaries,
        ),
        seed=7,
        neutral="jump oscillation overtraining overfitting flat",
    ),
    faulty(
        "rising-sign",
        "the gradient is added, not subtracted",
        "divergence explosion",
        trained(CLOUDS.but(optimizer="SGD", rate=-1.5e-3, epochs=18)),
        seed=8,
        neutral="rate-high overtraining",
    ),
    faulty(
        "exploding-regression",
        "gradient descent beyond the edge of stability",
        "explosion divergence rate-high",
        trained(EDGE.but(rate=0.29), writers.table),
        seed=9,
    ),
    faulty(
        "exploding-steps",
        "SGD at 0.5 on a regression, single batches logged",
        "explosion divergence rate-high nonfinite",
        looped(EDGE.but(rate=0.5, batch_size=64, epochs=5), validate_every=5),
        seed=10,
    ),
    # Zero
    faulty(
        "zero-one-softmax",
        "softmax over one unit with categorical_crossentropy",
        "zero-loss flat",
        trained(DIABETES.but(network=dense(16, last="softmax"), loss="categorical_crossentropy", epochs=12)),
        seed=11,
        neutral="gap-from-start underfitting",
    ),
    faulty(
        "zero-one-label",
        "labels lost: every row has the same one",
        "zero-loss",
        trained(CLOUDS.but(spoil=material.one_label, rate=0.02, epochs=100), writers.history),
        seed=12,
        neutral="flat",
        proof=lambda runs, _: (
            "" if runs[0].loss[-1] < 1e-6 and runs[0].loss[4] < 1e-3 else f"ends at {runs[0].loss[-1]:.2g}"
        ),
    ),
    # Flat
    faulty(
        "flat-dead",
        "all biases start at −20 behind relu: every unit is dead",
        "flat",
        trained(DIGITS.but(network=dense(48, 32, initializer="zeros"), epochs=15)),
        seed=13,
        neutral="underfitting plateau rate-low too-slow",
    ),
    faulty(
        "flat-deep-sigmoid",
        "nine sigmoid layers and SGD",
        "flat rate-low too-slow",
        trained(
            DIGITS.but(network=dense(*[24] * 9, activation="sigmoid"), optimizer="SGD", rate=0.01, epochs=15),
            writers.table,
        ),
        seed=14,
        neutral="underfitting plateau",
    ),
    faulty(
        "flat-tiny-rate",
        "Adam at 1e-8",
        "flat rate-low too-slow",
        trained(CLOUDS.but(rate=1e-8, epochs=15)),
        seed=15,
        neutral="underfitting",
    ),
    faulty(
        "flat-steps",
        "SGD at 1e-6, single batches logged",
        "flat rate-low too-slow",
        looped(DIGITS.but(optimizer="SGD", rate=1e-6, epochs=12)),
        seed=16,
        neutral="underfitting plateau",
    ),
    # Plateau
    faulty(
        "plateau-decay",
        "a schedule that makes the rate vanish after three epochs",
        "plateau rate-low underfitting",
        trained(CLOUDS.but(optimizer="SGD", rate=decayed(0.02, 47, 0.35), epochs=20)),
        seed=17,
        twin=CLOUDS.but(optimizer="SGD", rate=0.02, epochs=20),
        neutral="too-slow",
    ),
    faulty(
        "plateau-linear",
        "no hidden layer on two rings",
        "underfitting plateau flat",
        trained(Training(material.circles, dense(), rate=0.02, epochs=25)),
        seed=18,
        twin=Training(material.circles, dense(24, 24), rate=0.005, epochs=25),
    ),
    faulty(
        "plateau-steps",
        "the rate falls tenfold every 80 steps, single batches logged",
        "plateau rate-low underfitting",
        looped(DIGITS.but(optimizer="SGD", rate=decayed(0.1, 60, 0.1), epochs=18)),
        seed=19,
        twin=DIGITS.but(optimizer="SGD", rate=0.1, epochs=18),
        neutral="too-slow",
    ),
    # Swinging
    faulty(
        "swinging-rate",
        "SGD at 0.08 with momentum on pictures",
        "oscillation rate-high",
        trained(PICTURES.but(optimizer="SGD", rate=0.08, epochs=24, options={"momentum": 0.9})),
        seed=20,
        neutral="jump divergence underfitting plateau overtraining",
    ),
    faulty(
        "swinging-momentum",
        "momentum of 0.99: slow waves",
        "oscillation rate-high",
        trained(EDGE.but(rate=0.01, options={"momentum": 0.99}, epochs=90), writers.table),
        seed=21,
        neutral="divergence underfitting plateau overtraining",
        proof=shown.waving,
    ),
    faulty(
        "swinging-adam",
        "Adam at 0.05 on digits",
        "oscillation rate-high",
        trained(DIGITS.but(rate=0.05, epochs=25), writers.summaries),
        seed=22,
        neutral="jump divergence underfitting plateau explosion overtraining",
    ),
    faulty(
        "swinging-tanh",
        "SGD at 1.5 with momentum on two moons",
        "oscillation rate-high divergence",
        trained(
            MOONS.but(
                network=dense(24, 24, activation="tanh"),
                optimizer="SGD",
                rate=1.5,
                options={"momentum": 0.9},
                epochs=30,
            ),
            writers.history,
        ),
        seed=46,
        neutral="jump underfitting plateau explosion overtraining",
    ),
    faulty(
        "swinging-cycles",
        "a cyclic rate that returns to 1 every fourth epoch",
        "oscillation rate-high jump",
        trained(
            DIGITS.but(
                network=dense(48, activation="tanh"),
                optimizer="SGD",
                options={"momentum": 0.9},
                epochs=32,
                callbacks=lambda: [cycles(high=1.0, low=0.02, period=4)],
            )
        ),
        seed=23,
        neutral="divergence explosion plateau underfitting flat",
    ),
    # Slow
    faulty(
        "slow-sgd",
        "SGD at 3e-4 on digits",
        "too-slow rate-low",
        trained(DIGITS.but(optimizer="SGD", rate=1e-3, epochs=20)),
        seed=24,
        twin=DIGITS.but(optimizer="SGD", rate=0.1, epochs=20),
        neutral="underfitting",
    ),
    faulty(
        "slow-adam",
        "Adam at 1e-5 on clouds",
        "rate-low too-slow",
        trained(CLOUDS.but(rate=2e-5, epochs=20), writers.table),
        seed=25,
        twin=CLOUDS.but(epochs=20),
        neutral="underfitting",
    ),
    faulty(
        "slow-adadelta",
        "Adadelta at Keras' default rate",
        "too-slow rate-low",
        trained(WAVES.but(optimizer="Adadelta", epochs=15), writers.history),
        seed=26,
        twin=WAVES.but(),
        neutral="underfitting flat",
    ),
    faulty(
        "slow-steps",
        "SGD at 1e-3, single batches logged",
        "rate-low too-slow",
        looped(CLOUDS.but(optimizer="SGD", rate=1e-3, epochs=15)),
        seed=27,
        twin=CLOUDS.but(optimizer="SGD", rate=0.1, epochs=15),
        neutral="underfitting",
    ),
    # Rates that are only too high
    faulty(
        "rate-high-digits",
        "Adam at 1 on digits: at chance after one epoch",
        "rate-high flat plateau underfitting divergence",
        trained(DIGITS.but(rate=1.0, epochs=15)),
        seed=47,
        twin=DIGITS.but(epochs=15),
        neutral="jump oscillation explosion",
    ),
    faulty(
        "rate-high-adam",
        "Adam at 0.1 on pictures: stuck far from what 1e-3 reaches",
        "rate-high flat plateau underfitting oscillation",
        trained(PICTURES.but(rate=0.1, epochs=15)),
        seed=28,
        twin=PICTURES.but(epochs=15),
        neutral="jump divergence explosion",
    ),
    faulty(
        "rate-high-clouds",
        "Adam at 0.3 on clouds, falls at first",
        "rate-high oscillation plateau underfitting",
        trained(CLOUDS.but(rate=0.3, epochs=25), writers.summaries),
        seed=29,
        twin=CLOUDS.but(epochs=25),
        neutral="jump divergence explosion flat",
    ),
]
