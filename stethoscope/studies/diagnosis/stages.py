"""The stages of a diagnosis: which job gathers which evidence, when it applies, and what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from stethoscope.data.study.profiles import DataEvidence
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.training import TrainingEvidence
from stethoscope.evidence.trials import BaselineEvidence, NetworkScore, with_network
from stethoscope.logs.curves import CurveEvidence
from stethoscope.models.formats import format_of
from stethoscope.models.model_format import ONLY_ALLOWED, code_inside
from stethoscope.studies.diagnosis.report import Request
from stethoscope.tasks.describe import Description, with_skeleton
from stethoscope.tasks.examine import Examination
from stethoscope.tasks.overfit import OverfitTest
from stethoscope.types import Architecture

if TYPE_CHECKING:
    from stethoscope.compare.consistency.report import ConsistencyReport

_NO_DATA = "No data was given. Add --data with samples and their labels."
_NO_FIT = (
    "Nothing was said about training. Add --fit, for example --fit epochs=5, to have a copy trained for a few seconds."
)


@dataclass(frozen=True)
class Stage:
    """One job of a diagnosis."""

    id: str
    title: str
    kind: str
    gives: tuple[Evidence, ...]
    skip: Callable[[Request, EvidenceSet], str]
    """Returns why it does not apply, "" when it does; asked when everything in `after` has ended."""
    absorb: Callable[[EvidenceSet, Any], EvidenceSet]
    """Adds what its kind of job answers, as that type."""
    params: Callable[[Request, EvidenceSet], dict[str, Any]]
    files: tuple[str, ...] = ("model",)
    after: tuple[str, ...] = ("describe",)
    runs_model: bool = False
    """Whether it needs the kind of worker that opens the model's format; else a light one."""
    timeout_s: float = 120.0
    order: int = 0
    """Among stages that could start, the lower goes first."""
    extra_s: Callable[[Request], float] = field(default=lambda request: 0.0)


def _always(_request: Request, _evidence: EvidenceSet) -> str:
    return ""


def _plain_params(request: Request, _evidence: EvidenceSet) -> dict[str, Any]:
    return {"trusted": request.trusted}


def _describe_params(request: Request, _evidence: EvidenceSet) -> dict[str, Any]:
    """As the pages ask for it, so that a model whose page was opened is not read again."""
    return with_skeleton(request.model) if request.entry_id else {}


def _needs_data(request: Request, _evidence: EvidenceSet) -> str:
    return "" if request.data is not None else _NO_DATA


def _needs_logs(request: Request, _evidence: EvidenceSet) -> str:
    return "" if request.logs is not None else "No logs were given. Add --logs with a folder of event files or a CSV."


def _needs_running(request: Request, evidence: EvidenceSet) -> str:
    assert evidence.architecture is not None
    if evidence.architecture.runnable:
        return evidence.architecture.runnable
    if evidence.architecture.hazards and not request.trusted:
        return f"{code_inside(evidence.architecture.hazards)} {ONLY_ALLOWED}"
    return ""


def _needs_training(request: Request, evidence: EvidenceSet) -> str:
    assert evidence.architecture is not None
    reason = _needs_running(request, evidence)
    if reason:
        return reason
    if not trainable(evidence.architecture):
        return "Only Keras models (.keras, .h5) can be trained; this format holds a finished computation."
    if request.data is None:
        return _NO_DATA
    if request.fit is None:
        return _NO_FIT
    if evidence.data is not None and not evidence.data.targets:
        return "The data holds no targets. Add an array y (or one per output by name)."
    return ""


def _needs_targets(request: Request, evidence: EvidenceSet) -> str:
    if request.data is None:
        return _NO_DATA
    if request.fit is None:
        return _NO_FIT
    if evidence.data is None:
        return evidence.missing.get(Evidence.DATA, "The data could not be read.")
    return "" if evidence.data.targets else "The data holds no targets. Add an array y (or one per output by name)."


def _needs_scoring(request: Request, evidence: EvidenceSet) -> str:
    reason = _needs_training(request, evidence)
    if reason or evidence.baseline is not None:
        return reason
    return evidence.missing.get(Evidence.BASELINE, "There is no baseline to compare with.")


def trainable(architecture: Architecture) -> bool:
    """Whether a copy of this model can be trained here."""
    return format_of(architecture).live


def _fit_params(request: Request, _evidence: EvidenceSet) -> dict[str, Any]:
    fit = {} if request.fit is None else request.fit.to_json()
    return {"trusted": request.trusted, "fit": fit, "time_s": request.train_s}


def _beside_s(request: Request) -> float:
    """Seconds for each stage that trains something beside the short training run: 8, and more where that may take long."""
    return max(min(8.0, request.train_s), 0.8 * request.train_s)


def _baseline_params(request: Request, evidence: EvidenceSet) -> dict[str, Any]:
    return _fit_params(request, evidence) | {"time_s": _beside_s(request)}


def _score_params(request: Request, evidence: EvidenceSet) -> dict[str, Any]:
    assert evidence.baseline is not None
    return _fit_params(request, evidence) | {
        "time_s": _beside_s(request),
        "test_index": list(evidence.baseline.test_index),
    }


