"""Trains one model on one device and on several logical CPU devices, and takes the suspects away one by one. Worker only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stethoscope.framework_errors import explain, gist
from stethoscope.program.setup import Setup
from stethoscope.training.model import Weights, build, package
from stethoscope.training.placement import config_changes
from stethoscope.training.placement.config_changes import NOISE_FACTOR, ROUNDING, Curve, Suspect, distance, explained
from stethoscope.training.placement.live_program import LiveProgram


@dataclass(frozen=True)
class Way:
    """How both trainings are run: what suspects change."""

    setup: Setup
    batch_size: int
    """Of one device."""
    global_batch_size: int
    rows: int


class ReplicaTrial:
    """Runs of one program on one and on several devices.

    Args:
        program: the training.
        devices: how many logical devices there are.
        epochs: of each run.
        per_replica: whether each replica keeps the batch size, so that the batch of all is larger.
        more_time: whether another run may begin.
        say: told what is under way.
    """

    def __init__(
        self,
        program: LiveProgram,
        devices: int,
        epochs: int,
        *,
        per_replica: bool,
        more_time: Callable[[], bool],
        say: Callable[[str], None],
    ) -> None:
        self._program, self.devices, self._epochs = program, devices, epochs
        self._more_time, self._say = more_time, say
        size = program.batch_size
        self.start = Way(program.setup, size, size * devices if per_replica else size, program.rows)
        self.curves: list[Curve] = []
        self._tolerance = ROUNDING
        self._keras = package(program.setup.modern)
        if not program.setup.from_file:
            self._keras.utils.set_random_seed(0)
            model = build(program.setup)
            Weights(model, program.setup).start(program.setup, 0)
            program.weights = [np.array(item) for item in model.get_weights()]

    def one(self, curve_id: str, title: str, way: Way, *, batch_size: int | None = None, again: int = 0) -> Curve:
        """A run on one device; `again` > 0: the rows of each batch in another order, other random numbers."""
        size = batch_size or way.batch_size
        order = _reordered(way.rows, size, again) if again else None
        return self._run(Curve(curve_id, title, 1, size, way.rows), way, order)

    def several(self, curve_id: str, title: str, way: Way, *, rate_factor: float = 1.0) -> Curve:
        """A run on all devices."""
        return self._run(Curve(curve_id, title, self.devices, way.global_batch_size, way.rows, rate_factor), way, None)

    def suspects(self, one: Curve, gap: float, tolerance: float) -> Iterator[Suspect]:
        """Takes away what may make a difference, one thing after the other, until the curves agree.

        Randomness goes first: what it changes would hide everything else.
        """
        way, reference, before = self.start, one, gap
        self._tolerance = tolerance
        for take in (self._random_layers, self._batch_size, self._batch_normalisation, self._reduction):
            found = take(way, reference, before)
            if found is None:
                continue
            suspects, way, reference = found
            yield from suspects
            before = suspects[0].gap_after if suspects[0].gap_after is not None else before
            if before <= self._tolerance:
                return

    def _batch_size(self, way: Way, reference: Curve, before: float) -> tuple[list[Suspect], Way, Curve] | None:
        if way.global_batch_size == way.batch_size:
            return None
        larger = self.one("one-large-batch", "One device, the larger batch", way, batch_size=way.global_batch_size)
        several = self._known("several-still" if way.setup is not self.start.setup else "several")
        after = self._gap(larger, several)
        share = explained(before, after, self._tolerance)
        times = f"{way.global_batch_size // way.batch_size} times the batch"
        message = (
            f"{times} takes as many times fewer steps per epoch: one device with {way.global_batch_size:,} rows per batch "
            f"is {_apart(after)} from the replicas."
        )
        found = [
            Suspect(
                "batch-size",
                f"The batch is {times}",
                before,
                after,
                share,
                message.capitalize(),
                config_changes.batch_size(way.batch_size, self.devices),
            )
        ]
        if way.setup.learning_rate is not None:
            scaled = self.several(
                "several-scaled-rate",
                f"{self.devices} devices, rate × {self.devices}",
                way,
                rate_factor=float(self.devices),
            )
            with_rate = self._gap(reference, scaled)
            told = (
                f"With {self.devices} times the learning rate the replicas are {_apart(with_rate)} from one device "
                f"(without: {_apart(before)})."
            )
            found.append(
                Suspect(
                    "learning-rate",
                    "The learning rate was not scaled with the batch",
                    before,
                    with_rate,
                    explained(before, with_rate, self._tolerance),
                    told,
                    config_changes.learning_rate(self.devices, way.setup.learning_rate),
                )
            )
        return found, replace(way, batch_size=way.global_batch_size), larger

    def _batch_normalisation(
        self, way: Way, reference: Curve, before: float
    ) -> tuple[list[Suspect], Way, Curve] | None:
        layers = config_changes.unsynchronised(way.setup.config)
        if not layers or way.setup.config is None:
            return None
        way = replace(way, setup=way.setup.with_changes(config=config_changes.synchronised(way.setup.config)))
        after = self._gap(reference, self.several("several-synchronised", "Statistics over all replicas", way))
        message = (
            f"Batch normalisation ({_listed(layers)}) takes its statistics from the {way.global_batch_size // self.devices:,} "
            f"rows of one replica; synchronised over all, the curves are {_apart(after)} from each other."
        )
        share = explained(before, after, self._tolerance)
        title = "Batch normalisation is not synchronised"
        found = Suspect(
            "batch-normalisation", title, before, after, share, message, config_changes.BATCH_NORMALISATION_CODE
        )
        return [found], way, reference

    def _reduction(self, way: Way, reference: Curve, before: float) -> tuple[list[Suspect], Way, Curve] | None:
        size = max(self.devices, way.global_batch_size // self.devices * self.devices)
        rows = way.rows // size * size
        if rows == 0 or (rows == way.rows and size == way.global_batch_size):
            return None
        last = way.rows % way.global_batch_size or way.global_batch_size
        way = replace(way, batch_size=size, global_batch_size=size, rows=rows)
        even = self.one("one-even", "One device, equal parts", way)
        after = self._gap(even, self.several("several-even", f"{self.devices} devices, equal parts", way))
        message = (
            f"A batch of {last:,} rows does not divide equally among {self.devices} replicas, and the mean of their means is "
            f"not the mean of the rows; with equal parts the curves are {_apart(after)} from each other."
        )
        share = explained(before, after, self._tolerance)
        title = "The loss is reduced over unequal parts"
        return [Suspect("reduction", title, before, after, share, message, config_changes.REDUCTION)], way, even

    def _random_layers(self, way: Way, reference: Curve, before: float) -> tuple[list[Suspect], Way, Curve] | None:
        layers = config_changes.random_layers(way.setup.config)
        if not layers or way.setup.config is None:
            return None
        way = replace(way, setup=way.setup.with_changes(config=config_changes.without_randomness(way.setup.config)))
        still = self.one("one-still", "One device, nothing random", way)
        again = self.one("one-still-again", "The same, rows of a batch in another order", way, again=1)
        self._tolerance = max(ROUNDING, NOISE_FACTOR * (self._gap(still, again) or 0.0))
        after = self._gap(still, self.several("several-still", f"{self.devices} devices, nothing random", way))
        message = (
            f"Each replica draws random numbers of its own ({_listed(layers)}); with nothing random the curves are "
            f"{_apart(after)} from each other."
        )
        share = explained(before, after, self._tolerance)
        found = Suspect(
            "random-layers", "Replicas draw other random numbers", before, after, share, message, config_changes.RANDOM
        )
        return [found], way, still

    def _gap(self, first: Curve, second: Curve) -> float | None:
        return distance(first.losses, second.losses) if first.losses and second.losses else None

    def _known(self, curve_id: str) -> Curve:
        return next(curve for curve in self.curves if curve.id == curve_id)

    def _run(self, curve: Curve, way: Way, order: Any) -> Curve:
        start = time.monotonic()
        if not self._more_time():
            found = replace(curve, reason="The time was up.")
        else:
            self._say(curve.title)
            try:
                found = replace(curve, losses=tuple(self._losses(curve, way, order)))
            except Exception as error:
                if explain(error) is not None:
                    raise
                found = replace(curve, reason=f"{gist(error)}.")
        found = replace(found, wall_s=round(time.monotonic() - start, 3))
        self.curves.append(found)
        return found

    def _losses(self, curve: Curve, way: Way, order: Any) -> list[float]:
        import tensorflow as tf

        self._keras.utils.set_random_seed(0 if order is None else 1 + curve.batch_size + len(self.curves))
        options: dict[str, Any] = {"jit_compile": False, "rate_factor": curve.learning_rate_factor, "setup": way.setup}
        if curve.devices == 1:
            model = self._program.model(**options)
        else:
            # Collective reduction keeps its groups for the life of the process: a second model would clash with the first.
            strategy = tf.distribute.MirroredStrategy(
                [f"/CPU:{number}" for number in range(self.devices)],
                cross_device_ops=tf.distribute.ReductionToOneDevice(),
            )
            with strategy.scope():
                model = self._program.model(**options)
        return self._program.fit(model, epochs=self._epochs, batch_size=curve.batch_size, rows=way.rows, order=order)


def _reordered(rows: int, size: int, seed: int) -> Any:
    """The same batches with their rows in another order."""
    random = np.random.default_rng(seed)
    parts = [np.arange(start, min(rows, start + size)) for start in range(0, rows, size)]
    return np.concatenate([random.permutation(part) for part in parts])


def _apart(gap: float | None) -> str:
    if gap is None:
        return "not known to be how far"
    return f"{100 * gap:.2g} %" if np.isfinite(gap) else "beyond any bound"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
