"""Every kind of fix: prints code that parses, survives JSON, changes a copy and leaves the original alone."""

from __future__ import annotations

import ast
import copy
import importlib
import json

import numpy as np
import pytest

from stethoscope.checks.fixes import Fix, all_fixes, fix_from_json
from stethoscope.checks.fixes.add_regularisation import AddRegularisation
from stethoscope.checks.fixes.advice import Advice
from stethoscope.checks.fixes.combined import Combined
from stethoscope.checks.fixes.compile_settings import (
    ClipGradients,
    ReplaceLoss,
    ReplaceOptimizer,
    SetLearningRate,
    SetMetrics,
)
from stethoscope.checks.fixes.fill_missing import FillMissing
from stethoscope.checks.fixes.fit_settings import EarlyStopping, SetBatchSize, SetEpochs, SetShuffle
from stethoscope.checks.fixes.layer_order import AddFlatten, AddHiddenLayer, AddNormalisation, MoveDropout, RemoveLayer
from stethoscope.checks.fixes.layer_settings import (
    RemoveBias,
    SetDropoutRate,
    SetInitialiser,
    SetInputShape,
    SetPadding,
    SetVocabulary,
    Unfreeze,
)
from stethoscope.checks.fixes.output_layers import ReplaceActivation, ReplaceHead, SetOutputBias
from stethoscope.checks.fixes.remove_duplicates import RemoveDuplicates
from stethoscope.checks.fixes.rows import DropFeatures, DropRows, ShuffleBeforeSplit
from stethoscope.checks.fixes.scale_targets import ScaleTargets
from stethoscope.checks.fixes.scaling import ScaleInputs
from stethoscope.checks.fixes.targets import ClassWeights, EncodeLabels, ReshapeTargets
from stethoscope.errors import CannotRun, StethoscopeError
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import dense, entry, setup

_IMAGES = (
    entry("Conv2D", "conv", filters=4, kernel_size=[3, 3], padding="valid", activation="relu"),
    entry("Embedding", "tokens", input_dim=10, output_dim=4),
    dense("out", 3, "softmax", trainable=False),
)


def _gaps() -> Setup:
    base = setup()
    x = base.x["rows"].copy()
    x[0, 0] = np.nan
    x[1] = x[2]
    y = base.y[0].copy()
    y[1] = y[2]
    return base.with_changes(x={"rows": x}, y=(y,))


EXAMPLES: list[tuple[Fix, Setup]] = [
    (ReplaceActivation("out", "sigmoid", was="softmax", layer_type="Dense", units=3), setup()),
    (ReplaceActivation("hidden", "elu", layer_type="Conv2D"), setup()),
    (ReplaceLoss("categorical_crossentropy", from_logits=True, was="mse"), setup()),
    (ReplaceHead("out", 1, "sigmoid", "binary_crossentropy", was="softmax"), setup(y=(np.arange(8) % 2,), y_val=())),
    (ReplaceOptimizer("adam", 0.001, was="SGD"), setup()),
    (SetLearningRate(0.001, was=0.5), setup()),
    (SetLearningRate(1e-5, was=0.5, optimizer="sgd"), setup()),
    (SetEpochs(50, was=3), setup()),
    (SetBatchSize(32, was=4), setup()),
    (ScaleInputs("rows", was_minimum=-3.0, was_maximum=255.0), setup()),
    (ScaleInputs(method="minmax"), setup()),
    (ScaleInputs(method="divide", divisor=255.0), setup()),
    (ScaleTargets("out", method="minmax"), setup()),
    (ScaleTargets(), setup()),
    (EncodeLabels(encoding="one-hot", classes=3, loss="categorical_crossentropy"), setup()),
    (EncodeLabels(encoding="integer"), setup(y=(np.eye(3)[np.arange(8) % 3],), y_val=(np.eye(3)[[0, 1, 2, 0]],))),
    (EncodeLabels(encoding="zero-one"), setup(y=(np.arange(8) % 2 * 2 - 1,), y_val=(np.array([1, -1, 1, -1]),))),
    (EncodeLabels(encoding="zero-based"), setup(y=(np.arange(8) % 3 + 1,), y_val=(np.array([1, 2, 3, 1]),))),
    (EncodeLabels(encoding="unscale", factor=255.0), setup(y=(np.arange(8) % 3 / 255,), y_val=(np.arange(4) / 255,))),
    (ReshapeTargets("out", (1,)), setup()),
    (ReshapeTargets(), setup(y=(np.zeros((8, 1)),), y_val=(np.zeros((4, 1)),))),
    (ShuffleBeforeSplit(0.25), setup()),
    (SetShuffle(), setup(shuffle=False)),
    (SetInitialiser(("hidden",), kernel="he_normal"), setup()),
    (SetOutputBias("out", (0.5, -0.25, 1.0)), setup()),
    (Unfreeze(("out",)), setup(*_IMAGES)),
    (RemoveLayer("drop", why="it drops all"), setup()),
    (AddFlatten("out"), setup()),
    (SetInputShape("rows", (5,), was=(4,)), setup()),
    (SetPadding(("conv",)), setup(*_IMAGES)),
    (SetDropoutRate(("drop",), 0.2, was=0.5), setup()),
    (MoveDropout("drop", before="hidden", rate=0.5), setup()),
    (RemoveBias(("hidden",)), setup()),
    (SetMetrics(("accuracy",), was=("mae",)), setup()),
    (DropRows(), _gaps()),
    (FillMissing(), _gaps()),
    (DropFeatures((1, 3)), setup()),
    (ClassWeights((1.0, 2.0, 0.5)), setup()),
    (ClipGradients(), setup()),
    (ClipGradients(0.5, optimizer="SGD", learning_rate=0.1), setup()),
    (AddNormalisation(), setup()),
    (AddNormalisation("hidden", method="layer"), setup()),
    (AddHiddenLayer("out", 16, "relu"), setup()),
    (SetVocabulary("tokens", 50, was=10), setup(*_IMAGES)),
    (SetVocabulary("tokens", 50, output_dim=4), setup(*_IMAGES)),
    (EarlyStopping(5, epochs=2), setup()),
    (AddRegularisation(method="dropout", rate=0.3), setup()),
    (AddRegularisation(method="l2", rate=0.01), setup()),
    (RemoveDuplicates(), _gaps()),
    (Combined((Combined((SetEpochs(9),)), ReplaceActivation("out", "sigmoid"), Advice("Look at it."))), setup()),
    (Advice("Give the model\nmore data.", "x = load()"), setup()),
]