def _second_params(request: Request, evidence: EvidenceSet) -> dict[str, Any]:
    assert request.second is not None
    return _score_params(request, evidence) | {"name": request.second.name}


def _needs_second(request: Request, evidence: EvidenceSet) -> str:
    return "No second model was given." if request.second is None else _needs_scoring(request, evidence)


def _consistency_params(request: Request, _evidence: EvidenceSet) -> dict[str, Any]:
    return {"runs": 3, "batch_size": 8, "seed": 0, "atol": 1e-5, "trusted": request.trusted}


def _with_architecture(evidence: EvidenceSet, answer: Description) -> EvidenceSet:
    return replace(evidence, architecture=answer.architecture)


def _with_data(evidence: EvidenceSet, answer: DataEvidence) -> EvidenceSet:
    # Rows that cannot be made arrays of have no profile.
    data = answer if answer.inputs or answer.targets or answer.others else None
    return replace(evidence, data=data, raw=answer.raw or None)


def _with_logs(evidence: EvidenceSet, answer: CurveEvidence) -> EvidenceSet:
    return replace(evidence, logs=answer)


def _with_examination(evidence: EvidenceSet, answer: Examination) -> EvidenceSet:
    missing = {kind: answer.problems[kind.value] for kind in Evidence if answer.problems.get(kind.value)}
    return replace(
        evidence, weights=answer.weights, activations=answer.activations, missing={**evidence.missing, **missing}
    )


def _with_behaviour(evidence: EvidenceSet, answer: ConsistencyReport) -> EvidenceSet:
    from stethoscope.compare.consistency.report import behaviour_from

    return replace(evidence, behaviour=behaviour_from(answer))


def _with_training(evidence: EvidenceSet, answer: TrainingEvidence) -> EvidenceSet:
    return replace(evidence, training=answer)


def _with_overfit(evidence: EvidenceSet, answer: OverfitTest) -> EvidenceSet:
    return replace(evidence, overfit=answer.overfit)


def _with_baseline(evidence: EvidenceSet, answer: BaselineEvidence) -> EvidenceSet:
    return replace(evidence, baseline=answer)


def _with_scores(evidence: EvidenceSet, answer: NetworkScore) -> EvidenceSet:
    if evidence.baseline is None:
        return evidence
    return replace(evidence, baseline=with_network(evidence.baseline, answer))


STAGES: tuple[Stage, ...] = (
    Stage(
        "describe",
        "Reading the model",
        "describe",
        (Evidence.ARCHITECTURE,),
        _always,
        _with_architecture,
        _describe_params,
        after=(),
    ),
    Stage(
        "profile",
        "Profiling the data",
        "profile",
        (Evidence.DATA, Evidence.RAW),
        _needs_data,
        _with_data,
        _plain_params,
        files=("model", "data"),
    ),
    Stage(
        "logs",
        "Reading the logs",
        "read_logs",
        (Evidence.LOGS,),
        _needs_logs,
        _with_logs,
        _plain_params,
        files=("logs",),
    ),
    Stage(
        "examine",
        "Weights and activations",
        "examine",
        (Evidence.WEIGHTS, Evidence.ACTIVATIONS),
        _needs_running,
        _with_examination,
        _plain_params,
        files=("model", "data"),
        runs_model=True,
    ),
    Stage(
        "train",
        "A short training run and what-if runs",
        "train",
        (Evidence.TRAINING,),
        _needs_training,
        _with_training,
        _fit_params,
        files=("model", "data"),
        after=("describe", "profile"),
        runs_model=True,
        timeout_s=60,
        extra_s=lambda request: 3 * request.train_s,
    ),
    Stage(
        "consistency",
        "Consistency and edge cases",
        "consistency",
        (Evidence.BEHAVIOUR,),
        _needs_running,
        _with_behaviour,
        _consistency_params,
        files=("model", "data"),
        after=("describe", "profile"),
        runs_model=True,
        order=1,
    ),
    Stage(
        "baseline",
        "Simple models on the same data",
        "baseline",
        (Evidence.BASELINE,),
        _needs_targets,
        _with_baseline,
        _baseline_params,
        files=("model", "data"),
        after=("describe", "profile"),
        order=2,
        extra_s=_beside_s,
    ),
    Stage(
        "overfit",
        "Overfitting a few samples",
        "overfit",
        (Evidence.OVERFIT,),
        _needs_training,
        _with_overfit,
        lambda request, evidence: _fit_params(request, evidence) | {"time_s": _beside_s(request)},
        files=("model", "data"),
        after=("describe", "profile"),
        runs_model=True,
        order=2,
        extra_s=_beside_s,
    ),
    Stage(
        "score",
        "This network beside the simple models",
        "score",
        (),
        _needs_scoring,
        _with_scores,
        _score_params,
        files=("model", "data"),
        after=("describe", "profile", "baseline"),
        runs_model=True,
        order=3,
        extra_s=_beside_s,
    ),
    Stage(
        "second",
        "The second model beside them",
        "score",
        (),
        _needs_second,
        _with_scores,
        _second_params,
        files=("second", "data"),
        after=("describe", "profile", "baseline"),
        runs_model=True,
        order=4,
        extra_s=_beside_s,
    ),
)
"""In the order in which they are shown."""
