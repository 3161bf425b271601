"""Healthy trainings that are only measured."""

from __future__ import annotations

from benchmarks.curve_cases import writers
from benchmarks.curve_cases.case import healthy, looped, several, trained
from benchmarks.curve_cases.held_out_faulty import BARS, BLOBS, CANCER, CIRCLES, FRIEDMAN, LINEAR, WORDS
from benchmarks.curve_cases.interruptions import begun_anew
from benchmarks.curve_cases.material import bars, blobs, circles, friedman, linear, sentences
from benchmarks.curve_cases.networks import convolutional, dense, over_time, recurrent
from benchmarks.curve_cases.rates import cosine, reduced_at_rest, stopped_early, tenfold_down

GENTLE = FRIEDMAN.but(rows=lambda seed: friedman(seed, rows=3000), network=dense(32, activation="elu"))

CASES = [
    healthy("held-fine-cancer", "tumours", trained(CANCER.but(epochs=25)), seed=1100),
    healthy(
        "held-fine-cancer-table",
        "tumours, SGD",
        trained(CANCER.but(optimizer="SGD", rate=0.02, epochs=30), writers.table),
        seed=1101,
    ),
    healthy("held-fine-circles", "rings", trained(CIRCLES.but(epochs=25), writers.history), seed=1102),
    healthy(
        "held-fine-circles-noisy",
        "rings that touch",
        trained(CIRCLES.but(rows=lambda seed: circles(seed, noise=0.16, rows=3000), epochs=25)),
        seed=1103,
    ),
    healthy("held-fine-blobs", "blobs", trained(BLOBS, writers.summaries), seed=1104),
    healthy(
        "held-fine-blobs-near",
        "blobs that overlap",
        trained(BLOBS.but(rows=lambda seed: blobs(seed, spread=3.5, rows=3000), epochs=15)),
        seed=1105,
    ),
    healthy("held-fine-friedman", "a smooth function", trained(GENTLE), seed=1106),
    healthy("held-fine-friedman-steps", "a smooth function, single batches", looped(GENTLE.but(epochs=12)), seed=1107),
    healthy("held-fine-linear", "a linear function", trained(LINEAR, writers.table), seed=1108),
    healthy(
        "held-fine-linear-noisy",
        "a linear function in noise: a fifth stays unexplained",
        trained(LINEAR.but(rows=lambda seed: linear(seed, rows=3000, noise=80.0), network=dense(8), epochs=15)),
        seed=1109,
    ),
    healthy("held-fine-bars", "bars", trained(BARS), seed=1110),
    healthy(
        "held-fine-bars-batches",
        "bars, batch_loss too",
        trained(BARS.but(epochs=10), writers.tensorboard_batches),
        seed=1111,
    ),
    healthy("held-fine-bars-recorder", "bars, our recorder", trained(BARS.but(epochs=10), writers.recorder), seed=1112),
    healthy(
        "held-fine-bars-normalised",
        "bars, batch normalisation",
        trained(
            BARS.but(rows=lambda seed: bars(seed, rows=2400), network=convolutional(8, 12, normalised=True)),
            writers.summaries,
        ),
        seed=1113,
    ),
    healthy(
        "held-fine-words",
        "words, averaged",
        trained(WORDS.but(network=over_time(16, words=60), epochs=10), writers.history),
        seed=1114,
    ),
    healthy(
        "held-fine-words-gru",
        "words, GRU",
        trained(WORDS.but(rows=lambda seed: sentences(seed, rows=4000), epochs=8)),
        seed=1115,
    ),
    healthy(
        "held-fine-words-lstm",
        "words, LSTM, single batches",
        looped(
            WORDS.but(rows=lambda seed: sentences(seed, rows=4000), network=recurrent("LSTM", 12, words=60), epochs=8)
        ),
        seed=1116,
    ),
    healthy(
        "held-fine-early",
        "stopped early",
        trained(BARS.but(epochs=50, callbacks=lambda: [stopped_early(5)]), writers.table),
        seed=1117,
    ),
    healthy(
        "held-fine-early-friedman",
        "stopped early",
        trained(GENTLE.but(epochs=80, rate=3e-3, callbacks=lambda: [stopped_early(6)])),
        seed=1118,
    ),
    healthy(
        "held-fine-cosine",
        "cosine decay",
        trained(BLOBS.but(optimizer="SGD", rate=cosine(0.1, 56 * 18), epochs=18)),
        seed=1119,
    ),
    healthy(
        "held-fine-warm-up",
        "warm-up",
        trained(GENTLE.but(rate=cosine(5e-3, 94 * 20, 200), epochs=22), writers.table),
        seed=1120,
    ),
    healthy(
        "held-fine-tenfold",
        "the rate falls tenfold twice",
        trained(
            BARS.but(optimizer="SGD", rate=tenfold_down(0.1, 27 * 9, 27 * 15), options={"momentum": 0.9}, epochs=20)
        ),
        seed=1121,
    ),
    healthy(
        "held-fine-reduced",
        "the rate falls when validation rests",
        trained(GENTLE.but(epochs=40, rate=5e-3, callbacks=lambda: [reduced_at_rest(4)]), writers.summaries),
        seed=1122,
    ),
    healthy(
        "held-fine-batch-two",
        "batches of 2",
        trained(CANCER.but(batch_size=2, optimizer="SGD", rate=0.005, epochs=15)),
        seed=1123,
    ),
    healthy(
        "held-fine-batch-four-steps",
        "batches of 4, single batches logged",
        looped(BLOBS.but(batch_size=4, epochs=10)),
        seed=1124,
    ),
    healthy(
        "held-fine-dropout",
        "dropout of 0.4",
        trained(
            BARS.but(rows=lambda seed: bars(seed, rows=2400), network=convolutional(8, 12, dropout=0.4), epochs=18)
        ),
        seed=1125,
    ),
    healthy(
        "held-fine-dropout-dense",
        "dropout of 0.1, regression",
        trained(LINEAR.but(network=dense(64, dropout=0.1), epochs=25), writers.history),
        seed=1126,
    ),
    healthy(
        "held-fine-penalty",
        "a small weight penalty",
        trained(BLOBS.but(network=dense(32, penalty=1e-4)), writers.table),
        seed=1127,
    ),
    healthy(
        "held-fine-long",
        "90 epochs, converged long before",
        trained(BLOBS.but(optimizer="SGD", rate=0.02, epochs=90)),
        seed=1128,
    ),
    healthy(
        "held-fine-seeds",
        "four seeds",
        several([(f"seed-{at}", CANCER.but(epochs=20), at) for at in range(4)], writers.summaries),
        seed=1129,
    ),
    healthy(
        "held-fine-rates",
        "two rates that both do",
        several([("lr-0.001", BARS, 0), ("lr-0.002", BARS.but(rate=2e-3), 1)]),
        seed=1130,
    ),
    healthy(
        "held-fine-resumed",
        "goes on with the weights it had",
        begun_anew(GENTLE.but(epochs=24), 14, keep_weights=True, writer=writers.table),
        seed=1131,
    ),
    healthy(
        "held-fine-loss-only",
        "no metric, no validation",
        trained(LINEAR.but(metric=False, validated=False), writers.history),
        seed=1132,
    ),
    healthy(
        "held-fine-mae",
        "absolute error as loss",
        trained(LINEAR.but(loss="mae", optimizer="RMSprop"), writers.summaries),
        seed=1133,
    ),
]
