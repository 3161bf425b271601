"""Can the model overfit a few samples? It is trained on them again and again, with whatever rate works. Worker only.

Source: Karpathy, A Recipe for Training Neural Networks (2019): "overfit a single batch"; Goodfellow et al., Deep
Learning (2016), 11.5: fit a tiny dataset.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from stethoscope.errors import CannotRun
from stethoscope.evidence.training import RunCurve
from stethoscope.evidence.trials import BlockedLayer, OverfitEvidence, blocking_layer
from stethoscope.framework_errors import let_through
from stethoscope.program.setup import Setup
from stethoscope.training.gathering.blocked_layers import blocked_layers
from stethoscope.training.gathering.few_samples import (
    few,
    fitted_fraction,
    guessing_fraction,
    lowest_loss,
    unregularised,
)
from stethoscope.training.model import as_fed, call
from stethoscope.training.outcome import FitCrash
from stethoscope.training.trainer import RunState, Trainer

CHUNKS = (25, 25, 50, 100)
"""Steps between looks at the predictions; the last number goes on."""
STALLED = 0.98
"""A rate is given up when `STALLS` chunks of steps in a row do not bring the loss below this share of the best one before."""
STALLS = 2
FIRST_SHARE = 0.6
"""The model's own rate gets so much of the time."""
NEW_SEEDS = (1, 2)
MIN_STEPS = 40
FITTED = 0.99
"""Share of the targets from which they count as fitted; with 16 labels, all of them."""
GROWN = 10.0
"""A loss so many times the first one counts as diverging."""
_CHUNK_S = 1.0
Say = Callable[[float, str], None]


@dataclass
class _Attempt:
    """One learning rate's run."""

    rate: float
    title: str
    seed: int = 0
    curve: RunCurve | None = None
    fraction: float = 0.0
    settled: bool = True
    """Whether inference mode gets as much right as training mode."""
    problem: str = ""
    stalled: bool = False
    """Whether the loss had stopped falling; False when steps or time ran out before."""
    losses: list[float] = field(default_factory=list)

    @property
    def final(self) -> float:
        """The last loss."""
        return self.losses[-1] if self.losses else float("nan")

    @property
    def diverged(self) -> bool:
        """Whether the loss grew beyond sense."""
        start = self.losses[0] if self.losses else float("nan")
        return not math.isfinite(self.final) or self.final > GROWN * abs(start) + 1e-6

    @property
    def rank(self) -> tuple[float, float]:
        """Higher is better."""
        return self.fraction, -self.final if math.isfinite(self.final) else -math.inf


def overfit(
    setup: Setup,
    *,
    samples: int = 16,
    steps: int = 500,
    time_s: float = 15.0,
    source: str = "data",
    say: Say = lambda a, b: None,
) -> OverfitEvidence:
    """Trains on `samples` rows as one batch, for at most `steps` steps with each learning rate and `time_s` seconds in all.

    Returns the run of the rate that worked best. Whatever stops the training is a verdict, not an error.

    Raises:
        CannotRun: one step takes so long that nothing can be shown in this time.
    """
    begin = time.perf_counter()
    chosen = few(setup, samples).with_changes(epochs=steps)
    plain, off = unregularised(chosen)
    blank = OverfitEvidence(
        samples=chosen.rows,
        steps=0,
        loss=(),
        loss_steps=(),
        initial_loss=float("nan"),
        final_loss=float("nan"),
        floor=lowest_loss(chosen),
        fitted_fraction=0.0,
        verdict="crashes",
        own_learning_rate=setup.learning_rate,
        regularisation_off=off,
        source=source,
    )
    say(0.0, "building and tracing")
    try:
        trainer = Trainer(plain)
        trainer.warm_up(plain)
    except (FitCrash, CannotRun) as error:
        return replace(blank, reason=str(error))
    if trainer.step_s * MIN_STEPS > time_s:
        raise CannotRun(
            f"The overfit test: one step on {chosen.rows} samples takes {trainer.step_s:.1f} s, so that {MIN_STEPS} steps, "
            f"the fewest that show something, do not fit into {time_s:.0f} s. Allow more time, or give fewer samples."
        )
    best: _Attempt | None = None
    blocked: tuple[BlockedLayer, ...] = ()
    attempts = _attempts(trainer, plain)
    while best is None or best.fraction < FITTED:
        left = time_s - (time.perf_counter() - begin)
        if best is not None and left < max(0.5, CHUNKS[0] * trainer.step_s):
            break
        following = next(attempts, None)
        if following is None:
            break
        used, candidate, attempt = following
        say(min(1.0, 1 - left / time_s), attempt.title)
        _train(used, candidate, attempt, steps, left if best is not None else FIRST_SHARE * left)
        if best is None or attempt.rank > best.rank:
            best = attempt
            blocked = () if attempt.fraction >= FITTED else _blocked(used, candidate)
    assert best is not None
    return _told(blank, best, chosen, blocked)


