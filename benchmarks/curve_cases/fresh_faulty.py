"""Faulty trainings that were scored once, after the rules were last changed: rows and networks that no other split has."""

from __future__ import annotations

from benchmarks.curve_cases import material, shown, writers
from benchmarks.curve_cases.case import faulty, looped, several, trained
from benchmarks.curve_cases.fresh_material import ball, figures, herds, impedance, iris, roll, shells, tones
from benchmarks.curve_cases.interruptions import begun_anew, copied, losing, paused
from benchmarks.curve_cases.networks import convolutional, dense, over_time
from benchmarks.curve_cases.rates import from_epoch, tenfold_down
from benchmarks.curve_cases.training import Training

IRIS = Training(iris, dense(12), batch_size=8, epochs=40, rate=5e-3)
SHELLS = Training(shells, dense(40, 20), batch_size=32, epochs=25, rate=2e-3)
BALL = Training(ball, dense(64), batch_size=50, epochs=20, rate=5e-3)
ROLL = Training(roll, dense(32, 32), batch_size=25, epochs=30, rate=2e-3)
IMPEDANCE = Training(impedance, dense(40, activation="swish"), batch_size=30, epochs=25, rate=3e-3)
FIGURES = Training(figures, convolutional(10, 16), batch_size=36, epochs=14)
TONES = Training(tones, over_time(24, 24), batch_size=32, epochs=18, rate=2e-3)

_SIZES = "too-slow rate-low rate-high underfitting overfitting overtraining oscillation plateau flat"

