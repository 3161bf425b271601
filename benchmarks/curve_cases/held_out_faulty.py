"""Faulty trainings that are only measured: other rows, other networks, other seeds than those rules were developed on."""

from __future__ import annotations

from benchmarks.curve_cases import material, shown, writers
from benchmarks.curve_cases.case import faulty, looped, trained
from benchmarks.curve_cases.material import bars, blobs, cancer, circles, friedman, linear, sentences
from benchmarks.curve_cases.networks import convolutional, dense, recurrent
from benchmarks.curve_cases.rates import cycles, decayed
from benchmarks.curve_cases.training import Training

CANCER = Training(cancer, dense(16, activation="tanh"), batch_size=16, epochs=30)
CIRCLES = Training(circles, dense(20, 20, activation="elu"), batch_size=24, epochs=30, rate=3e-3)
BLOBS = Training(blobs, dense(32, activation="selu"), batch_size=20, epochs=20)
FRIEDMAN = Training(friedman, dense(48, 24, activation="elu"), batch_size=24, epochs=25)
LINEAR = Training(linear, dense(24, activation="gelu"), batch_size=16, epochs=25)
BARS = Training(bars, convolutional(8, 12), batch_size=40, epochs=14)
WORDS = Training(sentences, recurrent("GRU", 12, words=60), batch_size=40, epochs=12, rate=3e-3)

