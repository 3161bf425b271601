"""Healthy trainings for developing rules: settings that are fine, however unusual or noisy."""

from __future__ import annotations

from benchmarks.curve_cases import material, writers
from benchmarks.curve_cases.case import healthy, looped, several, trained
from benchmarks.curve_cases.dev_faulty import CLOUDS, DIABETES, DIGITS, MOONS, PICTURES, WAVES, WINE
from benchmarks.curve_cases.interruptions import begun_anew
from benchmarks.curve_cases.material import clouds, moons
from benchmarks.curve_cases.networks import convolutional, dense, over_time, recurrent
from benchmarks.curve_cases.rates import cosine, reduced_at_rest, stopped_early, tenfold_down
from benchmarks.curve_cases.training import Training

SENTENCES = Training(material.sentences, over_time(16, words=60), epochs=12)
NOISY_MOONS = MOONS.but(rows=lambda seed: moons(seed, noise=0.3, rows=3000), network=dense(16), rate=5e-3, epochs=20)

CASES = [
    healthy("fine-digits", "digits, Adam", trained(DIGITS), seed=100),
    healthy("fine-digits-table", "digits, table", trained(DIGITS.but(epochs=25), writers.table), seed=101),
    healthy("fine-digits-json", "digits, history as JSON", trained(DIGITS.but(epochs=15), writers.history), seed=102),
    healthy(
        "fine-digits-batches",
        "digits, batch_loss too",
        trained(DIGITS.but(epochs=12), writers.tensorboard_batches),
        seed=103,
    ),
    healthy("fine-digits-steps", "digits, single batches", looped(DIGITS.but(epochs=15)), seed=104),
    healthy("fine-digits-recorder", "digits, our recorder", trained(DIGITS.but(epochs=12), writers.recorder), seed=105),
    healthy("fine-pictures", "convolutions", trained(PICTURES), seed=106),
    healthy(
        "fine-pictures-normalised",
        "convolutions with batch normalisation",
        trained(PICTURES.but(network=convolutional(8, 16, normalised=True), epochs=15)),
        seed=107,
    ),
    healthy("fine-wine", "178 rows", trained(WINE.but(epochs=30), writers.summaries), seed=108),
    healthy(
        "fine-diabetes",
        "a regression that leaves half unexplained",
        trained(DIABETES.but(network=dense(8), epochs=25)),
        seed=109,
    ),
    healthy("fine-moons", "two moons", trained(MOONS), seed=110),
    healthy(
        "fine-moons-noisy", "overlapping moons: 0.9 is the best there is", trained(NOISY_MOONS, writers.table), seed=111
    ),
    healthy("fine-clouds", "clouds", trained(CLOUDS.but(network=dense(32), epochs=20)), seed=112),
    healthy(
        "fine-clouds-noisy",
        "one label in ten is wrong",
        trained(CLOUDS.but(rows=lambda seed: clouds(seed, rows=4000, wrong=0.1), network=dense(24), epochs=15)),
        seed=113,
    ),
    healthy("fine-waves", "LSTM", trained(WAVES.but(epochs=20)), seed=114),
    healthy(
        "fine-waves-gru",
        "GRU, RMSprop, table",
        trained(WAVES.but(network=recurrent("GRU", 16), optimizer="RMSprop", epochs=20), writers.table),
        seed=115,
    ),
    healthy("fine-sentences", "words", trained(SENTENCES), seed=116),
    healthy(
        "fine-early",
        "stopped early",
        trained(DIGITS.but(network=dense(64, 64), epochs=60, rate=3e-3, callbacks=lambda: [stopped_early()])),
        seed=117,
    ),
    healthy(
        "fine-early-clouds",
        "stopped early",
        trained(
            CLOUDS.but(
                rows=lambda seed: clouds(seed, rows=3000, wrong=0.03),
                network=dense(32),
                epochs=50,
                callbacks=lambda: [stopped_early()],
            ),
            writers.summaries,
        ),
        seed=118,
    ),
    healthy(
        "fine-cosine",
        "cosine decay",
        trained(PICTURES.but(optimizer="SGD", rate=cosine(0.1, 42 * 20), options={"momentum": 0.9}, epochs=20)),
        seed=119,
    ),
    healthy(
        "fine-steps-down",
        "the rate falls tenfold twice",
        trained(
            DIGITS.but(optimizer="SGD", rate=tenfold_down(0.1, 47 * 10, 47 * 16), options={"momentum": 0.9}, epochs=22)
        ),
        seed=120,
    ),
    healthy(
        "fine-warm-up",
        "warm-up and cosine decay, single batches",
        looped(DIGITS.but(rate=cosine(5e-3, 42 * 18, 120), epochs=20)),
        seed=121,
    ),
    healthy(
        "fine-reduced",
        "the rate falls when validation rests",
        trained(DIGITS.but(epochs=35, callbacks=lambda: [reduced_at_rest()])),
        seed=122,
    ),
    healthy(
        "fine-small-batches",
        "batches of 4, single batches logged",
        looped(WINE.but(batch_size=4, epochs=25), validate_every=30),
        seed=123,
    ),
    healthy(
        "fine-small-batches-sgd",
        "batches of 2, SGD",
        trained(WINE.but(batch_size=2, optimizer="SGD", rate=0.005, epochs=25)),
        seed=124,
    ),
    healthy(
        "fine-dropout", "dropout of 0.5", trained(DIGITS.but(network=dense(128, dropout=0.5), epochs=25)), seed=125
    ),
    healthy(
        "fine-dropout-low",
        "dropout of 0.2, table",
        trained(PICTURES.but(network=convolutional(8, 16, dropout=0.2), epochs=15), writers.table),
        seed=126,
    ),
    healthy(
        "fine-penalty",
        "a small weight penalty",
        trained(DIGITS.but(network=dense(48, penalty=1e-4), epochs=25), writers.history),
        seed=127,
    ),
    healthy("fine-long", "70 epochs, converged long before", trained(MOONS.but(epochs=70, rate=5e-3)), seed=128),
    healthy(
        "fine-seeds",
        "three seeds",
        several([("seed-1", DIGITS, 1), ("seed-2", DIGITS, 2), ("seed-3", DIGITS, 3)]),
        seed=129,
    ),
    healthy(
        "fine-sizes",
        "batches of 16, 32 and 64: no matter",
        several(
            [(f"batch_size={size}", DIGITS.but(batch_size=size, epochs=30), 0) for size in (16, 32, 64)], writers.table
        ),
        seed=130,
    ),
    healthy(
        "fine-resumed",
        "goes on with the weights it had",
        begun_anew(DIGITS.but(epochs=24), 12, keep_weights=True),
        seed=131,
    ),
    healthy("fine-no-validation", "no validation", trained(CLOUDS.but(validated=False), writers.table), seed=132),
    healthy("fine-loss-only", "no metric", trained(WAVES.but(metric=False, epochs=18), writers.summaries), seed=133),
    healthy(
        "fine-huber",
        "Huber loss, Nadam",
        trained(WAVES.but(loss="huber", optimizer="Nadam", epochs=15), writers.history),
        seed=134,
    ),
    healthy(
        "fine-adamw",
        "AdamW, batches too",
        trained(CLOUDS.but(network=dense(32), optimizer="AdamW", epochs=15), writers.tensorboard_batches),
        seed=135,
    ),
]