def test_every_kind_has_an_example() -> None:
    assert {fix.kind for fix, _ in EXAMPLES} == set(all_fixes())
    for name, kind in all_fixes().items():
        module = importlib.import_module(kind.__module__)
        assert kind in getattr(module, "FIXES", ()) or module.FIX is kind
        assert kind.__name__ == "".join(word.capitalize() for word in name.split("-"))


@pytest.mark.parametrize(("fix", "_"), EXAMPLES, ids=lambda item: item.kind if isinstance(item, Fix) else "")
def test_prints_and_survives_json(fix: Fix, _: Setup) -> None:
    assert fix.summary
    assert "\n" not in fix.summary
    assert ast.parse(fix.code()).body or fix.code().startswith("#")
    assert "…" not in fix.code()
    assert fix_from_json(json.loads(json.dumps(fix.to_json()))) == fix


@pytest.mark.parametrize(("fix", "base"), EXAMPLES, ids=lambda item: item.kind if isinstance(item, Fix) else "")
def test_changes_a_copy(fix: Fix, base: Setup) -> None:
    before = copy.deepcopy(base)
    if not fix.provable:
        with pytest.raises(CannotRun):
            fix.apply(base)
        return
    changed = fix.apply(base)
    assert not _same(changed, base), "nothing was changed"
    assert _same(base, before), "the original was changed"


@pytest.mark.parametrize(
    "fix",
    [
        ReplaceActivation("out", "sigmoid"),
        RemoveLayer("drop"),
        AddFlatten("out"),
        SetInitialiser(("hidden",)),
        Unfreeze(("out",)),
    ],
    ids=lambda fix: fix.kind,
)
def test_a_model_defined_by_its_own_class_says_why_not(fix: Fix) -> None:
    with pytest.raises(CannotRun, match="its own class"):
        fix.apply(setup(config=None))


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "no-such"},
        {"kind": "set-epochs", "params": {"epochs": "many"}},
        {"kind": "combined", "params": {"fixes": "all"}},
        {"kind": "combined", "params": {"fixes": [{"kind": "no-such"}]}},
    ],
)
def test_foreign_json_is_refused(value: dict[str, object]) -> None:
    with pytest.raises(StethoscopeError):
        fix_from_json(value)


def _same(first: Setup, second: Setup) -> bool:
    def plain(item: Setup) -> str:
        parts = {key: value for key, value in vars(item).items() if key != "live"}
        return repr({key: _spelled(value) for key, value in parts.items()})

    return plain(first) == plain(second)


def _spelled(value: object) -> object:
    if isinstance(value, np.ndarray):
        return (value.shape, str(value.dtype), value.tobytes())
    if isinstance(value, dict):
        return {key: _spelled(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_spelled(item) for item in value)
    return value