CASES = [
    faulty(
        "held-nan-missing",
        "one cell of one row is missing",
        "nonfinite",
        trained(CANCER.but(spoil=material.with_gap), writers.history),
        seed=1001,
        neutral="divergence explosion flat",
    ),
    faulty(
        "held-nan-friedman",
        "SGD at 5, momentum, regression",
        "nonfinite divergence explosion rate-high",
        trained(FRIEDMAN.but(optimizer="SGD", rate=5.0, options={"momentum": 0.9})),
        seed=1002,
    ),
    faulty(
        "held-nan-steps",
        "a rate that grows by half every 40 steps, single batches logged",
        "nonfinite divergence explosion rate-high",
        looped(LINEAR.but(optimizer="SGD", rate=decayed(0.02, 40, 1.5), epochs=20), every=3),
        seed=1003,
        neutral="jump oscillation",
    ),
    faulty(
        "held-nan-square",
        "exploding squares: rows 500 times too large",
        "nonfinite divergence explosion rate-high",
        trained(LINEAR.but(optimizer="SGD", rate=0.01, spoil=material.rows_as(500)), writers.summaries),
        seed=1004,
    ),
    faulty(
        "held-rising-edge",
        "gradient descent a little beyond the edge of stability",
        "divergence explosion rate-high",
        trained(LINEAR.but(network=dense(), optimizer="SGD", rate=0.9, batch_size=2000, epochs=50), writers.table),
        seed=1005,
    ),
    faulty(
        "held-rising-sign",
        "the gradient is added, not subtracted",
        "divergence explosion",
        trained(BLOBS.but(optimizer="SGD", rate=-3e-3, epochs=20)),
        seed=1006,
        neutral="rate-high",
    ),
    faulty(
        "held-nan-schedule",
        "the rate grows by 70 % every epoch, regression",
        "nonfinite divergence rate-high explosion",
        trained(FRIEDMAN.but(optimizer="SGD", rate=decayed(0.01, 47, 1.7), epochs=18), writers.summaries),
        seed=1007,
        neutral="jump oscillation overtraining",
    ),
    faulty(
        "held-exploding-linear",
        "gradient descent beyond the edge of stability, no metric",
        "explosion divergence rate-high",
        trained(
            LINEAR.but(network=dense(), optimizer="SGD", rate=1.02, batch_size=2000, epochs=40, metric=False),
            writers.history,
        ),
        seed=1034,
    ),
    faulty(
        "held-zero-one-unit",
        "categorical cross-entropy on one unit",
        "zero-loss flat",
        trained(
            LINEAR.but(network=dense(12, 6, last="softmax"), loss="categorical_crossentropy", epochs=15), writers.table
        ),
        seed=1008,
        neutral="gap-from-start underfitting",
    ),
    faulty(
        "held-flat-zeros",
        "all weights start at zero behind relu",
        "flat",
        trained(BARS.but(network=dense(32, 32, initializer="zeros"), epochs=12)),
        seed=1009,
        neutral="underfitting plateau rate-low too-slow",
    ),
    faulty(
        "held-flat-rate",
        "Adam at 1e-7 on pictures",
        "flat rate-low too-slow",
        trained(BARS.but(rate=1e-7), writers.history),
        seed=1010,
        neutral="underfitting plateau",
    ),
    faulty(
        "held-flat-steps",
        "SGD at 1e-6, single batches logged",
        "flat rate-low too-slow",
        looped(BLOBS.but(optimizer="SGD", rate=1e-6, epochs=12), every=2),
        seed=1011,
        neutral="underfitting plateau",
    ),
    faulty(
        "held-plateau-decay",
        "the rate vanishes after four epochs",
        "plateau rate-low underfitting",
        trained(FRIEDMAN.but(optimizer="SGD", rate=decayed(0.01, 47, 0.4), epochs=24), writers.summaries),
        seed=1012,
        twin=FRIEDMAN.but(optimizer="SGD", rate=0.03, epochs=24),
        neutral="too-slow",
    ),
    faulty(
        "held-plateau-linear",
        "no hidden layer for bars",
        "underfitting plateau",
        trained(Training(lambda seed: bars(seed, rows=4000), dense(2, activation="linear"), rate=0.01, epochs=30)),
        seed=1013,
        twin=Training(lambda seed: bars(seed, rows=4000), convolutional(8, 12), epochs=15),
        neutral="flat overfitting overtraining",
    ),
    faulty(
        "held-rising-momentum",
        "SGD with momentum of 0.98 and a rate of 0.3",
        "divergence explosion rate-high oscillation",
        trained(BLOBS.but(optimizer="SGD", rate=0.3, options={"momentum": 0.98}, epochs=30), writers.table),
        seed=1014,
        neutral="jump",
    ),
    faulty(
        "held-swinging-momentum",
        "momentum of 0.99 on whole batches: slow waves",
        "oscillation rate-high",
        trained(
            LINEAR.but(
                network=dense(), optimizer="SGD", rate=0.02, options={"momentum": 0.99}, batch_size=2000, epochs=80
            )
        ),
        seed=1035,
        neutral="divergence underfitting plateau overtraining",
        proof=shown.waving,
    ),
    faulty(
        "held-swinging-adam",
        "Adam at 0.3, regression",
        "oscillation rate-high",
        trained(FRIEDMAN.but(rate=0.3, epochs=30)),
        seed=1015,
        neutral="jump divergence underfitting plateau explosion flat",
    ),
    faulty(
        "held-swinging-cycle",
        "a cyclic rate, every second epoch at 4",
        "oscillation rate-high jump",
        trained(
            CANCER.but(optimizer="SGD", rate=0.05, epochs=36, callbacks=lambda: [cycles(4.0, 0.05, 2)]),
            writers.summaries,
        ),
        seed=1016,
        neutral="divergence underfitting plateau",
    ),
    faulty(
        "held-slow-circles",
        "SGD at 1e-3 on rings",
        "too-slow rate-low flat",
        trained(CIRCLES.but(optimizer="SGD", rate=2e-3, epochs=25)),
        seed=1017,
        twin=CIRCLES.but(),
        neutral="underfitting plateau",
    ),
    faulty(
        "held-slow-cancer",
        "Adam at 2e-5",
        "rate-low too-slow",
        trained(CANCER.but(rate=3e-5), writers.table),
        seed=1018,
        twin=CANCER.but(rate=3e-3),
        neutral="underfitting",
    ),
    faulty(
        "held-slow-steps",
        "Adagrad at 1e-4, single batches logged",
        "rate-low too-slow",
        looped(FRIEDMAN.but(optimizer="Adagrad", rate=1e-4, epochs=15)),
        seed=1019,
        twin=FRIEDMAN.but(epochs=15),
        neutral="underfitting plateau",
    ),
    faulty(
        "held-high-words",
        "Adam at 0.3 on words",
        "rate-high oscillation plateau underfitting flat divergence",
        trained(WORDS.but(rate=0.3, epochs=20)),
        seed=1020,
        twin=WORDS.but(epochs=20),
        neutral="jump explosion",
    ),
    faulty(
        "held-high-bars",
        "RMSprop at 0.1 on bars",
        "rate-high oscillation plateau underfitting flat divergence",
        trained(BARS.but(optimizer="RMSprop", rate=0.1, epochs=20), writers.summaries),
        seed=1021,
        twin=BARS.but(epochs=20),
        neutral="jump explosion",
    ),
]