CASES = [
    faulty(
        "fresh-slow-shells",
        "SGD at 4e-3, shells",
        "rate-low too-slow",
        trained(SHELLS.but(optimizer="SGD", rate=4e-3, epochs=30)),
        seed=2001,
        twin=SHELLS,
        neutral="underfitting plateau flat",
    ),
    faulty(
        "fresh-slow-figures",
        "Adam at 3e-5, figures",
        "rate-low too-slow",
        trained(FIGURES.but(rate=3e-5, epochs=15), writers.table),
        seed=2002,
        twin=FIGURES.but(rate=1e-3),
        neutral="underfitting",
    ),
    faulty(
        "fresh-slow-iris",
        "SGD at 2e-3 and 20 epochs: ended in the middle of the fall",
        "too-slow rate-low",
        trained(IRIS.but(optimizer="SGD", rate=2e-3, epochs=20), writers.history),
        seed=2003,
        twin=IRIS,
        neutral="underfitting",
    ),
    faulty(
        "fresh-slow-impedance",
        "RMSprop at 3e-5, no metric",
        "rate-low too-slow",
        trained(IMPEDANCE.but(optimizer="RMSprop", rate=3e-5, metric=False), writers.summaries),
        seed=2004,
        twin=IMPEDANCE.but(metric=False),
        neutral="underfitting",
    ),
    faulty(
        "fresh-slow-roll-steps",
        "Adam at 5e-5, single batches logged",
        "rate-low too-slow",
        looped(ROLL.but(rate=5e-5, epochs=16)),
        seed=2005,
        twin=ROLL.but(epochs=16),
        neutral="underfitting plateau",
    ),
    faulty(
        "fresh-swinging-ball",
        "SGD at 1.5 with momentum, tanh",
        "oscillation rate-high",
        trained(
            BALL.but(
                network=dense(48, activation="tanh"), optimizer="SGD", rate=1.5, options={"momentum": 0.9}, epochs=30
            )
        ),
        seed=2006,
        neutral="jump divergence underfitting plateau explosion overtraining flat",
    ),
    faulty(
        "fresh-swinging-roll",
        "RMSprop at 0.1, regression",
        "oscillation rate-high",
        trained(ROLL.but(optimizer="RMSprop", rate=0.1, epochs=35), writers.history),
        seed=2007,
        neutral="jump divergence underfitting plateau explosion overtraining flat",
    ),
    faulty(
        "fresh-swinging-impedance",
        "Adam at 0.2, regression",
        "oscillation rate-high",
        trained(IMPEDANCE.but(rate=0.2, epochs=30), writers.summaries),
        seed=2009,
        neutral="jump divergence underfitting plateau explosion overtraining flat",
    ),
    faulty(
        "fresh-better-easy",
        "validation rows chosen from the middle of their class",
        "validation-better",
        trained(
            Training(herds, dense(24, activation="tanh"), spoil=material.held_out_is_easy(), rate=3e-3, epochs=20),
            writers.summaries,
        ),
        seed=2010,
        neutral="underfitting plateau too-slow",
    ),
    faulty(
        "fresh-better-tones",
        "training tones drowned in noise, as heavy augmentation does",
        "validation-better underfitting",
        trained(TONES.but(spoil=material.noisy_training_rows(0.9)), writers.table),
        seed=2011,
        neutral="too-slow plateau",
    ),
    faulty(
        "fresh-better-dropout",
        "dropout of 0.7 after every layer",
        "validation-better underfitting",
        trained(SHELLS.but(network=dense(128, 64, dropout=0.7), epochs=40, rate=3e-3)),
        seed=2012,
        neutral="too-slow plateau",
    ),
    faulty(
        "fresh-plateau-schedule",
        "the rate falls tenfold three times from the fourth epoch to the sixth",
        "plateau rate-low underfitting",
        trained(BALL.but(rate=tenfold_down(2e-3, 360, 480, 600), epochs=25), writers.summaries),
        seed=2013,
        twin=BALL.but(epochs=25),
        neutral="too-slow flat",
    ),
    faulty(
        "fresh-plateau-shells",
        "no hidden layer for nested shells",
        "underfitting plateau flat",
        trained(SHELLS.but(network=dense(), rate=0.01, epochs=25)),
        seed=2014,
        twin=SHELLS.but(epochs=25),
    ),
    faulty(
        "fresh-batch-size-ball",
        "batches of 20, 200 and 4,000 rows at one rate",
        "batch-size",
        several(
            [(f"batch_size={size}", BALL.but(epochs=10, rate=2e-3, batch_size=size), 0) for size in (20, 200, 4000)]
        ),
        seed=2015,
        neutral=_SIZES,
    ),
    faulty(
        "fresh-batch-size-roll",
        "batches of 12 and 600 rows, tables",
        "batch-size",
        several([(f"bs{size}", ROLL.but(epochs=15, batch_size=size), 0) for size in (12, 600)], writers.table),
        seed=2016,
        neutral=_SIZES,
    ),
    faulty(
        "fresh-stalled-lost",
        "epochs 10 to 20 are missing from the table",
        "stalled",
        trained(SHELLS.but(epochs=32), losing(writers.table, 10, 20)),
        seed=2017,
        proof=lambda runs, _: "" if len(runs[0].loss) == 32 else "the training ended early",
    ),
    faulty(
        "fresh-stalled-pause",
        "fifteen seconds without a point",
        "stalled",
        trained(IRIS.but(callbacks=lambda: [paused(15, 17)]), writers.summaries),
        seed=2018,
    ),
    faulty(
        "fresh-copies-folder",
        "a copied folder beside another run",
        "copies",
        lambda place, seed: [
            *copied(IMPEDANCE.but(epochs=12), ["swish", "relu"], writers.history)(place, seed),
            *several([("tanh", IMPEDANCE.but(epochs=12, network=dense(40, activation="tanh")), 1)], writers.history)(
                place, seed
            ),
        ],
        seed=2019,
    ),
    faulty(
        "fresh-copies-rows",
        "a setting that changes nothing: dropout of 0",
        "copies",
        several(
            [
                ("plain", SHELLS.but(epochs=15), 0),
                ("dropout", SHELLS.but(network=dense(40, 20, dropout=0.0), epochs=15), 0),
            ]
        ),
        seed=2020,
    ),
    faulty(
        "fresh-jump-rate",
        "another rate from epoch 12 on",
        "jump rate-high",
        trained(TONES.but(epochs=22, callbacks=lambda: [from_epoch(12, 0.3)])),
        seed=2021,
        neutral="divergence oscillation overtraining flat plateau explosion",
    ),
    faulty(
        "fresh-restart-figures",
        "goes on at epoch 10 with fresh weights",
        "restart jump",
        begun_anew(FIGURES.but(epochs=20), 10, writer=writers.summaries),
        seed=2022,
    ),
    faulty(
        "fresh-overfit-figures",
        "70 figures",
        "overfitting overtraining",
        trained(FIGURES.but(rows=lambda seed: figures(seed, noise=1.0), spoil=material.fewer(70), epochs=35)),
        seed=2023,
        neutral="gap-from-start",
    ),
    faulty(
        "fresh-nan-roll",
        "SGD at 4, regression",
        "nonfinite divergence explosion rate-high",
        trained(ROLL.but(optimizer="SGD", rate=4.0), writers.table),
        seed=2024,
        proof=shown.nonfinite,
    ),
]
