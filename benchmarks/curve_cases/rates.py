"""Learning rates that change while training, and callbacks that end a training or turn its rate."""

from __future__ import annotations

from typing import Any

from benchmarks.curve_cases.training import Schedule


def decayed(first: float, every: int, factor: float) -> Schedule:
    """The rate is multiplied by `factor` each `every` steps; a factor above 1 makes it grow."""

    def make() -> Any:
        import keras

        return keras.optimizers.schedules.ExponentialDecay(first, every, factor, staircase=True)

    return make


def cosine(first: float, steps: int, warm: int = 0) -> Schedule:
    """A cosine to zero over `steps`; before it the rate grows for `warm` steps."""

    def make() -> Any:
        import keras

        schedule = keras.optimizers.schedules.CosineDecay
        return schedule(first / 20, steps, warmup_target=first, warmup_steps=warm) if warm else schedule(first, steps)

    return make


def tenfold_down(first: float, *at: int) -> Schedule:
    """A tenth of the rate from each of the steps `at` on."""

    def make() -> Any:
        import keras

        values = [first * 0.1**number for number in range(len(at) + 1)]
        return keras.optimizers.schedules.PiecewiseConstantDecay(list(at), values)

    return make


def cycles(high: float, low: float, period: int) -> Any:
    """A callback: the rate is `high` in every `period`-th epoch, `low` in the others."""
    import keras

    return keras.callbacks.LearningRateScheduler(lambda epoch, _: high if epoch % period == 0 else low)


def from_epoch(at: int, rate: float) -> Any:
    """A callback: another rate from epoch `at` on."""
    import keras

    return keras.callbacks.LearningRateScheduler(lambda epoch, now: rate if epoch >= at else now)


def stopped_early(patience: int = 4) -> Any:
    """A callback: ends when validation has not become better for `patience` epochs, and goes back to the best."""
    import keras

    return keras.callbacks.EarlyStopping(patience=patience, restore_best_weights=True)


def reduced_at_rest(patience: int = 3) -> Any:
    """A callback: a third of the rate when validation rests."""
    import keras

    return keras.callbacks.ReduceLROnPlateau(patience=patience, factor=0.3)
