"""The kinds of evidence, and the set that holds what one diagnosis has gathered so far."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from stethoscope.data.study.profiles import DataEvidence, Unprepared
from stethoscope.evidence.fit import FitSettings
from stethoscope.evidence.heads import Head, heads_of
from stethoscope.evidence.model import (
    ActivationEvidence,
    BehaviourEvidence,
    Connections,
    WeightEvidence,
    connections_of,
)
from stethoscope.evidence.training import RunsEvidence, TrainingEvidence
from stethoscope.evidence.trials import BaselineEvidence, OverfitEvidence
from stethoscope.logs.curves import CurveEvidence
from stethoscope.types import Architecture


class Evidence(enum.StrEnum):
    """Kinds of evidence, in rising order of cost. The value is the field's name in `EvidenceSet`."""

    ARCHITECTURE = "architecture"
    FIT = "fit"
    DATA = "data"
    RAW = "raw"
    LOGS = "logs"
    RUNS = "runs"
    WEIGHTS = "weights"
    ACTIVATIONS = "activations"
    BEHAVIOUR = "behaviour"
    BASELINE = "baseline"
    OVERFIT = "overfit"
    TRAINING = "training"


@dataclass(frozen=True)
class EvidenceSet:
    """Everything known about one model. A field is None until it has been gathered, or when it cannot be."""

    architecture: Architecture | None = None
    fit: FitSettings | None = None
    """How the user says it was trained. None when nothing was said."""
    data: DataEvidence | None = None
    raw: tuple[Unprepared, ...] | None = None
    """Texts or pictures as they are, where the model takes numbers of one shape."""
    logs: CurveEvidence | None = None
    runs: RunsEvidence | None = None
    """All runs of a log beside each other; only where a log is judged by itself."""
    weights: WeightEvidence | None = None
    activations: ActivationEvidence | None = None
    behaviour: BehaviourEvidence | None = None
    baseline: BaselineEvidence | None = None
    overfit: OverfitEvidence | None = None
    training: TrainingEvidence | None = None
    missing: Mapping[Evidence, str] = field(default_factory=dict)
    """Why a kind of evidence is not there: one sentence each."""

    def has(self, kind: Evidence) -> bool:
        """Whether this kind has been gathered."""
        return getattr(self, kind.value) is not None

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """Each output of the model with its last activation, its loss, and its target: what the contract checks read."""
        return heads_of(self.architecture, self.fit, self.data)

    @cached_property
    def connections(self) -> Connections:
        """The layers as a graph."""
        return connections_of(self.architecture)

    @cached_property
    def curves(self) -> tuple[CurveEvidence, ...]:
        """Training curves to read: those of the logs when there are logs, else those of the short run."""
        if self.logs is not None:
            return (self.logs,)
        return () if self.training is None else self.training.curves