def _attempts(trainer: Trainer, setup: Setup) -> Iterator[tuple[Trainer, Setup, _Attempt]]:
    """The setup's own rate, ten times more, ten times less; Adam, where another optimizer was used; other initial weights."""
    own = setup.learning_rate
    first = _Attempt(
        own or 0.0, "the model's own learning-rate schedule" if own is None else f"its own learning rate {own:g}"
    )
    yield trainer, setup, first
    tried = [(trainer, setup, first)]
    if own is not None:
        for factor in (0.1, 0.01, 10.0) if first.diverged else (10.0, 0.1):
            tried.append(
                (trainer, _at(setup, own * factor), _Attempt(own * factor, f"a learning rate of {own * factor:g}"))
            )
            yield tried[-1]
    other = _with_adam(setup)
    if other is not None:
        for rate in (1e-3, 1e-2):
            changed = _at(setup, rate, "Adam")
            tried.append((other, changed, _Attempt(rate, f"Adam at a learning rate of {rate:g}")))
            yield tried[-1]
    used, candidate, best = max(tried, key=lambda item: item[2].rank)
    for seed in NEW_SEEDS:
        yield used, candidate, _Attempt(best.rate, f"{best.title} and other initial weights", seed)


def _with_adam(setup: Setup) -> Trainer | None:
    """A trainer with Adam for a model that uses another optimizer."""
    if str(setup.optimizer.get("class_name", "")).lower() == "adam":
        return None
    changed = _at(setup, 1e-3, "Adam")
    try:
        trainer = Trainer(changed)
        trainer.warm_up(changed)
    except (FitCrash, CannotRun):
        return None
    return trainer


def _at(setup: Setup, rate: float, optimizer: str = "") -> Setup:
    if optimizer:
        return setup.with_changes(optimizer={"class_name": optimizer, "config": {"learning_rate": rate}})
    config = {**dict(setup.optimizer.get("config") or {}), "learning_rate": rate}
    return setup.with_changes(optimizer={**setup.optimizer, "config": config})


def _train(trainer: Trainer, setup: Setup, attempt: _Attempt, steps: int, time_s: float) -> None:
    """Runs chunk by chunk until everything is fitted, nothing moves any more, or time or steps are over."""
    deadline = time.perf_counter() + time_s
    state: RunState | None = None
    done, looks, stalls, best = 0, 0, 0, math.inf
    while done < steps and (done == 0 or time.perf_counter() < deadline):
        chunk = int(max(1, min(CHUNKS[min(looks, len(CHUNKS) - 1)], _CHUNK_S / max(trainer.step_s, 1e-6))))
        looks += 1
        done = min(steps, done + chunk)
        try:
            attempt.curve = trainer.run(
                setup,
                attempt.seed,
                time_s=max(0.05, deadline - time.perf_counter()),
                max_steps=done,
                resume=state,
                scores_between=False,
            )
        except FitCrash as crash:
            attempt.problem = str(crash)
            return
        done = max(1, attempt.curve.steps_done)
        attempt.losses = list(attempt.curve.loss)
        attempt.fraction, attempt.settled = _right(trainer, setup)
        loss = attempt.curve.loss[-1]
        if not math.isfinite(loss) or attempt.fraction >= FITTED:
            return
        stalls = 0 if loss < STALLED * best else stalls + 1
        best = min(best, loss)
        if stalls >= STALLS and done >= sum(CHUNKS):
            attempt.stalled = True
            return
        state = trainer.state()


