"""Healthy trainings that were scored once, after the rules were last changed."""

from __future__ import annotations

from benchmarks.curve_cases import writers
from benchmarks.curve_cases.case import healthy, looped, several, trained
from benchmarks.curve_cases.fresh_faulty import BALL, FIGURES, IMPEDANCE, IRIS, ROLL, SHELLS, TONES
from benchmarks.curve_cases.fresh_material import figures, shells, tones
from benchmarks.curve_cases.interruptions import begun_anew
from benchmarks.curve_cases.networks import convolutional, dense, recurrent
from benchmarks.curve_cases.rates import cosine, reduced_at_rest, stopped_early, tenfold_down

MANY_SHELLS = SHELLS.but(rows=lambda seed: shells(seed, rows=5000))
MANY_FIGURES = FIGURES.but(rows=lambda seed: figures(seed, rows=6000))
MANY_TONES = TONES.but(rows=lambda seed: tones(seed, rows=3000))

CASES = [
    healthy("fresh-fine-iris", "112 flowers, batches of 8", trained(IRIS.but(epochs=50)), seed=2100),
    healthy(
        "fresh-fine-iris-dropout",
        "112 flowers, dropout of 0.2",
        trained(IRIS.but(network=dense(24, dropout=0.2), epochs=50), writers.table),
        seed=2101,
    ),
    healthy("fresh-fine-shells", "shells", trained(MANY_SHELLS, writers.summaries), seed=2102),
    healthy("fresh-fine-shells-short", "ten epochs", trained(MANY_SHELLS.but(epochs=10), writers.history), seed=2103),
    healthy(
        "fresh-fine-ball-momentum",
        "SGD with momentum",
        trained(BALL.but(optimizer="SGD", rate=0.03, options={"momentum": 0.9}, epochs=20), writers.table),
        seed=2104,
    ),
    healthy(
        "fresh-fine-ball-every",
        "every fifth of batches of 16 rows, no mean",
        looped(BALL.but(batch_size=16, epochs=6, rate=2e-3), every=5, validate_every=140),
        seed=2105,
    ),
    healthy("fresh-fine-roll", "a rolled-up sheet", trained(ROLL.but(epochs=40)), seed=2106),
    healthy(
        "fresh-fine-roll-every",
        "every twentieth of batches of 8 rows, no validation",
        looped(ROLL.but(batch_size=8, epochs=16, validated=False), every=20),
        seed=2107,
    ),
    healthy("fresh-fine-impedance", "a circuit", trained(IMPEDANCE.but(epochs=30), writers.summaries), seed=2108),
    healthy(
        "fresh-fine-impedance-early",
        "stopped early",
        trained(IMPEDANCE.but(epochs=80, callbacks=lambda: [stopped_early(5)]), writers.table),
        seed=2109,
    ),
    healthy("fresh-fine-figures", "figures", trained(MANY_FIGURES.but(epochs=10)), seed=2110),
    healthy(
        "fresh-fine-figures-dropout",
        "dropout of 0.5 before the last layer",
        trained(MANY_FIGURES.but(network=convolutional(10, 16, units=64, dropout=0.5), epochs=12), writers.history),
        seed=2111,
    ),
    healthy(
        "fresh-fine-figures-steps-down",
        "a large rate that falls tenfold twice",
        trained(
            MANY_FIGURES.but(
                optimizer="SGD", rate=tenfold_down(0.08, 125 * 7, 125 * 10), options={"momentum": 0.9}, epochs=14
            ),
            writers.summaries,
        ),
        seed=2112,
    ),
    healthy("fresh-fine-tones", "tones", trained(MANY_TONES.but(epochs=15)), seed=2113),
    healthy(
        "fresh-fine-tones-gru",
        "tones, GRU, batch_loss too",
        trained(MANY_TONES.but(network=recurrent("GRU", 24), epochs=20, rate=5e-3), writers.tensorboard_batches),
        seed=2114,
    ),
    healthy(
        "fresh-fine-tones-cosine",
        "warm-up over a third, then cosine decay",
        trained(MANY_TONES.but(rate=cosine(4e-3, 71 * 12, 71 * 6), epochs=18), writers.table),
        seed=2115,
    ),
    healthy(
        "fresh-fine-ball-reduced",
        "the rate falls when validation rests",
        trained(BALL.but(epochs=30, callbacks=lambda: [reduced_at_rest(3)]), writers.summaries),
        seed=2116,
    ),
    healthy(
        "fresh-fine-seeds",
        "three seeds",
        several([(f"seed-{at}", BALL.but(epochs=15), at) for at in range(3)]),
        seed=2117,
    ),
    healthy(
        "fresh-fine-sizes",
        "batches of 25 and 50: no matter",
        several([(f"batch_size={size}", BALL.but(epochs=25, batch_size=size), 0) for size in (25, 50)], writers.table),
        seed=2118,
    ),
    healthy(
        "fresh-fine-resumed",
        "goes on with the weights it had",
        begun_anew(BALL.but(epochs=20), 11, keep_weights=True),
        seed=2119,
    ),
    healthy(
        "fresh-fine-loss-only",
        "no metric, no validation",
        trained(ROLL.but(metric=False, validated=False), writers.history),
        seed=2120,
    ),
]