def _right(trainer: Trainer, setup: Setup) -> tuple[float, bool]:
    """Returns (share of the samples it gets right, whether inference mode does so too).

    With batch normalisation only training mode has seen these rows' statistics; the moving ones take hundreds of steps.
    """
    feed = [as_fed(array) for array in setup.x.values()]
    found = fitted_fraction(setup, _predicted(trainer, setup, feed, training=False))
    if found < FITTED and _has_batch_statistics(trainer.model):
        training = fitted_fraction(setup, _predicted(trainer, setup, feed, training=True))
        if training > found:
            return training, False
    return found, True


def _predicted(trainer: Trainer, setup: Setup, feed: list[Any], *, training: bool) -> list[Any]:
    return [np.asarray(output) for output in call(trainer.model, setup.modern, feed, training=training)]


def _has_batch_statistics(model: Any) -> bool:
    flatten = getattr(model, "_flatten_layers", None)
    return flatten is not None and any(type(layer).__name__ == "BatchNormalization" for layer in flatten())


def _blocked(trainer: Trainer, setup: Setup) -> tuple[BlockedLayer, ...]:
    try:
        return blocked_layers(trainer.model, setup.modern, list(setup.x.values()), setup.y, trainer.losses)
    except Exception as error:  # noqa: BLE001 - what a model does when called eagerly must not cost the verdict
        let_through(error)
        return ()


def _told(blank: OverfitEvidence, best: _Attempt, setup: Setup, blocked: tuple[BlockedLayer, ...]) -> OverfitEvidence:
    if best.curve is None:
        return replace(blank, reason=best.problem)
    floor, first = blank.floor, best.losses[0]
    guess = guessing_fraction(setup)
    numbers = guess == 0.0
    fallen = (first - best.final) / (first - floor) if math.isfinite(best.final) and first > floor else 0.0
    if best.fraction >= FITTED:
        verdict = "fits"
    elif best.diverged:
        verdict = "diverges"
    elif best.fraction >= guess + 0.5 * (1.0 - guess) or (numbers and fallen >= (0.9 if best.stalled else 0.3)):
        verdict = "partly"
    else:
        verdict = "cannot"
    own = blank.own_learning_rate
    return replace(
        blank,
        steps=best.curve.steps_done,
        loss=best.curve.loss,
        loss_steps=best.curve.steps,
        initial_loss=first,
        final_loss=best.final,
        fitted_fraction=best.fraction,
        verdict=verdict,
        blocked=() if verdict == "fits" else blocked,
        reason=_sentence(verdict, best, setup.rows, own, blocked),
        learning_rate=best.rate,
    )


def _sentence(verdict: str, best: _Attempt, samples: int, own: float | None, blocked: tuple[BlockedLayer, ...]) -> str:
    right = round(best.fraction * samples)
    same = best.rate == 0.0 or (own is not None and math.isclose(best.rate, own))
    text = f"{right} of {samples} samples are right after {best.curve.steps_done if best.curve else 0} steps"
    if not same or best.seed:
        text += f" with {best.title}"
        if verdict == "fits" and own is not None:
            text += f"; with its own rate {own:g} {'and first weights ' if best.seed else ''}they are not"
    if not best.settled:
        text += (
            ", in training mode; in inference mode fewer are, because BatchNormalization's moving averages lag behind"
        )
    if verdict == "diverges":
        text = f"The loss grows or is not finite with every learning rate tried, {best.rate:g} last"
    if verdict in ("partly", "cannot") and not best.stalled:
        text += ", while the loss is still falling"
    blocking = None if verdict == "fits" else blocking_layer(blocked)
    if blocking is not None:
        text += f". {blocking.path}: {blocking.reason}"
    return text + "."
